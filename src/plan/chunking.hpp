// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: divides blocks into chunks.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tessera/extents/box.hpp>

namespace tessera::detail {

/// Divides a box into the chunks in which it travels: sub-boxes, one after another in row-major
/// order. The chunks depend on shape and sizes alone, so that sender and receiver make the same
/// ones.
///
/// Example: shape {2, 10, 4} in chunks of at most 16 elements: {1, 4, 4} at 0, 4 and 8 (there
/// {1, 2, 4}), first for index 0, then for index 1 of the first dim.
class Chunking {
 public:
  Chunking() = default;
  /// Makes chunks of at most `most_bytes` bytes, but at least one element. Expects no extent 0.
  Chunking(const Extents& shape, std::int32_t element_size, std::int64_t most_bytes);

  std::int64_t chunks() const { return chunks_; }
  Box chunk(std::int64_t index) const;

 private:
  Extents shape_;
  std::size_t dim_ = 0;  ///< the dim that is divided; chunks have one index of each dim before it
  std::int64_t thickness_ = 1;  ///< extent of a chunk along dim_
  std::int64_t chunks_per_row_ = 1;
  std::int64_t chunks_ = 1;
};

}  // namespace tessera::detail
