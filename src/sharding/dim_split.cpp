// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tessera/sharding/dim_split.hpp>

namespace tessera {

namespace {

/// Returns the index, in split order, of the part that `coordinate` holds.
std::size_t part_index(const DimSplit& split, std::span<const int> coordinate) {
  std::size_t index = 0;
  for (std::size_t k = 0; k < split.mesh_dims.size(); ++k)
    index = index * static_cast<std::size_t>(split.sizes[k]) +
            static_cast<std::size_t>(coordinate[static_cast<std::size_t>(split.mesh_dims[k])]);
  return index;
}

Interval raw_interval(const DimSplit& split, std::span<const int> coordinate) {
  if (!split.boundaries.empty()) {
    const auto part = part_index(split, coordinate);
    return {split.boundaries[part], split.boundaries[part + 1]};
  }
  Interval whole{0, split.extent};
  for (std::size_t k = 0; k < split.mesh_dims.size(); ++k)
    whole = chunk(whole, split.sizes[k], coordinate[static_cast<std::size_t>(split.mesh_dims[k])]);
  return whole;
}

class PartSearch {
 public:
  PartSearch(const DimSplit& split, Interval range, std::span<const int> fixed)
      : split_(split), range_(range), fixed_(fixed) {}

  std::vector<Part> run() {
    descend(0, {0, split_.extent}, 0, split_.parts());
    return std::move(found_);
  }

 private:
  /// Visits the parts [first, first + parts) that make up `whole`, split at `level` and below.
  void descend(std::size_t level, Interval whole, int first, int parts) {
    if (intersect(whole, range_).is_empty()) return;
    if (level == split_.sizes.size()) {
      found_.push_back({coordinate_, whole});
      return;
    }
    const int children = split_.sizes[level];
    const int parts_per_child = parts / children;
    const auto [begin, end] = children_meeting(level, whole, first, parts_per_child);
    for (int child = begin; child < end; ++child) {
      coordinate_.push_back(child);
      const int first_of_child = first + child * parts_per_child;
      descend(level + 1, child_interval(level, whole, child, first_of_child, parts_per_child),
              first_of_child, parts_per_child);
      coordinate_.pop_back();
    }
  }

  Interval child_interval(std::size_t level, Interval whole, int child, int first,
                          int parts) const {
    if (split_.boundaries.empty()) return chunk(whole, split_.sizes[level], child);
    return {boundary(first), boundary(first + parts)};
  }

  std::pair<int, int> children_meeting(std::size_t level, Interval whole, int first,
                                       int parts) const {
    const int only = fixed_[static_cast<std::size_t>(split_.mesh_dims[level])];
    if (only >= 0) return {only, only + 1};
    const int children = split_.sizes[level];
    if (split_.boundaries.empty()) {
      const auto step = chunk(whole, children, 0).size();
      const auto common = intersect(whole, range_);
      return {static_cast<int>((common.begin - whole.begin) / step),
              static_cast<int>((common.end - 1 - whole.begin) / step) + 1};
    }
    int begin = 0;
    for (int width = children; width > 0;) {  // finds the first child that ends after range_.begin
      const int half = width / 2;
      if (boundary(first + (begin + half + 1) * parts) > range_.begin) {
        width = half;
      } else {
        begin += half + 1;
        width -= half + 1;
      }
    }
    int end = begin;
    while (end < children && boundary(first + end * parts) < range_.end) ++end;
    return {begin, end};
  }

  std::int64_t boundary(int part) const {
    return split_.boundaries[static_cast<std::size_t>(part)];
  }

  const DimSplit& split_;
  Interval range_;
  std::span<const int> fixed_;
  std::vector<int> coordinate_;
  std::vector<Part> found_;
};

}  // namespace

int DimSplit::parts() const {
  int result = 1;
  for (const int size : sizes) result *= size;
  return result;
}

Interval DimSplit::interval(std::span<const int> coordinate) const {
  const auto result = raw_interval(*this, coordinate);
  return result.is_empty() ? Interval{extent, extent} : result;
}

std::int64_t DimSplit::largest_part() const {
  if (boundaries.empty()) {
    Interval whole{0, extent};
    for (const int size : sizes) whole = chunk(whole, size, 0);
    return whole.size();
  }
  std::int64_t largest = 0;
  for (std::size_t i = 0; i + 1 < boundaries.size(); ++i)
    largest = std::max(largest, boundaries[i + 1] - boundaries[i]);
  return largest;
}

std::vector<std::int64_t> DimSplit::explicit_boundaries() const {
  if (!boundaries.empty()) return boundaries;
  std::vector<std::int64_t> result{0, extent};
  for (const int size : sizes) {
    std::vector<std::int64_t> finer{0};
    for (std::size_t i = 0; i + 1 < result.size(); ++i)
      for (int child = 0; child < size; ++child)
        finer.push_back(chunk({result[i], result[i + 1]}, size, child).end);
    result = std::move(finer);
  }
  return result;
}

std::vector<Part> parts_meeting(const DimSplit& split, Interval range, std::span<const int> fixed) {
  return PartSearch(split, range, fixed).run();
}

}  // namespace tessera
