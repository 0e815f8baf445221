// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <tessera/sharding/dim_split.hpp>

namespace tessera {

namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Returns child `index` of a part that is cut by chunk or balanced.
Interval child_of(ShardingRule rule, Interval whole, int children, int index) {
  return rule == ShardingRule::balanced ? balanced_part(whole, children, index)
                                        : chunk(whole, children, index);
}

/// Returns the child that holds `position`. Expects that the part holds it.
int child_with(ShardingRule rule, Interval whole, int children, std::int64_t position) {
  const auto distance = position - whole.begin;
  if (rule != ShardingRule::balanced)
    return static_cast<int>(distance / chunk(whole, children, 0).size());
  const auto size = whole.size() / children;
  const auto larger = whole.size() % children;
  const auto in_larger = larger * (size + 1);
  return static_cast<int>(distance < in_larger ? distance / (size + 1)
                                               : larger + (distance - in_larger) / size);
}

/// Returns a part of a split by chunk, balanced or boundaries. number() gives its number in split
/// order, coordinate(k) its coordinate on the k-th of the mesh dims.
template <class Number, class Coordinate>
Interval interval_of(const DimSplit& split, const Number& number, const Coordinate& coordinate) {
  Interval whole{0, split.extent};
  if (!split.boundaries.empty()) {
    const auto i = at(number());
    whole = {split.boundaries[i], split.boundaries[i + 1]};
  } else {
    for (std::size_t k = 0; k < split.sizes.size(); ++k)
      whole = child_of(split.rule(k), whole, split.sizes[k], coordinate(k));
  }
  return whole.is_empty() ? Interval{split.extent, split.extent} : whole;
}

Interval interval_of_part(const DimSplit& split, int number) {
  return interval_of(
      split, [&] { return number; }, [&](std::size_t k) { return split.coordinate(number, k); });
}

Interval interval_at(const DimSplit& split, std::span<const int> coordinate) {
  return interval_of(
      split, [&] { return split.number(coordinate); },
      [&](std::size_t k) { return coordinate[at(split.mesh_dims[k])]; });
}

/// Returns whether each part is one interval by its rule, whatever extent and block are.
bool has_intervals_by_rule(const DimSplit& split) {
  return detail::can_share_dim(split.rule(0));
}

bool is_cyclic(const DimSplit& split) {
  return split.rule(0) == ShardingRule::cyclic;
}

bool is_head_tail(const DimSplit& split) {
  return split.rule(0) == ShardingRule::head_tail;
}

std::int64_t blocks_of(const DimSplit& split) {
  return split.extent / split.block + (split.extent % split.block != 0 ? 1 : 0);
}

Section cyclic_part(const DimSplit& split, int number) {
  const auto blocks = blocks_of(split);
  if (number >= blocks) return {};
  const std::int64_t parts = split.sizes.front();
  const auto count = (blocks - 1 - number) / parts + 1;
  const auto last = number + (count - 1) * parts;
  const auto in_last = std::min(split.block, split.extent - last * split.block);
  if (count == 1) return section_of({last * split.block, last * split.block + in_last});
  return {number * split.block, split.block, parts * split.block, count, in_last};
}

Interval head_tail_chunk(const DimSplit& split, int number) {
  return chunk({0, split.extent}, 2 * split.sizes.front(), number);
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
      found_.push_back({first, Sections(whole)});
      return;
    }
    const int children = split_.sizes[level];
    const int parts_per_child = parts / children;
    const auto [begin, end] = children_meeting(level, whole, first, parts_per_child);
    for (int child = begin; child < end; ++child) {
      const int first_of_child = first + child * parts_per_child;
      descend(level + 1, child_interval(level, whole, child, first_of_child, parts_per_child),
              first_of_child, parts_per_child);
    }
  }

  Interval child_interval(std::size_t level, Interval whole, int child, int first,
                          int parts) const {
    if (split_.boundaries.empty())
      return child_of(split_.rule(level), whole, split_.sizes[level], child);
    return {boundary(first), boundary(first + parts)};
  }

  std::pair<int, int> children_meeting(std::size_t level, Interval whole, int first,
                                       int parts) const {
    const int only = fixed_[at(split_.mesh_dims[level])];
    if (only >= 0) return {only, only + 1};
    const int children = split_.sizes[level];
    if (split_.boundaries.empty()) {
      const auto rule = split_.rule(level);
      const auto common = intersect(whole, range_);
      return {child_with(rule, whole, children, common.begin),
              child_with(rule, whole, children, common.end - 1) + 1};
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

  std::int64_t boundary(int part) const { return split_.boundaries[at(part)]; }

  const DimSplit& split_;
  Interval range_;
  std::span<const int> fixed_;
  std::vector<Part> found_;
};

/// Returns the numbers of the parts of a cyclic or head-tail split that meet a range, which is not
/// empty; they ascend.
std::vector<int> numbers_meeting(const DimSplit& split, Interval range) {
  const int parts = split.sizes.front();
  std::vector<int> numbers;
  if (is_cyclic(split)) {
    const auto first = range.begin / split.block;
    const auto blocks = std::min<std::int64_t>(parts, (range.end - 1) / split.block - first + 1);
    for (std::int64_t i = 0; i < blocks; ++i)
      numbers.push_back(static_cast<int>((first + i) % parts));
  } else {
    const auto size = head_tail_chunk(split, 0).size();
    for (auto chunk = range.begin / size; chunk <= (range.end - 1) / size; ++chunk)
      numbers.push_back(static_cast<int>(chunk < parts ? chunk : 2 * parts - 1 - chunk));
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

/// Returns whether chunks and balanced parts along one mesh dim agree; nothing for other splits.
std::optional<bool> agree_by_rule(const DimSplit& a, const DimSplit& b) {
  const auto has_one_rule = [](const DimSplit& split) {
    return split.mesh_dims.size() == 1 && split.boundaries.empty() && has_intervals_by_rule(split);
  };
  if (!has_one_rule(a) || !has_one_rule(b) || a.mesh_dims != b.mesh_dims) return {};
  if (a.rule(0) == b.rule(0)) return true;
  const auto rest = a.extent % a.sizes[0];
  return rest == 0 || rest == a.sizes[0] - 1 || a.extent < a.sizes[0];
}

}  // namespace

int DimSplit::parts() const {
  int result = 1;
  for (const int size : sizes) result *= size;
  return result;
}

DimSplit DimSplit::unsliced() const {
  auto result = *this;
  result.extent = whole;
  result.slice = {};
  result.whole = 0;
  return result;
}

bool DimSplit::has_intervals() const {
  if (has_intervals_by_rule(*this)) return true;
  const int parts = this->parts();
  if (parts == 1) return true;
  if (is_slice()) {
    std::int64_t end = 0;
    for (int i = 0; i < parts; ++i) {
      const auto held = part(i);
      if (!held.is_interval() || (!held.empty() && held.hull().begin != end)) return false;
      end += held.extent();
    }
    return true;
  }
  if (is_cyclic(*this)) return blocks_of(*this) <= parts;
  return head_tail_chunk(*this, parts).is_empty();
}

Sections DimSplit::sections(std::span<const int> coordinate) const {
  if (has_intervals_by_rule(*this)) return Sections(interval_at(*this, coordinate));
  return part(number(coordinate));
}

int DimSplit::number(std::span<const int> coordinate) const {
  int result = 0;
  for (std::size_t k = 0; k < mesh_dims.size(); ++k)
    result = result * sizes[k] + coordinate[at(mesh_dims[k])];
  return result;
}

Sections DimSplit::part(int index) const {
  if (has_intervals_by_rule(*this)) return Sections(interval_of_part(*this, index));
  if (is_slice()) return unsliced().part(index).in(slice);
  Sections result;
  if (is_cyclic(*this)) {
    result.push_back(cyclic_part(*this, index));
  } else {
    for (const int number : {index, 2 * sizes.front() - 1 - index})
      result.push_back(section_of(head_tail_chunk(*this, number)));
  }
  return result.empty() ? Sections(Interval{extent, extent}) : result;
}

int DimSplit::coordinate(int index, std::size_t k) const {
  for (auto inner = sizes.size(); inner-- > k + 1;) index /= sizes[inner];
  return index % sizes[k];
}

Interval DimSplit::interval(std::span<const int> coordinate) const {
  if (has_intervals_by_rule(*this)) return interval_at(*this, coordinate);
  return sections(coordinate).hull();
}

std::int64_t DimSplit::size(std::span<const int> coordinate) const {
  if (has_intervals_by_rule(*this)) return interval_at(*this, coordinate).size();
  return sections(coordinate).extent();
}

std::int64_t DimSplit::largest_part() const {
  if (!boundaries.empty()) {
    std::int64_t largest = 0;
    for (std::size_t i = 0; i + 1 < boundaries.size(); ++i)
      largest = std::max(largest, boundaries[i + 1] - boundaries[i]);
    return largest;
  }
  if (is_slice()) {
    std::int64_t largest = 0;
    for (int i = 0; i < parts(); ++i) largest = std::max(largest, part(i).extent());
    return largest;
  }
  // By all rules but head-tail the first part is the largest; there it may be the last one.
  if (has_intervals_by_rule(*this)) return interval_of_part(*this, 0).size();
  const auto first = part(0).extent();
  return is_head_tail(*this) ? std::max(first, part(sizes.front() - 1).extent()) : first;
}

std::vector<std::int64_t> DimSplit::explicit_boundaries() const {
  if (!boundaries.empty()) return boundaries;
  std::vector<std::int64_t> result{0};
  const int parts = this->parts();
  for (int i = 0; i < parts; ++i) result.push_back(result.back() + part(i).extent());
  return result;
}

std::vector<Part> parts_meeting(const DimSplit& split, Interval range, std::span<const int> fixed) {
  if (has_intervals_by_rule(split)) return PartSearch(split, range, fixed).run();
  std::vector<Part> found;
  range = intersect(range, {0, split.extent});
  if (range.is_empty()) return found;
  if (const int only = fixed[at(split.mesh_dims.front())]; only >= 0) {
    const auto part = split.part(only);
    if (common_extent(part, Sections(range)) > 0) found.push_back({only, part});
    return found;
  }
  const auto in_whole = Interval{range.begin + split.slice.begin, range.end + split.slice.begin};
  const auto numbers = split.is_slice() ? numbers_meeting(split.unsliced(), in_whole)
                                        : numbers_meeting(split, range);
  for (const int number : numbers) found.push_back({number, split.part(number)});
  return found;
}

bool agree(const DimSplit& a, const DimSplit& b) {
  if (a == b) return true;
  if (a.extent != b.extent || a.part(0) != b.part(0)) return false;
  if (const auto known = agree_by_rule(a, b)) return *known;
  std::vector<int> shape;
  for (const auto* split : {&a, &b})
    for (std::size_t k = 0; k < split->mesh_dims.size(); ++k) {
      const auto d = at(split->mesh_dims[k]);
      if (shape.size() <= d) shape.resize(d + 1, 1);
      shape[d] = split->sizes[k];
    }
  std::vector<int> coordinate(shape.size(), 0);
  for (;;) {
    if (a.sections(coordinate) != b.sections(coordinate)) return false;
    auto d = shape.size();
    while (d > 0 && ++coordinate[d - 1] == shape[d - 1]) coordinate[--d] = 0;
    if (d == 0) return true;
  }
}

}  // namespace tessera
