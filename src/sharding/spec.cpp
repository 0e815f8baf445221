// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera {

struct DTensorSpec::Data {
  MeshLayout layout;
  Placements placements;
  Extents shape;
  Boundaries boundaries;
  std::vector<DimSplit> splits;
  bool has_boxes;
  std::uint64_t hash;
};

namespace {

void require_one_per_mesh_dim(const MeshLayout& layout, const Placements& placements) {
  require(std::ssize(placements) == layout.ndim(), [&] {
    return fmt::format("expected {} placement{} for mesh {}, got {} ({})", layout.ndim(),
                       layout.ndim() == 1 ? "" : "s", to_string(layout), placements.size(),
                       to_string(placements));
  });
}

void set_rules(DimSplit& split, const Placements& placements) {
  split.rules.clear();
  for (const int mesh_dim : split.mesh_dims) {
    const auto& placement = placements[static_cast<std::size_t>(mesh_dim)];
    split.rules.push_back(placement.rule());
    split.block = placement.block();
  }
}

std::vector<DimSplit> splits_by_rule(const MeshLayout& layout, const Placements& placements,
                                     const Extents& shape) {
  std::vector<DimSplit> splits(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    splits[d].extent = shape[d];
    splits[d].mesh_dims = placements.split_order(static_cast<int>(d));
    for (const int mesh_dim : splits[d].mesh_dims) {
      const auto i = static_cast<std::size_t>(mesh_dim);
      splits[d].sizes.push_back(layout.shape()[i]);
      if (placements[i].rule() != ShardingRule::chunk) set_rules(splits[d], placements);
    }
  }
  return splits;
}

void require_cut(const std::vector<std::int64_t>& boundaries, const DimSplit& split,
                 std::size_t dim) {
  const bool is_cut = std::ssize(boundaries) == split.parts() + 1 && boundaries.front() == 0 &&
                      boundaries.back() == split.extent && std::ranges::is_sorted(boundaries);
  require(is_cut, [&] {
    return fmt::format(
        "expected boundaries of tensor dim {} as {} ascending positions from 0 to {}, got [{}]",
        dim, split.parts() + 1, split.extent, fmt::join(boundaries, ", "));
  });
}

/// Throws for boundaries of a dim whose shardings say by which rule it is cut.
void require_shard(const DimSplit& split, std::size_t dim, const Placements& placements,
                   const std::vector<std::int64_t>& boundaries) {
  require(split.rules.empty(), [&] {
    return fmt::format(
        "expected Shard where tensor dim {} has boundaries that are not those of the rule, got {} "
        "and [{}]",
        dim, to_string(placements), fmt::join(boundaries, ", "));
  });
}

bool has_slices(const DimSplit& split) {
  return !split.rules.empty() && !detail::can_share_dim(split.rule(0));
}

/// Sets the slice of a longer dim that a list of two numbers describes. Returns the list, or none if
/// the dim lies as a dim of its own does. By cyclic, what lies behind the slice does not count, nor do
/// whole periods before it.
std::vector<std::int64_t> sliced(std::vector<std::int64_t> list, DimSplit& split, std::size_t dim) {
  const bool is_slice = list.size() == 2 && list[0] >= 0 && list[1] >= split.extent &&
                        list[0] <= list[1] - split.extent;
  require(is_slice, [&] {
    return fmt::format(
        "expected two numbers for tensor dim {} of extent {}, sharded by {}: where it begins in a "
        "longer dim, and the extent of that; got [{}]",
        dim, split.extent, split.rule(0) == ShardingRule::cyclic ? "Cyclic" : "HeadTail",
        fmt::join(list, ", "));
  });
  if (split.rule(0) == ShardingRule::cyclic) {
    list[0] %= split.block * split.sizes.front();
    list[1] = list[0] + split.extent;
  }
  if (list[1] == split.extent) return {};
  split.slice = {list[0], list[0] + split.extent};
  split.whole = list[1];
  return list;
}

/// Returns `boundaries` without the lists that equal those of the rules. Copies the other lists to
/// `splits`.
Boundaries canonical(Boundaries boundaries, const Placements& placements,
                     std::vector<DimSplit>& splits) {
  require(boundaries.empty() || boundaries.size() == splits.size(), [&] {
    return fmt::format("expected boundaries for {} tensor dims, got {} lists", splits.size(),
                       boundaries.size());
  });
  boundaries.resize(splits.size());
  for (std::size_t d = 0; d < splits.size(); ++d) {
    if (boundaries[d].empty()) continue;
    if (has_slices(splits[d]) && boundaries[d].size() == 2) {
      boundaries[d] = sliced(std::move(boundaries[d]), splits[d], d);
      continue;
    }
    require_cut(boundaries[d], splits[d], d);
    if (splits[d].has_intervals() && boundaries[d] == splits[d].explicit_boundaries()) {
      boundaries[d].clear();
    } else {
      require_shard(splits[d], d, placements, boundaries[d]);
      splits[d].boundaries = boundaries[d];
    }
  }
  return boundaries;
}

std::uint64_t hash_of(const MeshLayout& layout, const Placements& placements, const Extents& shape,
                      const Boundaries& boundaries) {
  auto hash = hash_range(hash_combine(layout.hash(), placements.hash()), shape);
  for (const auto& list : boundaries) hash = hash_range(hash, list);
  return hash;
}

}  // namespace

