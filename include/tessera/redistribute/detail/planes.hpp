// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/redistribute/detail/copy_loop.hpp>
#include <tessera/tensor/detail/loops.hpp>

namespace tessera::detail {

/// A copy on the host, as planes of rows and columns of runs. Along columns the destination is
/// walked best.
///
/// One item is some rows of one plane. A copy is transposing if the source is walked best along
/// rows: then it goes in blocks of about a cache line squared, by way of a buffer, so that every
/// cache line is read and written once.
struct Planes {
  const std::byte* source = nullptr;
  std::byte* destination = nullptr;
  std::int64_t run = 0;
  Loops rows;  ///< all loops but that over columns
  LoopArray source_strides{};
  LoopArray destination_strides{};
  std::int64_t columns = 1;
  std::int64_t source_column_stride = 0;
  std::int64_t destination_column_stride = 0;
  bool is_transposing = false;
  Stores stores = Stores::cached;
};

Planes make_planes(const CopyLoop& copy);

/// Items first … last - 1, on the calling thread.
void copy_planes(const Planes& planes, std::int64_t first, std::int64_t last);

}  // namespace tessera::detail
