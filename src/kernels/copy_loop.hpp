// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: copies of blocks as loops over dims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/loops.hpp>
#include <tessera/tensor/execution.hpp>

#include "kernels/pack.hpp"

namespace tessera::detail {

/// Describes a copy as nested loops over runs, which are bytes that are contiguous on both sides.
/// Strides are in bytes, and the outermost loop has the largest destination stride. Without loops,
/// the copy is one run.
struct CopyLoop {
  const std::byte* source = nullptr;
  std::byte* destination = nullptr;
  std::int64_t run = 0;
  Extents extents;
  Extents source_strides;
  Extents destination_strides;
  Stores stores = Stores::cached;

  std::int64_t bytes() const { return product(extents) * run; }
};

/// Makes the fewest loops for a copy. Expects at least one element.
CopyLoop copy_loop(const CopyJob& job);

/// Returns the strides, in elements, of a dense array whose dims have the same order in memory as
/// the dims of `array`.
Extents dense_strides(const ArrayRef& array);

/// Returns whether a copy is transposing: source and destination have their smallest strides along
/// different dims, as from row-major to column-major.
bool is_transposing(const ArrayRef& source, const ArrayRef& destination);

/// Makes copies in host memory; if they are small in total, on the calling thread alone.
void copy_on_host(const Execution& execution, std::span<const CopyLoop> loops);

/// Makes copies in device memory, several in one kernel.
void copy_on_device(const Execution& execution, std::span<const CopyLoop> loops);

}  // namespace tessera::detail