DTensorSpec::DTensorSpec() : DTensorSpec(MeshLayout(), Placements(), Extents()) {}

DTensorSpec detail::make_spec(MeshLayout layout, const Placements& placements, const Extents& shape,
                              Boundaries boundaries) {
  require_one_per_mesh_dim(layout, placements);
  checked_product(shape);
  auto resolved = detail::resolved(placements, static_cast<int>(shape.size()));
  auto splits = splits_by_rule(layout, resolved, shape);
  boundaries = canonical(std::move(boundaries), resolved, splits);
  const auto hash = hash_of(layout, resolved, shape, boundaries);
  const bool has_boxes = std::ranges::all_of(splits, &DimSplit::has_intervals);
  return DTensorSpec(std::make_shared<const DTensorSpec::Data>(
      DTensorSpec::Data{std::move(layout), std::move(resolved), shape, std::move(boundaries),
                        std::move(splits), has_boxes, hash}));
}

DTensorSpec::DTensorSpec(MeshLayout layout, const Placements& placements, const Extents& shape,
                         Boundaries boundaries)
    : DTensorSpec(detail::named("DTensorSpec", [&] {
        return detail::make_spec(std::move(layout), placements, shape, std::move(boundaries));
      })) {}

const MeshLayout& DTensorSpec::layout() const {
  return data_->layout;
}
const Placements& DTensorSpec::placements() const {
  return data_->placements;
}
const Extents& DTensorSpec::shape() const {
  return data_->shape;
}
const Boundaries& DTensorSpec::boundaries() const {
  return data_->boundaries;
}
const DimSplit& DTensorSpec::split(std::size_t tensor_dim) const {
  return data_->splits[tensor_dim];
}
std::uint64_t DTensorSpec::hash() const {
  return data_->hash;
}

bool DTensorSpec::has_boxes() const {
  return data_->has_boxes;
}

void detail::require_boxes(const DTensorSpec& spec) {
  require(spec.has_boxes(), [&] {
    return fmt::format(
        "expected pieces that are boxes, got {}; global_index() tells which indices a rank holds",
        to_string(spec));
  });
}

Box DTensorSpec::piece(std::span<const int> coordinate) const {
  detail::require_boxes(*this);
  Box result;
  for (const auto& split : data_->splits) {
    const auto interval = split.interval(coordinate);
    result.offset.push_back(interval.begin);
    result.shape.push_back(interval.size());
  }
  return result;
}

Piece DTensorSpec::sections(std::span<const int> coordinate) const {
  Piece result;
  result.sections.reserve(data_->splits.size());
  for (const auto& split : data_->splits) result.sections.push_back(split.sections(coordinate));
  return result;
}

