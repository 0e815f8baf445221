// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// All operators with what they mean for single elements, or for whole arrays. A new operator is one
// line of the table.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <tessera/ops/detail/elementwise.hpp>
#include <tessera/ops/detail/reduction.hpp>

#include "../support/generator.hpp"
#include "whole_operators.hpp"

namespace tessera::test {

using detail::ElementwiseOp;
using detail::ReductionOp;

/// Says which Partial operands an operator takes as they are, in the words of compute.md.
enum class Passes : std::uint8_t {
  nothing,
  linear,      ///< what is linear in one operand
  negation,    ///< linear; a floating-point min becomes a max
  increasing,  ///< what preserves the order of real numbers
  sum,         ///< a sum of two tensors, or of a tensor and a finite number
  difference,  ///< likewise, but a max stays none
  product,     ///< a tensor times a finite number
  quotient,    ///< a tensor by a finite number other than 0
  selection,   ///< one of two tensors by a condition that is not Partial
  own,         ///< the Partial that combines its results
  widened,     ///< a sum over dims, of elements whose sum has their type
  average,     ///< a sum over dims divided by a number
  picking,     ///< any: the result has elements of the first operand
  filling,     ///< as picking, but 0 besides: what is linear, and an or
};

/// Holds what an oracle gets: one element of each operand (a, b, …), or all elements that a reduction
/// makes one.
struct Elements {
  Number a = {}, b = {}, c = {}, d = {};
  std::span<const Number> first = {}, second = {};
  ElementKind kind = {};  ///< that of the operands

  long double real() const { return a.real(); }
};
using Oracle = Number (*)(const Elements&);

struct TestedOperator {
  std::variant<ElementwiseOp, ReductionOp, WholeOperator> op;
  int operands;  ///< tensors, or numbers in their place
  unsigned kinds;
  Passes passes;
  Oracle oracle = nullptr;  ///< none: its placements alone are tested, or it is a WholeOperator
  int factors = 0;          ///< numbers besides the operands
  ReduceOp combines = ReduceOp::sum;  ///< how a reduction's, or least and greatest, combine results

