// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <tessera/redistribute/detail/redistribution.hpp>
#include <tessera/redistribute/pending.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>
#include <tessera/tensor/permute.hpp>

namespace tessera {

namespace detail {

/// Describes a reshape as data: the result's spec, and how its elements get there.
struct ReshapePlan {
  DTensorSpec spec;
  /// Says that each rank has its elements already, in row-major order.
  bool is_local;
};

/// Plans a reshape. Errors: InvalidArgument for another number of elements, an extent below −1, more
/// than one extent −1.
ReshapePlan plan_reshape(const DTensorSpec& spec, Extents shape);

/// Names the pieces of a tensor and of its reshaped copy.
struct ReshapedPieces {
  const DTensorSpec& spec;
  const ReshapePlan& plan;
  ArrayRef from;
  ArrayRef to;
  PlanSettings settings;
};

/// Copies piece `from` into piece `to`, in a call that the ranks agree on here.
void reshape_piece(Operation& operation, const Execution& execution, const DeviceMesh& mesh,
                   const ReshapedPieces& pieces, const char* label);
/// Agrees on the call, and returns what travels as the work of a call in the background. Elements that
/// stay on their ranks are copied here. `views` owns the memory of the pieces.
std::optional<PendingWork> start_reshape(Operation& operation, const Execution& execution,
                                         const DeviceMesh& mesh, const ReshapedPieces& pieces,
                                         std::shared_ptr<void> views, const char* label);

}  // namespace detail

/// Names the View type of reshape<Dims>() of a DTensor<V>.
template <LocalView V, std::size_t Dims>
using reshaped_view_t =
    Kokkos::View<typename detail::DynamicData<typename V::non_const_value_type, Dims>::type,
                 Kokkos::LayoutRight, typename V::device_type>;

/// Returns the tensor with the same elements, in row-major order of global indices, under another
/// shape; one extent may be −1, which is then what fits. The result has new memory.
///
/// Dims that stay as they are, between factors of both shapes, keep their placements. Where dims are
/// joined or divided, the mesh dims that shard one of them shard the first of the new ones: where the
/// parts of the first old dim are whole rows of the new one, nothing travels; otherwise the elements
/// are dealt out by the rule of Shard, in one exchange. Partial stays Partial.
///
/// Example: (6, 4) as S(0) on 2 ranks becomes (24) as S(0) and (3, 8) as S(0), cut at [0, 2, 3].
/// Collective over the mesh. Errors: InvalidArgument for a shape of another number of elements;
///            MpiError.
template <LocalView V, std::size_t Dims>
DTensor<reshaped_view_t<V, Dims>> reshape(const DTensor<V>& tensor,
                                          const std::int64_t (&shape)[Dims]) {
  return reshape(Execution(), tensor, shape);
}
/// Orders the work on `exec`.
template <LocalView V, std::size_t Dims>
DTensor<reshaped_view_t<V, Dims>> reshape(const Execution& exec, const DTensor<V>& tensor,
                                          const std::int64_t (&shape)[Dims]) {
  using Result = reshaped_view_t<V, Dims>;
  const auto& mesh = tensor.device_mesh();
  return collectively(mesh, "reshape", [&](Operation& operation) {
    constexpr auto label = "tessera::reshape";
    const auto plan = detail::plan_reshape(tensor.spec(), std::span(shape));
    auto result = detail::allocate_dtensor<Result>(mesh, plan.spec, label);
    detail::keeping(
        mesh.communicator(),
        [&] {
          detail::reshape_piece(operation, exec, mesh,
                                {tensor.spec(), plan, array_ref(tensor.to_local()),
                                 array_ref(result.to_local()), detail::plain_settings<V>()},
                                label);
        },
        [&] { return detail::held_with(tensor, result.to_local()); });
    return result;
  });
}

/// Starts reshape() in the background.
template <LocalView V, std::size_t Dims>
Pending<DTensor<reshaped_view_t<V, Dims>>> reshape_async(const DTensor<V>& tensor,
                                                         const std::int64_t (&shape)[Dims]) {
  return reshape_async(Execution(), tensor, shape);
}
/// Starts reshape() in the background, ordered on `exec`.
template <LocalView V, std::size_t Dims>
Pending<DTensor<reshaped_view_t<V, Dims>>> reshape_async(const Execution& exec,
                                                         const DTensor<V>& tensor,
                                                         const std::int64_t (&shape)[Dims]) {
  const auto& mesh = tensor.device_mesh();
  return detail::start_call("reshape_async", mesh, [&](Operation& operation) {
    constexpr auto label = "tessera::reshape";
    const auto plan = detail::plan_reshape(tensor.spec(), std::span(shape));
    const auto result = detail::allocate_dtensor<reshaped_view_t<V, Dims>>(mesh, plan.spec, label);
    auto work = detail::start_reshape(operation, exec, mesh,
                                      {tensor.spec(), plan, array_ref(tensor.to_local()),
                                       array_ref(result.to_local()), detail::plain_settings<V>()},
                                      detail::held_with(tensor, result.to_local()), label);
    return std::pair(result, std::move(work));
  });
}

}  // namespace tessera