namespace {

void require_coordinate(const MeshLayout& layout, const std::vector<int>& coordinate) {
  bool is_on_mesh = std::ssize(coordinate) == layout.ndim();
  for (std::size_t d = 0; is_on_mesh && d < coordinate.size(); ++d)
    is_on_mesh = 0 <= coordinate[d] && coordinate[d] < layout.shape()[d];
  require(is_on_mesh, [&] {
    return fmt::format("DTensorSpec: expected a coordinate of mesh {}, got ({})", to_string(layout),
                       fmt::join(coordinate, ", "));
  });
}

/// Returns the blocks of the sections as intervals; [extent, extent) if there are none.
std::vector<Interval> intervals_of(const Sections& sections, std::int64_t extent) {
  std::vector<Interval> result;
  for (const auto& section : sections)
    for (std::int64_t i = 0; i < section.count; ++i) result.push_back(section.interval(i));
  if (result.empty()) result.push_back({extent, extent});
  return result;
}

}  // namespace

std::vector<Box> DTensorSpec::pieces(const std::vector<int>& coordinate) const {
  require_coordinate(layout(), coordinate);
  std::vector<Box> boxes{Box()};
  for (const auto& split : data_->splits) {
    std::vector<Box> next;
    for (const auto& box : boxes)
      for (const auto& interval : intervals_of(split.sections(coordinate), split.extent)) {
        next.push_back(box);
        next.back().offset.push_back(interval.begin);
        next.back().shape.push_back(interval.size());
      }
    boxes = std::move(next);
  }
  return boxes;
}

Extents DTensorSpec::local_shape(const std::vector<int>& coordinate) const {
  require_coordinate(layout(), coordinate);
  Extents result;
  for (const auto& split : data_->splits) result.push_back(split.size(coordinate));
  return result;
}
Extents DTensorSpec::local_shape(int mesh_rank) const {
  return local_shape(layout().coordinate(mesh_rank));
}
Extents DTensorSpec::global_offset(const std::vector<int>& coordinate) const {
  require_coordinate(layout(), coordinate);
  return detail::named("global_offset", [&] { return piece(coordinate).offset; });
}
Extents DTensorSpec::global_offset(int mesh_rank) const {
  return global_offset(layout().coordinate(mesh_rank));
}

namespace {

/// Returns what a mesh rank holds along a tensor dim. Throws for a dim out of range.
Sections sections_along(const DTensorSpec& spec, int mesh_rank, int tensor_dim) {
  require(0 <= tensor_dim && tensor_dim < spec.tensor_dims(), [&] {
    return fmt::format("expected a dim of a {}-d tensor, got {}", spec.tensor_dims(), tensor_dim);
  });
  return spec.split(static_cast<std::size_t>(tensor_dim))
      .sections(spec.layout().coordinate(mesh_rank));
}

}  // namespace

std::int64_t DTensorSpec::global_index(int mesh_rank, int tensor_dim, std::int64_t local) const {
  return detail::named("global_index", [&] {
    const auto held = sections_along(*this, mesh_rank, tensor_dim);
    require(0 <= local && local < held.extent(), [&] {
      return fmt::format("expected a local index below {}, got {}", held.extent(), local);
    });
    return held.global_index(local);
  });
}

std::optional<std::int64_t> DTensorSpec::local_index(int mesh_rank, int tensor_dim,
                                                     std::int64_t global) const {
  return detail::named("local_index", [&] {
    const auto held = sections_along(*this, mesh_rank, tensor_dim);
    const auto extent = shape()[static_cast<std::size_t>(tensor_dim)];
    require(0 <= global && global < extent, [&] {
      return fmt::format("expected a global index below {}, got {}", extent, global);
    });
    return held.local_index(global);
  });
}

Extents DTensorSpec::largest_local_shape() const {
  Extents result;
  for (const auto& split : data_->splits) result.push_back(split.largest_part());
  return result;
}

int DTensorSpec::owner(const Extents& index) const {
  std::vector<int> coordinate(layout().shape().size(), 0);
  const std::vector<int> any(coordinate.size(), -1);
  bool is_inside = index.size() == shape().size();
  for (std::size_t d = 0; is_inside && d < index.size(); ++d) {
    const auto parts = parts_meeting(split(d), {index[d], index[d] + 1}, any);
    is_inside = !parts.empty();
    for (std::size_t k = 0; is_inside && k < split(d).mesh_dims.size(); ++k)
      coordinate[static_cast<std::size_t>(split(d).mesh_dims[k])] =
          split(d).coordinate(parts.front().index, k);
  }
  require(is_inside, [&] {
    return fmt::format("owner: expected an index of shape {}, got {}", to_string(shape()),
                       to_string(index));
  });
  return layout().mesh_rank(coordinate);
}