  bool is_reduction() const { return std::holds_alternative<ReductionOp>(op); }
  bool is_whole() const { return std::holds_alternative<WholeOperator>(op); }
  ElementwiseOp elementwise() const { return std::get<ElementwiseOp>(op); }
  ReductionOp reduction() const { return std::get<ReductionOp>(op); }
  const WholeOperator& whole() const { return std::get<WholeOperator>(op); }
  bool is(ElementwiseOp other) const {
    return std::holds_alternative<ElementwiseOp>(op) && elementwise() == other;
  }
  bool is(ReductionOp other) const { return is_reduction() && reduction() == other; }
  bool has_oracle() const { return is_whole() || oracle != nullptr; }
  /// Returns whether operand k holds indices.
  bool has_indices(std::size_t k) const {
    return is_whole() && k == 1 && whole().indices != Indices::none;
  }
  const detail::OperatorInfo& info() const {
    if (is_whole()) return whole().info();
    return is_reduction() ? detail::reduction_info(reduction())
                          : detail::elementwise_info(elementwise());
  }
  bool takes(ElementKind kind) const { return (detail::bit_of(kind) & kinds) != 0; }
};

/// Applies a function to complex or to real numbers.
template <class Function>
Number on(const Elements& x, const Function& function) {
  return is_complex(x.kind) ? Number(function(x.a)) : Number(function(x.a.real()));
}
template <class Function>
Number on_both(const Elements& x, const Function& function) {
  return is_complex(x.kind) ? Number(function(x.a, x.b)) : Number(function(x.a.real(), x.b.real()));
}

inline Number quotient(const Elements& x) {
  if (!is_integer(x.kind)) return on_both(x, [](auto a, auto b) { return a / b; });
  return x.b == Number(0) ? Number(0) : std::trunc(x.a.real() / x.b.real());
}

inline Number power(const Elements& x) {
  const auto a = x.a.real(), b = x.b.real();
  if (is_integer(x.kind) && b < 0 && std::abs(a) != 1) return 0;
  return on_both(x, [](auto base, auto exponent) { return std::pow(base, exponent); });
}

inline Number sum_of(std::span<const Number> elements) {
  Number sum = 0;
  for (const auto& element : elements) sum += element;
  return sum;
}

/// Sums up what `each` gives for the elements, or for pairs of them.
template <class Each>
Number sum_of(const Elements& x, const Each& each) {
  Number sum = 0;
  for (std::size_t i = 0; i < x.first.size(); ++i)
    if constexpr (std::is_invocable_v<Each, Number>)
      sum += each(x.first[i]);
    else
      sum += each(x.first[i], x.second[i]);
  return sum;
}

/// Returns the element of which `before` says that it comes before all others.
template <class Before>
Number first_by(const Elements& x, const Before& before) {
  return *std::ranges::min_element(
      x.first, [&](const Number& a, const Number& b) { return before(a.real(), b.real()); });
}

inline Number largest_size(const Elements& x) {
  long double result = 0;
  for (const auto& element : x.first) result = std::max(result, std::abs(element));
  return result;
}

/// Returns the variance of x.first, whose mean is x.second.
inline Number variance(const Elements& x) {
  const auto n = static_cast<long double>(x.first.size());
  if (n < 2) return std::numeric_limits<long double>::quiet_NaN();
  return sum_of(x, [](Number a, Number m) { return Number(std::norm(a - m)); }) / (n - 1);
}

inline const std::vector<TestedOperator>& tested_operators() {
  using enum ElementwiseOp;
  using R = ReductionOp;
  using P = Passes;
  using W = WholeOperator;
  using M = MatrixOp;
  using S = SoftmaxOp;
  using detail::all_kinds, detail::bools, detail::floats, detail::fractions, detail::all_numbers,
      detail::reals;
  using detail::ReducedKind, detail::matrix_info, detail::softmax_info;
  using E = const Elements&;
  // clang-format off
  static const std::vector<TestedOperator> table = {
      {negate, 1, all_numbers, P::negation, [](E x) { return -x.a; }},
      {abs, 1, all_numbers, P::nothing, [](E x) { return Number(std::abs(x.a)); }},
      {sign, 1, reals, P::increasing, [](E x) { return Number((x.real() > 0) - (x.real() < 0)); }},
      {square, 1, all_numbers, P::nothing, [](E x) { return x.a * x.a; }},
      {sqrt, 1, fractions, P::nothing, [](E x) { return on(x, [](auto a) { return std::sqrt(a); }); }},
      {exp, 1, fractions, P::increasing, [](E x) { return on(x, [](auto a) { return std::exp(a); }); }},
      {log, 1, fractions, P::nothing, [](E x) { return on(x, [](auto a) { return std::log(a); }); }},
      {sin, 1, fractions, P::nothing, [](E x) { return on(x, [](auto a) { return std::sin(a); }); }},
      {cos, 1, fractions, P::nothing, [](E x) { return on(x, [](auto a) { return std::cos(a); }); }},
      {tanh, 1, fractions, P::increasing, [](E x) { return on(x, [](auto a) { return std::tanh(a); }); }},
      {sigmoid, 1, floats, P::increasing, [](E x) { return Number(1 / (1 + std::exp(-x.real()))); }},
      {relu, 1, reals, P::increasing, [](E x) { return Number(std::max(x.real(), 0.0L)); }},
      {real, 1, all_numbers, P::linear, [](E x) { return Number(x.a.real()); }},
      {imag, 1, all_numbers, P::linear, [](E x) { return Number(x.a.imag()); }},
      {conj, 1, all_numbers, P::linear, [](E x) { return std::conj(x.a); }},
      {logical_not, 1, bools, P::nothing, [](E x) { return Number(x.real() == 0); }},
      {clamp, 1, reals, P::increasing, [](E x) { return Number(std::min(std::max(x.real(), x.b.real()), x.c.real())); }, 2},
      {add, 2, all_kinds, P::sum, [](E x) { return x.a + x.b; }},
      {subtract, 2, all_numbers, P::difference, [](E x) { return x.a - x.b; }},
      {multiply, 2, all_kinds, P::product, [](E x) { return x.a * x.b; }},
      {divide, 2, all_numbers, P::quotient, quotient},
      {ElementwiseOp::power, 2, all_numbers, P::nothing, test::power},
      {minimum, 2, reals, P::own, [](E x) { return Number(std::min(x.real(), x.b.real())); }, 0, ReduceOp::min},
      {maximum, 2, reals, P::own, [](E x) { return Number(std::max(x.real(), x.b.real())); }, 0, ReduceOp::max},
      {equal_to, 2, all_kinds, P::nothing, [](E x) { return Number(x.a == x.b); }},
      {not_equal_to, 2, all_kinds, P::nothing, [](E x) { return Number(x.a != x.b); }},
      {less, 2, reals, P::nothing, [](E x) { return Number(x.real() < x.b.real()); }},
      {less_equal, 2, reals, P::nothing, [](E x) { return Number(x.real() <= x.b.real()); }},
      {greater, 2, reals, P::nothing, [](E x) { return Number(x.real() > x.b.real()); }},
      {greater_equal, 2, reals, P::nothing, [](E x) { return Number(x.real() >= x.b.real()); }},
      {logical_and, 2, bools, P::nothing, [](E x) { return x.a * x.b; }},
      {logical_or, 2, bools, P::own, [](E x) { return x.a + x.b; }, 0, ReduceOp::bor},
      {axpby, 2, all_numbers, P::difference, [](E x) { return x.c * x.a + x.d * x.b; }, 2},
      {where, 3, all_kinds, P::selection, [](E x) { return x.real() != 0 ? x.b : x.c; }},

      {R::sum, 1, all_kinds, P::widened, [](E x) { return sum_of(x.first); }},
      {R::mean, 1, all_numbers, P::average, [](E x) { return sum_of(x.first) / static_cast<long double>(x.first.size()); }},
      {R::product, 1, all_kinds, P::own, [](E x) { Number p = 1; for (const auto& a : x.first) p *= a; return p; }, 0, ReduceOp::product},
      {R::min, 1, reals, P::own, [](E x) { return first_by(x, std::less<>()); }, 0, ReduceOp::min},
      {R::max, 1, reals, P::own, [](E x) { return first_by(x, std::greater<>()); }, 0, ReduceOp::max},
      {R::any, 1, bools, P::own, [](E x) { return Number(sum_of(x.first) != Number(0)); }, 0, ReduceOp::bor},
      {R::all, 1, bools, P::own, [](E x) { return Number(sum_of(x, [](Number a) { return Number(1) - a; }) == Number(0)); }, 0, ReduceOp::band},
      {R::count_nonzero, 1, all_kinds, P::nothing, [](E x) { return sum_of(x, [](Number a) { return Number(a != Number(0)); }); }},
      {R::norm_one, 1, all_numbers, P::nothing, [](E x) { return sum_of(x, [](Number a) { return Number(std::abs(a)); }); }},
      {R::norm_inf, 1, all_numbers, P::nothing, largest_size, 0, ReduceOp::max},
      {R::sum_of_squares, 1, all_numbers, P::nothing, [](E x) { return sum_of(x, [](Number a) { return Number(std::norm(a)); }); }},
      {R::variance, 2, all_numbers, P::nothing, variance},
      {R::dot, 2, all_numbers, P::nothing, [](E x) { return sum_of(x, [](Number a, Number b) { return a * b; }); }},
      {R::vdot, 2, all_numbers, P::nothing, [](E x) { return sum_of(x, [](Number a, Number b) { return std::conj(a) * b; }); }},
      {R::sum_of_exp, 2, floats, P::nothing, [](E x) { return sum_of(x, [](Number a, Number b) { return Number(std::exp(a.real() - b.real())); }); }},
      {R::argmin, 1, reals, P::nothing},
      {R::argmax, 1, reals, P::nothing},

      {W{.info = detail::matmul_info, .forms = matmul_forms, .subscripts = matmul_subscripts, .oracle = product_of_matrices, .run = run_local_matmul, .result = ReducedKind::wide}, 2, all_numbers, P::nothing},
      {W{.info = info_of<softmax_info, S::softmax>, .forms = forms_along_dims, .subscripts = same_subscripts, .oracle = softmax_of<S::softmax>, .run = run_local_softmax<S::softmax>, .ulps = 32}, 1, floats, P::nothing},
      {W{.info = info_of<softmax_info, S::log_softmax>, .forms = forms_along_dims, .subscripts = same_subscripts, .oracle = softmax_of<S::log_softmax>, .run = run_local_softmax<S::log_softmax>, .ulps = 32}, 1, floats, P::nothing},
      {W{.info = info_of<softmax_info, S::logsumexp>, .forms = forms_along_dims, .subscripts = dropping_subscripts, .oracle = softmax_of<S::logsumexp>, .run = run_local_softmax<S::logsumexp>, .ulps = 32}, 1, floats, P::nothing},
      {W{.info = detail::cumsum_info, .forms = forms_along_dims, .subscripts = same_subscripts, .oracle = running_sums, .run = run_local_cumsum, .result = ReducedKind::wide}, 1, all_kinds, P::widened},
      {W{.info = detail::take_info, .forms = take_forms, .subscripts = take_subscripts, .oracle = taken, .run = run_local_take, .indices = Indices::from_both_ends}, 2, all_kinds, P::picking},
      {W{.info = detail::cross_entropy_info, .forms = pick_forms, .subscripts = pick_subscripts, .oracle = picked_of_rows, .run = run_local_pick, .indices = Indices::from_begin}, 2, floats, P::nothing},
      {W{.info = info_of<matrix_info, M::outer>, .forms = outer_forms, .subscripts = outer_subscripts, .oracle = outer_product, .run = run_local_outer}, 2, all_kinds, P::nothing},
      {W{.info = info_of<matrix_info, M::tril>, .forms = triangle_forms, .subscripts = same_subscripts, .oracle = triangle_of<M::tril>, .run = run_local_matrix<M::tril>}, 1, all_kinds, P::filling},
      {W{.info = info_of<matrix_info, M::triu>, .forms = triangle_forms, .subscripts = same_subscripts, .oracle = triangle_of<M::triu>, .run = run_local_matrix<M::triu>}, 1, all_kinds, P::filling},
      {W{.info = info_of<matrix_info, M::diag>, .forms = diagonal_forms, .subscripts = diagonal_subscripts, .oracle = diagonal_of, .run = run_local_matrix<M::diag>, .has_local_shape = false}, 1, all_kinds, P::picking},
      {W{.info = info_of<matrix_info, M::diag>, .forms = diagonal_matrix_forms, .subscripts = diagonal_matrix_subscripts, .oracle = diagonal_matrix_of, .run = run_local_matrix<M::diag>, .has_local_shape = false}, 1, all_kinds, P::filling},
  };
  // clang-format on
  return table;
}

inline std::string name_of(const TestedOperator& tested) {
  return tested.info().label;
}

/// Calls function(std::type_identity<T>) with the type of elements of a kind.
template <class Function>
decltype(auto) with_element(ElementKind kind, const Function& function) {
  switch (kind) {
    case ElementKind::boolean:
      return function(std::type_identity<bool>());
    case ElementKind::int8:
      return function(std::type_identity<std::int8_t>());
    case ElementKind::int64:
      return function(std::type_identity<std::int64_t>());
    case ElementKind::float32:
      return function(std::type_identity<float>());
    case ElementKind::complex128:
      return function(std::type_identity<Kokkos::complex<double>>());
    default:
      return function(std::type_identity<double>());
  }
}

/// Lists the element types of the tests.
inline const std::vector<ElementType>& tested_types() {
  static const std::vector<ElementType> types = {
      element_type<double>(),      element_type<std::int64_t>(),
      element_type<float>(),       element_type<Kokkos::complex<double>>(),
      element_type<std::int8_t>(), element_type<bool>()};
  return types;
}

inline std::vector<ElementType> types_of(const TestedOperator& tested) {
  std::vector<ElementType> result;
  for (const auto type : tested_types())
    if (tested.takes(type.kind)) result.push_back(type);
  return result;
}

/// Returns the number as an element of type T; integers wrap around.
template <class T>
T element_of(const Number& number) {
  if constexpr (detail::ComplexNumber<T>)
    return T(static_cast<double>(number.real()), static_cast<double>(number.imag()));
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return static_cast<T>(static_cast<std::int64_t>(number.real()));
  else
    return static_cast<T>(number.real());
}
template <class T>
Number number_of(const T& element) {
  if constexpr (detail::ComplexNumber<T>)
    return {element.real(), element.imag()};
  else
    return static_cast<long double>(element);
}

inline void store_number(std::byte* data, ElementType type, const Number& number) {
  with_element(type.kind, [&]<class T>(std::type_identity<T>) {
    const auto element = element_of<T>(number);
    std::memcpy(data, static_cast<const void*>(&element), sizeof element);
  });
}
inline Number load_number(const std::byte* data, ElementType type) {
  return with_element(type.kind, [&]<class T>(std::type_identity<T>) {
    T element;
    std::memcpy(static_cast<void*>(&element), data, sizeof element);
    return number_of(element);
  });
}
/// Returns the number as elements of the type hold it.
inline Number rounded(ElementType type, const Number& number) {
  return with_element(
      type.kind, [&]<class T>(std::type_identity<T>) { return number_of(element_of<T>(number)); });
}

/// Returns an operand that is a number.
inline detail::OperandRef number_operand(ElementType type, const Number& number) {
  return with_element(type.kind, [&]<class T>(std::type_identity<T>) {
    return detail::operand_ref<T>(element_of<T>(number));
  });
}

/// Returns the element type of the result for operands of a type.
inline ElementType result_type(const TestedOperator& tested, ElementType type) {
  return with_element(type.kind, [&]<class T>(std::type_identity<T>) {
    const auto part = element_type<typename detail::PartOf<T>::type>();
    if (!tested.is_reduction() && !tested.is_whole()) {
      const auto kind = detail::traits_of(tested.elementwise()).result;
      if (kind == detail::ResultKind::boolean) return element_type<bool>();
      return kind == detail::ResultKind::real ? part : type;
    }
    using detail::ReducedKind;
    constexpr bool is_whole = std::is_integral_v<T>;
    switch (tested.is_whole() ? tested.whole().result
                              : detail::traits_of(tested.reduction()).result) {
      case ReducedKind::boolean:
        return element_type<bool>();
      case ReducedKind::index:
        return element_type<std::int64_t>();
      case ReducedKind::wide:
        return is_whole ? element_type<std::int64_t>() : type;
      case ReducedKind::fractions:
        return is_whole ? element_type<double>() : type;
      case ReducedKind::real:
        return is_whole ? element_type<double>() : part;
      default:
        return type;
    }
  });
}

/// Returns the type of operand k: where() takes a condition first, var the mean last, take() indices
/// last.
inline ElementType operand_type(const TestedOperator& tested, const Form& form, std::size_t k) {
  if (tested.is(ElementwiseOp::where) && k == 0) return element_type<bool>();
  if (tested.has_indices(k)) return element_type<std::int64_t>();
  if (tested.is(ReductionOp::variance) && k == 1 && is_integer(form.type.kind))
    return element_type<double>();
  return form.type;
}

/// Returns the number that stands for operand k.
inline Number number_for(const TestedOperator& tested, std::size_t k) {
  if (tested.is(ElementwiseOp::clamp)) return k == 1 ? -1 : 2;
  return k == 3 ? -1 : 2;
}

/// Returns the call of an operator, with operands of these specs.
inline OperatorCall call_of(const TestedOperator& tested, const Form& form,
                            const std::vector<std::optional<DTensorSpec>>& specs) {
  OperatorCall call;
  call.name = tested.info().name;
  call.type = result_type(tested, form.type);
  for (std::size_t k = 0; k < form.operands(); ++k) {
    OperatorOperand operand{specs[k], operand_type(tested, form, k), {}};
    if (!operand.spec) operand.number = number_operand(operand.type, number_for(tested, k)).number;
    call.operands.push_back(operand);
  }
  if (form.offset) call.attributes.push_back({"offset", *form.offset});
  if (tested.info().is_reduction) {
    call.attributes.push_back({"dims", std::vector<std::int64_t>(form.over.dims)});
    call.attributes.push_back({"keep_dims", std::vector<std::int64_t>{form.over.keeps ? 1 : 0}});
  }
  call.shape = tested.info().shape(call);
  return call;
}

/// Lists the dims that reductions go over: each one, all, and both kept.
inline std::vector<detail::ReducedDims> reduced_dims_of(std::size_t tensor_dims) {
  std::vector<detail::ReducedDims> result;
  Extents all;
  for (std::size_t d = 0; d < tensor_dims; ++d) {
    const auto dim = static_cast<std::int64_t>(d);
    all.push_back(dim);
    result.push_back({{dim}, false});
    result.push_back({{dim}, true});
  }
  result.push_back({all, false});
  result.push_back({all, true});
  return result;
}

/// Lists the forms in which an operator is called on tensors of these shapes, which broadcast, for one
/// element type. One that is described by whole arrays is called on a tensor of the first shape.
inline std::vector<Form> forms_of(const TestedOperator& tested, ElementType type,
                                  const std::vector<Extents>& shapes) {
  std::vector<Form> result;
  if (tested.is_whole()) {
    result = tested.whole().forms(shapes[0]);
    for (auto& form : result) form.type = type;
    return result;
  }
  const auto operands = static_cast<std::size_t>(tested.operands);
  if (tested.is_reduction()) {
    for (const auto& over : reduced_dims_of(shapes[0].size())) {
      if (!detail::traits_of(tested.reduction()).has_empty_result &&
          detail::reduced_size(shapes[0], over.dims) == 0)
        continue;
      Form form{std::vector<std::optional<Extents>>(operands, shapes[0]), type, over};
      if (tested.is(ReductionOp::variance) || tested.is(ReductionOp::sum_of_exp))
        form.shapes[1] = detail::reduced_shape(shapes[0], {over.dims, true});
      result.push_back(form);
    }
    return result;
  }
  // Each set of operands may be numbers, but not all operands, and not a condition.
  for (unsigned numbers = 0; numbers + 1 < 1U << operands; ++numbers) {
    if (tested.is(ElementwiseOp::where) && (numbers & 1) != 0) continue;
    if (tested.is(ElementwiseOp::axpby) && numbers != 0) continue;
    Form form{{}, type, {}};
    for (std::size_t k = 0; k < operands; ++k)
      form.shapes.push_back((numbers >> k & 1) != 0 ? std::nullopt : std::optional(shapes[k]));
    form.shapes.resize(operands + static_cast<std::size_t>(tested.factors));
    result.push_back(form);
  }
  return result;
}

/// Lists the placements of a tensor of a shape along one mesh dim.
inline std::vector<Placement> tested_placements(const Extents& shape, ElementKind kind) {
  std::vector<Placement> result = {Replicate()};
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    result.emplace_back(Shard(d));
    result.emplace_back(Balanced(d));
    result.emplace_back(Cyclic(d, 2));
  }
  if (kind == ElementKind::boolean) {
    result.emplace_back(Partial(ReduceOp::bor));
  } else {
    result.emplace_back(Partial(ReduceOp::sum));
    result.emplace_back(Partial(ReduceOp::avg));
    if (!is_complex(kind)) result.emplace_back(Partial(ReduceOp::max));
  }
  return result;
}

