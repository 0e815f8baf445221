// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <tessera/extents/extents.hpp>

namespace tessera {

/// The half-open range [begin, end) of one tensor dim.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  constexpr std::int64_t size() const { return end - begin; }
  constexpr bool is_empty() const { return end <= begin; }
  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};

/// What both intervals cover; empty where they do not meet.
constexpr Interval intersect(Interval a, Interval b) {
  const auto begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// `inner` lies in `outer`; an empty one lies anywhere.
constexpr bool contains(Interval outer, Interval inner) {
  return inner.is_empty() || (outer.begin <= inner.begin && inner.end <= outer.end);
}

/// A product of intervals, one per tensor dim: offset and shape, in elements.
struct Box {
  Extents offset;
  Extents shape;

  std::int64_t size() const { return product(shape); }
  bool is_empty() const { return size() == 0; }
  Interval interval(std::size_t dim) const { return {offset[dim], offset[dim] + shape[dim]}; }
  friend bool operator==(const Box&, const Box&) = default;
};

/// What both boxes cover; with extents 0 where they do not meet.
Box intersect(const Box& a, const Box& b);

/// "[0:4, 2:5]".
std::string to_string(const Box& box);

}  // namespace tessera
