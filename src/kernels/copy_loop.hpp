// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: copies of blocks as loops over dims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/pack.hpp"
#include "tensor/loops.hpp"

namespace tessera::detail {

/// A copy reduced to loops over runs: bytes that follow one another on both sides. Strides in
/// bytes, outermost loop first by destination stride. No loop: one run.
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

/// Expects at least one element.
CopyLoop copy_loop(const CopyJob& job);

/// Strides, in elements, of a dense array whose dims follow one another in memory as those of
/// `array` do.
Extents dense_strides(const ArrayRef& array);

/// The dim with the smallest stride is not the same: row-major to column-major.
bool is_crosswise(const ArrayRef& source, const ArrayRef& destination);

/// Copies in host memory; small ones in total on the calling thread.
void copy_on_host(const Execution& execution, std::span<const CopyLoop> loops);

/// Copies in device memory, several per kernel.
void copy_on_device(const Execution& execution, std::span<const CopyLoop> loops);

}  // namespace tessera::detail
