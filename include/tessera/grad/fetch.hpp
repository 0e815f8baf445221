// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/fetch/fetch.hpp>
#include <tessera/grad/detail/adjoints.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/clone.hpp>

/// fetch() and accumulate() take variables, too. What fetch() brings to a rank, its adjoint adds
/// where it came from; what accumulate() adds, its adjoint fetches.
///
/// Each adjoint takes one exchange, and uses the boxes that the ranks told one another in the
/// forward pass. That of accumulate() takes one more if the gradient of the result is not placed as
/// the tensor is.
///
/// All ranks record the call, also those that ask for nothing, and take part in the backward pass.
/// A Partial tensor is refused as by make_fetch(); reduce it by grad::redistribute().
namespace tessera {

namespace detail {

/// Returns a Fetcher for tensors in Views of type V that are distributed as `tensor` is, and
/// patches of type W. The ranks tell one another their boxes. Collective over the mesh.
template <class V, class W>
Fetcher fetcher_for(FunctionName function, const DTensor<V>& tensor, const Box& box,
                    const FetchOptions& options, const ReduceOp* op = nullptr) {
  const auto& mesh = tensor.device_mesh();
  return collectively(mesh, function, [&](Operation& operation) {
    return agreed_fetcher<V, W>(operation, mesh, tensor.spec(), box, options, op);
  });
}

/// Returns a new patch for the box of a Fetcher; an empty one off the mesh.
template <class W>
W patch_for(const Fetcher& fetcher) {
  if (!FetcherAccess::mesh(fetcher).coordinate()) return W();
  return named("fetch", [&] {
    const auto shape = patch_shape(fetcher.box(), W::rank(), static_extents<W>());
    return allocate<W>(shape, "tessera::fetch");
  });
}

/// Returns the part of a gradient in the box of a Fetcher, as the gradient of a patch of this form.
/// The gradient is placed as the Fetcher's tensors are.
template <class W, class G>
gradient_t<W> adjoint_of_patch(const Form<W>& form, const Fetcher& fetcher, const G& dy) {
  const auto result = form.zeros();
  fetcher.fetch(dy, result);
  return result;
}

}  // namespace detail

namespace grad {

/// Returns the values of a variable in the box of this rank, in a new View of the box's shape. Its
/// type is Out, if that is given, else see redistributed_view_t.
///
/// The gradient is zero outside of the boxes; where several of them cover an element, it is the sum
/// of theirs.
/// Collective: over the mesh; the backward pass too.
/// Errors:     those of Fetcher::fetch(); InvalidArgument for a box that a View of type Out cannot
///             hold.
template <class Out = void, LocalView V>
LocalVariable<redistributed_view_t<V, Out>> fetch(const Fetcher& fetcher,
                                                  const Variable<V>& variable) {
  const auto patch = detail::patch_for<redistributed_view_t<V, Out>>(fetcher);
  fetcher.fetch(variable.detach(), patch);
  const auto tape = detail::tape_of(variable);
  if (!tape) return detail::unrecorded(patch);
  const auto input = detail::input_of(*tape, "fetch", variable, detail::Keep::nothing);
  return detail::recorded(tape, patch, [input, fetcher](const auto& dy) {
    const auto gradient = input.form().zeros();
    fetcher.accumulate(gradient, dy);
    input.add(gradient);
  });
}
/// Takes the box of this rank, which the ranks first tell one another, see tessera::fetch().
template <LocalView V>
LocalVariable<redistributed_view_t<V>> fetch(const Variable<V>& variable, const Box& box,
                                             const FetchOptions& options = {}) {
  using W = redistributed_view_t<V>;
  return grad::fetch(detail::fetcher_for<V, W>("fetch", variable.detach(), box, options), variable);
}

/// Returns a new tensor: `tensor` plus the patches of all ranks, each in the box of its rank. One
/// of the arguments, or both, are variables. `tensor` does not change.
///
/// The gradient of `tensor` is that of the result. That of a patch is the part of it in the box.
/// Collective: over the mesh; the backward pass too.
/// Errors:     those of Fetcher::accumulate().
template <class Tensor, class Patch>
requires detail::HasVariable<Tensor, Patch>
auto accumulate(const Fetcher& fetcher, const Tensor& tensor, const Patch& patch) {
  const auto y = tessera::clone(detail::value_of(tensor));
  fetcher.accumulate(y, detail::value_of(patch));
  const auto tape = detail::tape_of(tensor, patch);
  if (!tape) return detail::unrecorded(y);
  const auto first = detail::input_of(*tape, "accumulate", tensor, detail::Keep::nothing);
  const auto second = detail::input_of(*tape, "accumulate", patch, detail::Keep::nothing);
  return detail::recorded(tape, y, [first, second, fetcher](const auto& dy) {
    auto gradient = dy;
    if constexpr (detail::is_variable_v<Patch>)
      if (second.is_wanted()) {
        gradient = tessera::redistribute(dy, Target(fetcher.spec()));
        second.add(detail::adjoint_of_patch(second.form(), fetcher, gradient));
      }
    if constexpr (detail::is_variable_v<Tensor>)
      if (first.is_wanted()) first.add(gradient);
  });
}
/// Takes the box of this rank, which the ranks first tell one another, see tessera::accumulate().
template <class Tensor, class Patch>
requires detail::HasVariable<Tensor, Patch>
auto accumulate(const Tensor& tensor, const Box& box, const Patch& patch,
                const FetchOptions& options = {}) {
  using V = typename detail::value_of_t<Tensor>::view_type;
  using W = detail::value_of_t<Patch>;
  constexpr auto op = ReduceOp::sum;
  return grad::accumulate(
      detail::fetcher_for<V, W>("accumulate", detail::value_of(tensor), box, options, &op), tensor,
      patch);
}

}  // namespace grad
}  // namespace tessera