/// Lists the specs of a tensor with all combinations of these placements along the mesh dims.
inline std::vector<DTensorSpec> tested_specs(const MeshLayout& mesh, const Extents& shape,
                                             ElementKind kind) {
  std::vector<std::vector<Placement>> all = {{}};
  for (int m = 0; m < mesh.ndim(); ++m) {
    std::vector<std::vector<Placement>> longer;
    for (const auto& placements : all)
      for (const auto& placement : tested_placements(shape, kind)) {
        longer.push_back(placements);
        longer.back().push_back(placement);
      }
    all = longer;
  }
  std::vector<DTensorSpec> result;
  for (const auto& placements : all) try {
      result.emplace_back(mesh, Placements(placements), shape);
    } catch (const InvalidArgument&) {
      // Placements forbids the combination.
    }
  return result;
}

template <class T>
const T& pick(Generator& generator, const std::vector<T>& list) {
  return list[static_cast<std::size_t>(draw(generator, 0, static_cast<int>(list.size()) - 1))];
}

/// Draws one of tested_specs().
inline DTensorSpec random_spec(Generator& generator, const MeshLayout& mesh, const Extents& shape,
                               ElementKind kind) {
  const auto all = tested_placements(shape, kind);
  while (true) {
    std::vector<Placement> placements;
    for (int m = 0; m < mesh.ndim(); ++m) placements.push_back(pick(generator, all));
    try {
      return DTensorSpec(mesh, Placements(placements), shape);
    } catch (const InvalidArgument&) {
      // Placements forbids the combination.
    }
  }
}