bool operator==(const DTensorSpec& a, const DTensorSpec& b) {
  return a.data_ == b.data_ ||
         (a.hash() == b.hash() && a.layout() == b.layout() && a.placements() == b.placements() &&
          a.shape() == b.shape() && a.boundaries() == b.boundaries());
}

namespace {

/// Returns whether two specs agree() but for Partials along mesh dims of fewer than `ranks` ranks.
bool agree_from(int ranks, const DTensorSpec& a, const DTensorSpec& b) {
  if (a == b) return true;
  if (a.layout() != b.layout() || a.shape() != b.shape()) return false;
  for (std::size_t d = 0; d < a.placements().size(); ++d) {
    if (a.layout().shape()[d] < ranks) continue;
    const auto& first = a.placements()[d];
    const auto& second = b.placements()[d];
    if ((first.is_partial() || second.is_partial()) && first != second) return false;
  }
  for (std::size_t d = 0; d < a.shape().size(); ++d)
    if (!agree(a.split(d), b.split(d))) return false;
  return true;
}

}  // namespace

bool agree(const DTensorSpec& a, const DTensorSpec& b) {
  return agree_from(1, a, b);
}

bool detail::hold_alike(const DTensorSpec& a, const DTensorSpec& b) {
  return agree_from(2, a, b);
}

bool detail::agree_but_for_rules(const DTensorSpec& a, const DTensorSpec& b) {
  if (a == b) return true;
  if (a.placements().size() != b.placements().size()) return false;
  for (std::size_t d = 0; d < a.placements().size(); ++d) {
    const auto& first = a.placements()[d];
    const auto& second = b.placements()[d];
    const bool shard_one_dim = first.is_shard() && second.is_shard(first.dim());
    if (first != second && !shard_one_dim) return false;
  }
  return agree(a, b);
}

std::string to_string(const DTensorSpec& spec) {
  auto text = fmt::format("{} on {} as {}", to_string(spec.shape()), to_string(spec.layout()),
                          to_string(spec.placements()));
  for (std::size_t d = 0; d < spec.shape().size(); ++d)
    if (const auto& split = spec.split(d); split.is_slice())
      text += fmt::format(", dim {} from {} of {}", d, split.slice.begin, split.whole);
    else if (!spec.boundaries()[d].empty())
      text += fmt::format(", dim {} cut at [{}]", d, fmt::join(spec.boundaries()[d], ", "));
  return text;
}

DTensorSpec detail::spec_with(const DTensorSpec& spec, const Placements& placements) {
  require_one_per_mesh_dim(spec.layout(), placements);
  const auto resolved = detail::resolved(placements, spec.tensor_dims());
  auto boundaries = spec.boundaries();
  const auto is_shard = [&](int mesh_dim) {
    return resolved[static_cast<std::size_t>(mesh_dim)].rule() == ShardingRule::chunk;
  };
  for (std::size_t d = 0; d < boundaries.size(); ++d) {
    const auto order = resolved.split_order(static_cast<int>(d));
    const auto is_as_before = [&](int mesh_dim) {
      const auto m = static_cast<std::size_t>(mesh_dim);
      return resolved[m] == spec.placements()[m];
    };
    const bool stays = spec.split(d).is_slice() ? std::ranges::all_of(order, is_as_before)
                                                : std::ranges::all_of(order, is_shard);
    if (order != spec.split(d).mesh_dims || !stays) boundaries[d].clear();
  }
  return make_spec(spec.layout(), resolved, spec.shape(), std::move(boundaries));
}

DTensorSpec with_placements(const DTensorSpec& spec, const Placements& placements) {
  return detail::named("with_placements", [&] { return detail::spec_with(spec, placements); });
}

std::ostream& operator<<(std::ostream& out, const DTensorSpec& value) {
  return out << to_string(value);
}

}  // namespace tessera
