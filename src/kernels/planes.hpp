// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: copies that were prepared once, run by host threads.
#pragma once

#include <cstdint>

#include "kernels/copy_loop.hpp"
#include "tensor/loops.hpp"

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
  std::int64_t columns_ahead = 0;  ///< at which runs are fetched
  bool is_transposing = false;
  Stores stores = Stores::cached;
};

Planes make_planes(const CopyLoop& copy);

/// Items first … last - 1, on the calling thread.
void copy_planes(const Planes& planes, std::int64_t first, std::int64_t last);

/// A copy in host memory whose loops are found once, for arrays of the same shape and strides at
/// any addresses.
class PreparedCopy {
 public:
  /// Expects at least one element.
  explicit PreparedCopy(const CopyJob& job)
      : planes_(make_planes(copy_loop(job))), bytes_(job.destination.bytes()) {}

  /// On the calling thread; false, and nothing is done, where threads had better do it.
  bool run(const Execution& execution, const std::byte* source, std::byte* destination,
           Stores stores);

 private:
  Planes planes_;
  std::int64_t bytes_;
};

}  // namespace tessera::detail
