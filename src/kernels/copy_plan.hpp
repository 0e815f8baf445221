// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: copies that were prepared once, run by host threads.
#pragma once

#include <cstdint>

#include <tessera/tensor/detail/loops.hpp>
#include <tessera/tensor/execution.hpp>

#include "kernels/copy_loop.hpp"

namespace tessera::detail {

/// Describes a copy on the host as 2-D copies: rows and columns of contiguous runs. In the
/// destination, the stride between columns is the smallest.
///
/// One item is some rows of one 2-D copy. A copy of short runs is transposing if in the source the
/// stride between rows is smaller than that between columns. It then goes through a buffer in
/// blocks of about a cache line squared, so that every cache line is read and written once.
struct CopyPlan {
  const std::byte* source = nullptr;
  std::byte* destination = nullptr;
  std::int64_t run = 0;
  Loops rows;  ///< all loops except the one over columns
  LoopArray source_strides{};
  LoopArray destination_strides{};
  std::int64_t columns = 1;
  std::int64_t source_column_stride = 0;
  std::int64_t destination_column_stride = 0;
  std::int64_t columns_ahead = 0;  ///< distance at which runs are prefetched; `columns`: none
  bool is_transposing = false;
  Stores stores = Stores::cached;
};

CopyPlan make_copy_plan(const CopyLoop& copy);

/// Copies items first … last - 1 on the calling thread.
void run_copy_plan(const CopyPlan& plan, std::int64_t first, std::int64_t last);

/// A PreparedCopy is a copy in host memory whose loops are found once, for arrays of the same shape
/// and strides at any addresses.
class PreparedCopy {
 public:
  /// Finds the loops of `job`. Expects at least one element.
  explicit PreparedCopy(const CopyJob& job)
      : plan_(make_copy_plan(copy_loop(job))), bytes_(job.destination.bytes()) {}

  /// Copies on the calling thread. Returns false, without copying, if several threads should do it.
  bool run(const Execution& execution, const std::byte* source, std::byte* destination,
           Stores stores);

 private:
  CopyPlan plan_;
  std::int64_t bytes_;
};

}  // namespace tessera::detail
