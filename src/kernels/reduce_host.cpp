// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <vector>

#include <tessera/tensor/detail/launch.hpp>

#include "kernels/copy_loop.hpp"
#include "kernels/pack.hpp"
#include "kernels/reduction.hpp"
#include "kernels/tuning.hpp"

namespace tessera::detail {
namespace {

/// Returns the dim of extent > 1 with the largest stride.
std::size_t outermost_dim(const ArrayRef& array) {
  std::size_t result = 0;
  std::int64_t largest = -1;
  for (std::size_t d = 0; d < array.extents.size(); ++d) {
    const auto stride = std::abs(array.strides[d]);
    if (array.extents[d] == 1 || stride <= largest) continue;
    result = d;
    largest = stride;
  }
  return result;
}

/// Reduces slab by slab of the destination: operands in another memory order are transposed into
/// scratch memory that stays in cache.
void reduce_by_slabs(const Execution& execution, ReduceOp op, std::span<const ArrayRef> operands,
                     const ArrayRef& destination, std::int64_t divisor, std::int64_t transposed) {
  const auto outer = outermost_dim(destination);
  const auto extent = destination.extents[outer];
  const auto layer = transposed * destination.bytes() / extent;
  const auto thickness = std::min(extent, std::max(least_thickness, scratch_bytes / layer));
  const Kokkos::View<std::byte*, Kokkos::HostSpace> scratch(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "tessera::detail::reduce scratch"),
      static_cast<std::size_t>(layer * thickness));

  auto offset = Extents::filled(destination.extents.size(), 0);
  auto shape = destination.extents;
  for (; offset[outer] < extent; offset[outer] += thickness) {
    shape[outer] = std::min(thickness, extent - offset[outer]);
    const auto slab = destination.part(offset, shape);
    std::vector<ArrayRef> parts;
    std::vector<CopyJob> transposes;
    for (const auto& operand : operands) {
      parts.push_back(operand.part(offset, shape));
      if (!is_transposing(operand, destination)) continue;
      auto* free = scratch.data() + static_cast<std::int64_t>(transposes.size()) * slab.bytes();
      transposes.push_back(
          {parts.back(), {free, slab.type, shape, dense_strides(slab), slab.space}});
      parts.back() = transposes.back().destination;
    }
    copy(execution, transposes);
    run_reduction(execution, op, parts, slab, divisor);
  }
  finish_host(execution);
}

}  // namespace

std::int64_t transposed_operands(std::span<const ArrayRef> operands, const ArrayRef& destination) {
  const bool are_alike = operands.front().type == destination.type;
  if (!are_alike || destination.bytes() < serial_bytes) return 0;
  return std::ranges::count_if(
      operands, [&](const ArrayRef& operand) { return is_transposing(operand, destination); });
}

void reduce_on_host(const Execution& execution, ReduceOp op, std::span<const ArrayRef> operands,
                    const ArrayRef& destination, std::int64_t divisor, Stores stores) {
  const auto transposed = transposed_operands(operands, destination);
  if (transposed == 0)
    run_reduction(execution, op, operands, destination, divisor, stores);
  else
    reduce_by_slabs(execution, op, operands, destination, divisor, transposed);
}

}  // namespace tessera::detail
