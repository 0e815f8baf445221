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

#include "kernels/pack.hpp"
#include "plan/split_point.hpp"
#include "tensor/loops.hpp"

namespace tessera::detail {

/// One array of a reduction; strides in bytes.
struct Operand {
  std::byte* data;
  LoopArray strides;
};

/// A reduction as loops common to all its arrays.
struct Reduction {
  Extents extents;
  Operand destination;
  std::vector<Operand> terms;
  std::int64_t divisor;
  std::int32_t element_size;
  Stores stores = Stores::cached;

  std::int64_t bytes() const {
    return product(extents) * element_size * static_cast<std::int64_t>(terms.size() + 1);
  }
};

/// Expects at least one element.
Reduction make_reduction(std::span<const ArrayRef> terms, const ArrayRef& destination,
                         std::int64_t divisor);

/// One kernel for all; on a device for at most device_terms terms.
void run_reduction(const Execution& execution, ReduceOp op, std::span<const ArrayRef> terms,
                   const ArrayRef& destination, std::int64_t divisor,
                   Stores stores = Stores::cached);
/// The same for loops that were found before. A host kernel may read them until finish_host().
void run_reduction(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                   const std::shared_ptr<const Reduction>& reduction);

/// How many terms reduce_on_host() turns into scratch: those that lie crosswise to the destination
/// (row-major to column-major), unless that is small.
std::int64_t turned_terms(std::span<const ArrayRef> terms, const ArrayRef& destination);

/// Any number of terms in host memory.
void reduce_on_host(const Execution& execution, ReduceOp op, std::span<const ArrayRef> terms,
                    const ArrayRef& destination, std::int64_t divisor, Stores stores);

/// What run_reduction calls, by kind.
void reduce_integers(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                     const std::shared_ptr<const Reduction>& reduction);
void reduce_floating(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                     const std::shared_ptr<const Reduction>& reduction);
void reduce_complex(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                    const std::shared_ptr<const Reduction>& reduction);

}  // namespace tessera::detail