/// Draws a spec for each operand that is a tensor.
inline std::vector<std::optional<DTensorSpec>> random_specs(Generator& generator,
                                                            const TestedOperator& tested,
                                                            const Form& form,
                                                            const MeshLayout& mesh) {
  std::vector<std::optional<DTensorSpec>> result(form.operands());
  for (std::size_t k = 0; k < form.operands(); ++k)
    if (form.shapes[k])
      result[k] = random_spec(generator, mesh, *form.shapes[k], operand_type(tested, form, k).kind);
  return result;
}

/// Calls visit(specs) for each combination of specs of the operands.
template <class Visit>
void for_each_specs(const TestedOperator& tested, const Form& form, const MeshLayout& mesh,
                    const Visit& visit) {
  std::vector<std::vector<std::optional<DTensorSpec>>> all;
  for (std::size_t k = 0; k < form.operands(); ++k) {
    auto& specs = all.emplace_back();
    if (!form.shapes[k])
      specs.emplace_back();
    else
      for (const auto& spec :
           tested_specs(mesh, *form.shapes[k], operand_type(tested, form, k).kind))
        specs.emplace_back(spec);
  }
  std::vector<std::size_t> at(all.size(), 0);
  std::vector<std::optional<DTensorSpec>> specs(all.size());
  while (true) {
    for (std::size_t k = 0; k < all.size(); ++k) specs[k] = all[k][at[k]];
    visit(specs);
    std::size_t k = 0;
    while (k < all.size() && ++at[k] == all[k].size()) at[k++] = 0;
    if (k == all.size()) return;
  }
}

/// Lists shapes of up to three operands that broadcast: equal and stretched ones, extents 0 and 1,
/// uneven ones.
inline const std::vector<std::vector<Extents>>& tested_shapes() {
  static const std::vector<std::vector<Extents>> shapes = {
      {{5, 4}, {5, 4}, {5, 4}}, {{5, 4}, {4}, {1, 4}},       {{4}, {4}, {4}},
      {{1, 4}, {5, 1}, {5, 4}}, {{2, 1, 3}, {2, 4, 1}, {3}}, {{0, 3}, {1, 3}, {0, 3}},
  };
  return shapes;
}

}  // namespace tessera::test
