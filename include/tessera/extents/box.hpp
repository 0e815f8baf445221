// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <tessera/extents/extents.hpp>

namespace tessera {

/// An Interval is the half-open range [begin, end) of one tensor dim.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  constexpr std::int64_t size() const { return end - begin; }
  constexpr bool is_empty() const { return end <= begin; }
  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};

/// Returns what both intervals cover, which is empty if they do not meet.
constexpr Interval intersect(Interval a, Interval b) {
  const auto begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// Returns whether `inner` lies in `outer`; every interval contains the empty ones.
constexpr bool contains(Interval outer, Interval inner) {
  return inner.is_empty() || (outer.begin <= inner.begin && inner.end <= outer.end);
}

/// A Box is a product of intervals, one per tensor dim, given by offset and shape in elements.
struct Box {
  Extents offset;
  Extents shape;

  std::int64_t size() const { return product(shape); }
  bool is_empty() const { return size() == 0; }
  Interval interval(std::size_t dim) const { return {offset[dim], offset[dim] + shape[dim]}; }
  friend bool operator==(const Box&, const Box&) = default;
};

/// Returns what both boxes cover, with extent 0 in each tensor dim in which they do not meet.
Box intersect(const Box& a, const Box& b);

/// Returns the box as text: "[0:4, 2:5]".
std::string to_string(const Box& box);

}  // namespace tessera
