// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/extents/box.hpp>

namespace tessera::perf {

/// A Block is a box of a row-major array that is restricted along at most one dim: `rows` runs of
/// `length` elements, whose beginnings are `stride` elements apart.
struct Block {
  double* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;

  std::int64_t size() const { return rows * length; }
  bool is_contiguous() const { return rows <= 1; }
};

/// Returns the box `part` of the array at `data`, which holds the box `array`.
///
/// Errors: InvalidArgument if `part` is restricted along more than one dim.
Block block(double* data, const Box& array, const Box& part);

/// Calls f(run, position, length) for each contiguous run of the elements `range` of the block.
/// `range` and `position` count elements in packed order.
template <class Function>
void for_each_run(const Block& block, Interval range, const Function& f) {
  if (range.is_empty()) return;
  auto column = range.begin % block.length;
  const auto* const end = block.data + block.rows * block.stride;
  for (auto* row = block.data + range.begin / block.length * block.stride;
       range.begin < range.end && row != end; row += block.stride, column = 0) {
    const auto length = std::min(block.length - column, range.size());
    f(row + column, range.begin, length);
    range.begin += length;
  }
}

void pack(const Block& from, Interval range, double* to);
void pack(const Block& from, double* to);
void unpack(const double* from, const Block& to);
/// Copies the elements of one block to another block of the same shape.
void copy(const Block& from, const Block& to);

}  // namespace tessera::perf
