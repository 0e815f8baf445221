// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: reductions of several arrays into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tessera/extents/element_type.hpp>
#include <tessera/placement/placement.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/loops.hpp>
#include <tessera/tensor/execution.hpp>

#include "kernels/pack.hpp"
#include "plan/split_point.hpp"

namespace tessera::detail {

/// An Operand is one array of a reduction; its strides are in bytes.
struct Operand {
  std::byte* data;
  LoopArray strides;
};

/// Describes a reduction as loops that are common to all its arrays.
struct Reduction {
  Extents extents;
  Operand destination;
  std::vector<Operand> operands;
  std::int64_t divisor;
  std::int32_t element_size;
  Stores stores = Stores::cached;
  bool operands_are_sums = false;  ///< elements of operands are wide sums
  bool result_is_sum = false;      ///< the result stays a wide sum

  bool is_average() const { return divisor != 1 || operands_are_sums || result_is_sum; }
  std::int64_t bytes() const {
    return product(extents) * element_size * static_cast<std::int64_t>(operands.size() + 1);
  }
};

/// Makes the loops of a reduction. Expects at least one element.
Reduction make_reduction(std::span<const ArrayRef> operands, const ArrayRef& destination,
                         std::int64_t divisor);

/// Runs one kernel for all operands; on a device these are at most `operands_per_kernel`.
void run_reduction(const Execution& execution, ReduceOp op, std::span<const ArrayRef> operands,
                   const ArrayRef& destination, std::int64_t divisor,
                   Stores stores = Stores::cached);
/// Takes loops that were made before. A host kernel may read them until finish_host().
void run_reduction(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                   const std::shared_ptr<const Reduction>& reduction);

/// Returns how many operands reduce_on_host() transposes into scratch memory: those in another
/// memory order than the destination (row-major to column-major), or 0 if the destination is
/// smaller than `serial_bytes`.
std::int64_t transposed_operands(std::span<const ArrayRef> operands, const ArrayRef& destination);

/// Reduces any number of operands in host memory.
void reduce_on_host(const Execution& execution, ReduceOp op, std::span<const ArrayRef> operands,
                    const ArrayRef& destination, std::int64_t divisor, Stores stores);

/// Runs the kernel of an element kind, for run_reduction().
void reduce_integers(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                     const std::shared_ptr<const Reduction>& reduction);
void reduce_floating(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                     const std::shared_ptr<const Reduction>& reduction);
void reduce_complex(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                    const std::shared_ptr<const Reduction>& reduction);
/// Runs the kernel of an average, which sums in wide sums.
void average(const Execution& execution, ElementKind kind, MemorySpace space,
             const std::shared_ptr<const Reduction>& reduction);

}  // namespace tessera::detail
