// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <tessera/error/error.hpp>
#include <tessera/tensor/detail/launch.hpp>

#include "kernels/copy_loop.hpp"
#include "kernels/device_reduce.hpp"
#include "kernels/pack.hpp"
#include "kernels/reduction.hpp"
#include "placement/can_reduce.hpp"
#include "placement/wide_sum.hpp"

namespace tessera::detail {
namespace {

void check(ReduceOp op, ElementType type, std::size_t operands, std::int64_t divisor) {
  named("reduce", [&] { require_reducible(op, type); });
  require(operands >= 1, "reduce: expected at least 1 operand, got 0");
  const bool may_divide = divisor > 1 && (op == ReduceOp::sum || op == ReduceOp::avg) &&
                          can_reduce(ReduceOp::avg, type.kind);
  require(divisor == 1 || may_divide, [&] {
    return "reduce: expected divisor 1 for " + to_string(op) + " of " + to_string(type) + ", got " +
           std::to_string(divisor);
  });
}

/// Reduces groups of operands first, which are branches of the tree, then the results of the
/// groups.
void reduce_on_device(const Execution& execution, ReduceOp op, std::span<const ArrayRef> operands,
                      const ArrayRef& destination, std::int64_t divisor) {
  if (operands.size() <= operands_per_kernel)
    return run_reduction(execution, op, operands, destination, divisor);
  const auto groups = (operands.size() + operands_per_kernel - 1) / operands_per_kernel;
  const auto type = partial_type(destination.type, divisor);
  const auto bytes = static_cast<std::size_t>(destination.size() * type.size);
  const Kokkos::View<std::byte*, Kokkos::DefaultExecutionSpace::memory_space> scratch(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "tessera::detail::reduce scratch"),
      groups * bytes);
  std::vector<ArrayRef> partial;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto first = g * operands_per_kernel;
    const auto size = std::min<std::size_t>(operands_per_kernel, operands.size() - first);
    partial.push_back({scratch.data() + g * bytes, type, destination.extents,
                       dense_strides(destination), destination.space});
    run_reduction(execution, op, operands.subspan(first, size), partial.back(), 1);
  }
  reduce_on_device(execution, op, partial, destination, divisor);
  execution.instance<MemorySpace::device>().fence("tessera::detail::reduce: scratch is freed");
}

}  // namespace

Reduction make_reduction(std::span<const ArrayRef> operands, const ArrayRef& destination,
                         std::int64_t divisor) {
  std::vector<Extents> strides{destination.strides};
  for (auto& stride : strides.front()) stride *= destination.type.size;
  for (const auto& operand : operands) {
    strides.push_back(operand.strides);
    for (auto& stride : strides.back()) stride *= operand.type.size;
  }

  Reduction result{destination.extents, {}, {}, divisor, destination.type.size};
  result.operands_are_sums = is_wide_sum(operands.front().type);
  result.result_is_sum = is_wide_sum(destination.type);
  simplify(result.extents, strides);
  result.destination = {destination.data, loop_strides(strides[0])};
  for (std::size_t t = 0; t < operands.size(); ++t)
    result.operands.push_back({operands[t].data, loop_strides(strides[t + 1])});
  return result;
}

void run_reduction(const Execution& execution, ReduceOp op, std::span<const ArrayRef> operands,
                   const ArrayRef& destination, std::int64_t divisor, Stores stores) {
  auto reduction = make_reduction(operands, destination, divisor);
  reduction.stores = stores;
  run_reduction(execution, op, destination.type.kind, destination.space,
                std::make_shared<const Reduction>(std::move(reduction)));
}

void run_reduction(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                   const std::shared_ptr<const Reduction>& reduction) {
  if (reduction->is_average())
    average(execution, kind, space, reduction);
  else if (is_complex(kind))
    reduce_complex(execution, op, kind, space, reduction);
  else if (is_floating(kind))
    reduce_floating(execution, op, kind, space, reduction);
  else
    reduce_integers(execution, op, kind, space, reduction);
}

void reduce(const Execution& execution, ReduceOp op, std::span<const ArrayRef> operands,
            const ArrayRef& destination, std::int64_t divisor, Stores stores) {
  check(op, destination.type, operands.size(), divisor);
  if (destination.bytes() == 0) return;
  if (is_on_device(destination.space))
    reduce_on_device(execution, op, operands, destination, divisor);
  else
    reduce_on_host(execution, op, operands, destination, divisor, stores);
}

}  // namespace tessera::detail
