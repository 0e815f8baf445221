// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/grad/detail/adjoints.hpp>
#include <tessera/movement/concatenate.hpp>
#include <tessera/movement/reshape.hpp>
#include <tessera/movement/roll.hpp>
#include <tessera/redistribute/convert.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/clone.hpp>
#include <tessera/tensor/permute.hpp>
#include <tessera/tensor/slice.hpp>

// Functions that give the elements of a variable another shape, order or type. They compute as
// those of the same names do on tensors, and are recorded. Results, what is collective, and errors
// are the same.
//
// Permuted and sliced variables share the memory of the variable, as such tensors do.
namespace tessera {

namespace detail {

/// Returns the order of dims that undoes permute() by `order`. Errors: InvalidArgument unless that
/// names each dim once.
std::vector<int> inverse_order(const std::vector<int>& order, int tensor_dims);
/// Returns the shift that undoes roll() by `shift` along a dim of this extent.
std::int64_t opposite_shift(std::int64_t shift, std::int64_t extent);
/// Returns `range` for tensor dim `tensor_dim`, and the whole dim for others.
Range range_along(const Extents& shape, std::size_t dim, int tensor_dim, const Range& range);

/// Records y, a linear function of a variable whose adjoint needs no elements. adjoint(form, dy)
/// returns the gradient with respect to the variable, which has this form.
template <class T, class Y, class Adjoint>
grad::BasicVariable<Y> recorded_linear(const char* function, const grad::BasicVariable<T>& variable,
                                       const Y& y, const Adjoint& adjoint) {
  const auto tape = tape_of(variable);
  if (!tape) return unrecorded(y);
  const auto input = input_of(*tape, function, variable, Keep::nothing);
  return recorded(tape, y,
                  [input, adjoint](const auto& dy) { input.add(adjoint(input.form(), dy)); });
}

/// Is an adjoint that passes the gradient on as it is.
struct PassOn {
  template <class F, class G>
  const G& operator()(const F&, const G& dy) const {
    return dy;
  }
};

/// Returns a tensor of `shape`, of N dims, with the elements of the gradient in the same order.
template <std::size_t N, class G>
auto reshaped_gradient(const Extents& shape, const G& gradient) {
  if constexpr (N == 0) {
    return ops::sum(gradient);  // of its one element
  } else {
    std::int64_t extents[N];
    for (std::size_t d = 0; d < N; ++d) extents[d] = shape[d];
    return tessera::reshape(gradient, extents);
  }
}

/// Returns the part of a tensor that `range` takes of one tensor dim.
template <class V, std::size_t... D>
auto slice_along(const DTensor<V>& tensor, int tensor_dim, const Range& range,
                 std::index_sequence<D...>) {
  return tessera::slice(tensor, range_along(tensor.shape(), D, tensor_dim, range)...);
}

template <class T>
inline constexpr bool is_tensor_variable_v = false;
template <class V>
inline constexpr bool is_tensor_variable_v<grad::BasicVariable<DTensor<V>>> = true;

/// Is a std::vector, a std::array or another range of variables of one View type.
template <class List>
concept VariableList = std::ranges::input_range<const List&> &&
    is_tensor_variable_v<std::ranges::range_value_t<const List&>>;

/// Names the type of the values of a list of variables.
template <class List>
using listed_value_t = value_of_t<std::ranges::range_value_t<const List&>>;

/// Passes the parts of the gradient of concatenate() on to the operands.
template <class T, class G>
void add_parts(const std::vector<Input<T>>& inputs, int tensor_dim, const G& dy) {
  constexpr auto rank = operand_rank<T>;
  if constexpr (rank > 0) {
    std::int64_t begin = 0;
    for (const auto& input : inputs) {
      const auto end = begin + input.form().shape()[static_cast<std::size_t>(tensor_dim)];
      if (input.is_wanted())
        input.add(slice_along(dy, tensor_dim, Range{begin, end}, std::make_index_sequence<rank>()));
      begin = end;
    }
  }
}

/// Concatenates variables, by a target if there is one.
template <class List, class... OneTarget>
auto concatenate_variables(const List& variables, int tensor_dim, const OneTarget&... target) {
  using T = listed_value_t<List>;
  std::vector<T> tensors;
  for (const auto& variable : variables) tensors.push_back(variable.detach());
  const auto y = tessera::concatenate(tensors, tensor_dim, target...);
  std::shared_ptr<TapeState> tape;
  if (is_recording())
    for (const auto& variable : variables) find_tape(tape, variable);
  if (!tape) return unrecorded(y);
  std::vector<Input<T>> inputs;
  for (const auto& variable : variables)
    inputs.push_back(input_of(*tape, "concatenate", variable, Keep::nothing));
  const int dim = dim_of(y.shape(), tensor_dim);
  return recorded(tape, y, [inputs, dim](const auto& dy) { add_parts(inputs, dim, dy); });
}

}  // namespace detail

namespace grad {

/// Returns the variable with its dims in another order, see tessera::permute(). Local; the backward
/// pass too.
template <LocalView V>
Variable<permuted_view_t<V>> permute(const Variable<V>& variable, const std::vector<int>& order) {
  const auto y = tessera::permute(variable.detach(), order);
  const auto inverse = detail::inverse_order(order, static_cast<int>(V::rank()));
  return detail::recorded_linear("permute", variable, y, [inverse](const auto&, const auto& dy) {
    return tessera::permute(dy, inverse);
  });
}

/// Returns the variable with two dims exchanged, the last two by default, see tessera::transpose().
/// Local; the backward pass too.
template <LocalView V>
Variable<permuted_view_t<V>> transpose(const Variable<V>& variable, int first = -2,
                                       int second = -1) {
  const auto y = tessera::transpose(variable.detach(), first, second);
  return detail::recorded_linear("transpose", variable, y,
                                 [first, second](const auto&, const auto& dy) {
                                   return tessera::transpose(dy, first, second);
                                 });
}

/// Returns a part of the variable, see tessera::slice(), which takes the same arguments. The
/// gradient is 0 outside the part, and has the placements of `variable`, with Replicate for
/// Partial.
/// Local. Collective: the backward pass, over the mesh, with an exchange where the gradient of the
/// part is placed otherwise.
template <LocalView V, detail::SliceArgument A = detail::RangeInBraces,
          detail::SliceArgument B = detail::RangeInBraces,
          detail::SliceArgument C = detail::RangeInBraces,
          detail::SliceArgument D = detail::RangeInBraces,
          detail::SliceArgument E = detail::RangeInBraces,
          detail::SliceArgument F = detail::RangeInBraces,
          detail::SliceArgument G = detail::RangeInBraces,
          detail::SliceArgument H = detail::RangeInBraces>
Variable<sliced_view_t<V, A, B, C, D, E, F, G, H>> slice(const Variable<V>& variable, const A& a,
                                                         const B& b = B(), const C& c = C(),
                                                         const D& d = D(), const E& e = E(),
                                                         const F& f = F(), const G& g = G(),
                                                         const H& h = H()) {
  const auto y = tessera::slice(variable.detach(), a, b, c, d, e, f, g, h);
  return detail::recorded_linear("slice", variable, y, [=](const auto& form, const auto& dy) {
    const auto result = form.zeros();
    tessera::redistribute_into(tessera::slice(result, a, b, c, d, e, f, g, h), dy);
    return result;
  });
}

/// Returns the variable under another shape of as many elements, see tessera::reshape(). The
/// gradient goes back to the old shape by the same rules, and keeps the placements that they give.
/// Collective: over the mesh; the backward pass too.
template <LocalView V, std::size_t Dims>
Variable<reshaped_view_t<V, Dims>> reshape(const Variable<V>& variable,
                                           const std::int64_t (&shape)[Dims]) {
  const auto y = tessera::reshape(variable.detach(), shape);
  return detail::recorded_linear("reshape", variable, y, [](const auto& form, const auto& dy) {
    return detail::reshaped_gradient<V::rank()>(form.shape(), dy);
  });
}

/// Returns the variable with its elements moved by `shift` along a tensor dim, see tessera::roll().
/// The gradient moves back.
/// Collective: over the mesh; the backward pass too.
template <LocalView V>
Variable<redistributed_view_t<V>> roll(const Variable<V>& variable, std::int64_t shift,
                                       int tensor_dim) {
  const auto y = tessera::roll(variable.detach(), shift, tensor_dim);
  const auto back = detail::opposite_shift(shift, y.extent(tensor_dim));
  return detail::recorded_linear("roll", variable, y,
                                 [back, tensor_dim](const auto&, const auto& dy) {
                                   return tessera::roll(dy, back, tensor_dim);
                                 });
}

/// Returns variables of one View type one after another along a tensor dim, see
/// tessera::concatenate(). `variables` is a std::vector or a std::array of them. Each gets its part
/// of the gradient, without an exchange.
/// Collective: over the mesh. Errors: those of tessera::concatenate(); InvalidArgument for
/// variables of two tapes.
template <detail::VariableList List>
Variable<redistributed_view_t<typename detail::listed_value_t<List>::view_type>> concatenate(
    const List& variables, int tensor_dim) {
  return detail::concatenate_variables(variables, tensor_dim);
}
/// Takes a target.
template <detail::VariableList List>
Variable<redistributed_view_t<typename detail::listed_value_t<List>::view_type>> concatenate(
    const List& variables, int tensor_dim, const Target& target) {
  return detail::concatenate_variables(variables, tensor_dim, target);
}

/// Returns the variable with elements of type To, or in Views of type To, see tessera::to(). The
/// gradient is converted back; where real numbers became complex, its real part is. Local; the
/// backward pass too, unless a gradient of contributions has to be reduced.
template <class To, LocalView V>
Variable<converted_view_t<V, To>> to(const Variable<V>& variable) {
  constexpr auto kind = element_kind<typename converted_view_t<V, To>::value_type>;
  static_assert(is_floating(kind) || is_complex(kind),
                "to<T>: expected floating-point or complex numbers, since others have no "
                "gradient: write to<T>(x.detach())");
  return detail::recorded_linear("to", variable, tessera::to<To>(variable.detach()),
                                 detail::PassOn());
}

/// Reduces every Partial to Replicate, see tessera::reduce_partial(). The gradient of the sum is
/// that of each contribution.
/// Collective: over the mesh. The backward pass is local.
template <LocalView V>
Variable<redistributed_view_t<V>> reduce_partial(const Variable<V>& variable) {
  return detail::recorded_linear("reduce_partial", variable,
                                 tessera::reduce_partial(variable.detach()), detail::PassOn());
}

/// Returns a copy in memory of its own, see tessera::clone(). Local; the backward pass too.
template <LocalView V>
Variable<redistributed_view_t<V>> clone(const Variable<V>& variable) {
  return detail::recorded_linear("clone", variable, tessera::clone(variable.detach()),
                                 detail::PassOn());
}

}  // namespace grad
}  // namespace tessera
