// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/movement/reshape.hpp>
#include <tessera/tensor/detail/launch.hpp>

#include "engine/scratch.hpp"
#include "kernels/pack.hpp"
#include "movement/run_needs.hpp"

namespace tessera::detail {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Names dims of both shapes that hold the same elements: old dims [old_first, old_last) and new dims
/// [new_first, new_last).
struct DimGroup {
  std::size_t old_first;
  std::size_t old_last;
  std::size_t new_first;
  std::size_t new_last;

  bool is_same_dim(const Extents& from, const Extents& to) const {
    return old_last - old_first == 1 && new_last - new_first == 1 &&
           from[old_first] == to[new_first];
  }
};

std::int64_t product_of(const Extents& shape, std::size_t first, std::size_t last) {
  std::int64_t result = 1;
  for (auto d = first; d < last; ++d) result *= shape[d];
  return result;
}

/// Returns the finest groups. Expects that no extent is 0. Dims of extent 1 at the end belong to the
/// last group.
std::vector<DimGroup> groups_of(const Extents& from, const Extents& to) {
  std::vector<DimGroup> groups;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() && j < to.size()) {
    DimGroup group{i, i + 1, j, j + 1};
    auto old_size = from[i++];
    auto new_size = to[j++];
    while (old_size != new_size)
      if (old_size < new_size)
        old_size *= from[i++];
      else
        new_size *= to[j++];
    group.old_last = i;
    group.new_last = j;
    groups.push_back(group);
  }
  if (groups.empty()) groups.push_back({0, 0, 0, 0});
  groups.back().old_last = from.size();
  groups.back().new_last = to.size();
  return groups;
}

/// Returns the first dim of a range whose extent is not 1; the first one of all if there is none.
std::size_t leading_dim(const Extents& shape, std::size_t first, std::size_t last) {
  for (auto d = first; d < last; ++d)
    if (shape[d] != 1) return d;
  return first;
}

/// Lists the mesh dims that shard a dim of the group, in split order of the first dim, then of the next
/// one.
std::vector<int> mesh_dims_of(const DTensorSpec& spec, const DimGroup& group) {
  std::vector<int> result;
  for (auto d = group.old_first; d < group.old_last; ++d)
    for (const int mesh_dim : spec.split(d).mesh_dims) result.push_back(mesh_dim);
  return result;
}

/// Says how the first new dim of a group is split so that no element leaves its rank.
struct Survivor {
  std::vector<std::int64_t> boundaries;
};

/// Returns how the parts of the first old dim become those of the first new one; none if some part is
/// no whole number of rows there, or if another dim is sharded, too.
std::optional<Survivor> survivor_of(const DTensorSpec& spec, const DimGroup& group,
                                    const Extents& shape) {
  const auto old_dim = leading_dim(spec.shape(), group.old_first, group.old_last);
  const auto new_dim = leading_dim(shape, group.new_first, group.new_last);
  const auto& split = spec.split(old_dim);
  if (split.mesh_dims != mesh_dims_of(spec, group) || !split.has_intervals()) return {};
  const auto old_row = product_of(spec.shape(), old_dim + 1, group.old_last);
  const auto new_row = product_of(shape, new_dim + 1, group.new_last);
  Survivor survivor;
  for (const auto boundary : split.explicit_boundaries()) {
    if (boundary * old_row % new_row != 0) return {};
    survivor.boundaries.push_back(boundary * old_row / new_row);
  }
  return survivor;
}

/// Collects the placements and boundaries of the result, group by group.
class Reshaping {
 public:
  Reshaping(const DTensorSpec& spec, const Extents& shape)
      : spec_(spec),
        shape_(shape),
        placements_(spec.placements().begin(), spec.placements().end()),
        positions_(spec.placements().split_positions()),
        boundaries_(shape.size()) {}

  /// Keeps elements on their ranks as far as `may_keep` and the group allow. Returns whether they all
  /// stay.
  bool add(const DimGroup& group, bool may_keep) {
    const auto mesh_dims = mesh_dims_of(spec_, group);
    if (mesh_dims.empty()) return true;
    if (group.is_same_dim(spec_.shape(), shape_) &&
        (may_keep || spec_.split(group.old_first).has_intervals())) {
      keep(group);
      return true;
    }
    const auto dim = leading_dim(shape_, group.new_first, group.new_last);
    const auto survivor = survivor_of(spec_, group, shape_);
    for (std::size_t k = 0; k < mesh_dims.size(); ++k) {
      placements_[at(mesh_dims[k])] = Shard(static_cast<int>(dim));
      positions_[at(mesh_dims[k])] = static_cast<int>(k);
    }
    if (survivor) boundaries_[dim] = survivor->boundaries;
    return survivor.has_value();
  }

  DTensorSpec spec() const {
    return make_spec(spec_.layout(), Placements(placements_, positions_), shape_, boundaries_);
  }

 private:
  void keep(const DimGroup& group) {
    for (const int d : spec_.split(group.old_first).mesh_dims) {
      const auto& old = spec_.placements()[at(d)];
      placements_[at(d)] = sharding_of(old.rule(), static_cast<int>(group.new_first), old.block());
    }
    boundaries_[group.new_first] = spec_.boundaries()[group.old_first];
  }

  const DTensorSpec& spec_;
  const Extents& shape_;
  std::vector<Placement> placements_;
  std::vector<int> positions_;
  Boundaries boundaries_;
};

/// Returns the shape with −1 replaced by what fits.
Extents resolved_shape(const Extents& from, Extents shape) {
  const auto size = product(from);
  std::int64_t known = 1;
  int unknown = -1;
  bool is_shape = true;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1 && unknown < 0)
      unknown = static_cast<int>(d);
    else if (shape[d] >= 0)
      known *= shape[d];
    else
      is_shape = false;
  }
  const auto given = shape;
  if (is_shape && unknown >= 0 && known > 0 && size % known == 0) shape[at(unknown)] = size / known;
  require(is_shape && product(shape) == size && (unknown < 0 || shape[at(unknown)] >= 0), [&] {
    return fmt::format("expected a shape of {} elements, as {} has, got {}", size, to_string(from),
                       to_string(given));
  });
  return shape;
}

/// Adds the boxes of which the elements [begin, end) of the row-major order of dims [first, last)
/// consist, to those in `boxes`: each of them is combined with each box before.
std::vector<Box> boxes_of_range(const Extents& shape, std::size_t first, std::size_t last,
                                std::int64_t begin, std::int64_t end) {
  if (first == last) return {Box{}};
  std::vector<Box> result;
  const auto row = product_of(shape, first + 1, last);
  const auto add = [&](std::int64_t index, std::int64_t count, const std::vector<Box>& inner) {
    for (const auto& box : inner) {
      Box outer{{index}, {count}};
      for (const auto x : box.offset) outer.offset.push_back(x);
      for (const auto x : box.shape) outer.shape.push_back(x);
      result.push_back(outer);
    }
  };
  while (begin < end) {
    const auto index = begin / row;
    const auto within = begin % row;
    if (within == 0 && end - begin >= row) {
      const auto count = (end - begin) / row;
      add(index, count, boxes_of_range(shape, first + 1, last, 0, row));
      begin += count * row;
    } else {
      const auto rest = std::min(row - within, end - begin);
      add(index, 1, boxes_of_range(shape, first + 1, last, within, within + rest));
      begin += rest;
    }
  }
  return result;
}

std::vector<Box> product_of_boxes(const std::vector<Box>& a, const std::vector<Box>& b) {
  std::vector<Box> result;
  for (const auto& first : a)
    for (const auto& second : b) {
      auto box = first;
      for (const auto x : second.offset) box.offset.push_back(x);
      for (const auto x : second.shape) box.shape.push_back(x);
      result.push_back(box);
    }
  return result;
}

/// Holds what a rank has of the result: for each group, elements that follow one another in row-major
/// order.
struct FlatPiece {
  std::vector<Interval> ranges;  ///< one entry for each group

  FlatPiece(const DTensorSpec& result, const std::vector<DimGroup>& groups,
            const std::vector<int>& coordinate) {
    for (const auto& group : groups) {
      if (group.new_first == group.new_last) {
        ranges.push_back({0, 1});
        continue;
      }
      const auto dim = leading_dim(result.shape(), group.new_first, group.new_last);
      const auto row = product_of(result.shape(), dim + 1, group.new_last);
      const auto rows = result.split(dim).interval(coordinate);
      ranges.push_back({rows.begin * row, rows.end * row});
    }
  }

  std::int64_t size() const {
    std::int64_t result = 1;
    for (const auto& range : ranges) result *= range.size();
    return result;
  }

  /// Returns the strides, by old dim, of the array in which the elements lie row-major.
  Extents strides(const Extents& old_shape, const std::vector<DimGroup>& groups) const {
    auto result = Extents::filled(old_shape.size(), 0);
    std::int64_t inner = 1;  // elements of the groups behind
    for (std::size_t g = groups.size(); g-- > 0;) {
      auto stride = inner;
      for (auto d = groups[g].old_last; d-- > groups[g].old_first;) {
        result[d] = stride;
        stride *= old_shape[d];
      }
      inner *= ranges[g].size();
    }
    return result;
  }

  /// Returns the boxes of old indices. Their positions count from the first element of each range.
  Needs needs(const Extents& old_shape, const std::vector<DimGroup>& groups) const {
    if (size() == 0) return {};
    std::vector<Box> boxes{Box{}};
    Extents origin;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto [first, last] = std::pair(groups[g].old_first, groups[g].old_last);
      const auto [begin, end] = ranges[g];
      boxes = product_of_boxes(boxes, boxes_of_range(old_shape, first, last, begin, end));
      auto rest = begin;
      for (auto d = first; d < last; ++d) {
        const auto row = product_of(old_shape, d + 1, last);
        origin.push_back(rest / row);
        rest %= row;
      }
    }
    Needs result;
    for (const auto& box : boxes) {
      auto position = box.offset;
      for (std::size_t d = 0; d < position.size(); ++d) position[d] -= origin[d];
      result.push_back({box, position});
    }
    return result;
  }
};

/// Returns the spec with Replicate in place of each Partial: who holds what is the same.
DTensorSpec without_partial(const DTensorSpec& spec) {
  std::vector<Placement> placements;
  for (const auto& placement : spec.placements())
    placements.push_back(placement.is_partial() ? Placement(Replicate()) : placement);
  return make_spec(spec.layout(),
                   Placements(std::move(placements), spec.placements().split_positions()),
                   spec.shape(), spec.boundaries());
}

/// Copies a piece to one of another shape, in row-major order of both.
void copy_row_major(const Execution& execution, const ArrayRef& from, const ArrayRef& to) {
  auto reshaped = to;
  reshaped.extents = from.extents;
  reshaped.strides = row_major_strides(from.extents);
  copy(execution, from, reshaped);
}

}  // namespace

ReshapePlan plan_reshape(const DTensorSpec& spec, Extents shape) {
  shape = resolved_shape(spec.shape(), shape);
  if (product(shape) == 0) {
    std::vector<Placement> placements;
    for (const auto& placement : spec.placements())
      placements.push_back(placement.is_shard() ? Placement(Replicate()) : placement);
    return {make_spec(spec.layout(), Placements(std::move(placements)), shape), true};
  }
  const auto groups = groups_of(spec.shape(), shape);
  for (const bool may_keep : {true, false}) {
    Reshaping reshaping(spec, shape);
    bool is_local = true;
    for (const auto& group : groups) is_local = reshaping.add(group, may_keep) && is_local;
    if (is_local || !may_keep) return {reshaping.spec(), is_local};
  }
  return {spec, true};
}

namespace {

/// Says how the elements of a tensor travel to this rank's piece of its reshaped copy.
struct Travel {
  DTensorSpec spec;
  std::vector<Needs> needs;
  ArrayRef to;
};

/// Returns what travels, in a call that the ranks agree on here; none off the mesh, or if each
/// rank has its elements, which are copied here.
std::optional<Travel> agreed_travel(Operation& operation, const Execution& execution,
                                    const DeviceMesh& mesh, const ReshapedPieces& pieces,
                                    const char* label) {
  const auto& [spec, plan, from, to, settings] = pieces;
  const auto words = [&] {
    return fmt::format("reshape of {} {} to {}", to_string(pieces.to.type), to_string(pieces.spec),
                       to_string(pieces.plan.spec));
  };
  const auto hash = hash_combine(plan_hash(spec, spec, to.type, settings), plan.spec.hash());
  if (plan.is_local) {
    operation.state(hash, words);
    if (!execution.is_given()) execution.fence("tessera::reshape: before reading the source");
    if (mesh.coordinate()) copy_row_major(execution, from, to);
    finish(execution, label);
    return {};
  }
  operation.agree(hash, words);
  if (!mesh.coordinate()) return {};
  const auto groups = groups_of(spec.shape(), plan.spec.shape());
  Travel travel{without_partial(spec), {}, to};
  for (int rank = 0; rank < mesh.size(); ++rank)
    travel.needs.push_back(FlatPiece(plan.spec, groups, plan.spec.layout().coordinate(rank))
                               .needs(spec.shape(), groups));
  const FlatPiece own(plan.spec, groups, *mesh.coordinate());
  travel.to.extents = spec.shape();
  travel.to.strides = own.strides(spec.shape(), groups);
  return travel;
}

}  // namespace

void reshape_piece(Operation& operation, const Execution& execution, const DeviceMesh& mesh,
                   const ReshapedPieces& pieces, const char* label) {
  const auto travel = agreed_travel(operation, execution, mesh, pieces, label);
  if (!travel) return;
  run_needs(execution, mesh, travel->spec, travel->needs, pieces.from, travel->to, pieces.settings,
            label);
}

std::optional<PendingWork> start_reshape(Operation& operation, const Execution& execution,
                                         const DeviceMesh& mesh, const ReshapedPieces& pieces,
                                         std::shared_ptr<void> views, const char* label) {
  const auto travel = agreed_travel(operation, execution, mesh, pieces, label);
  if (!travel) return {};
  // The call in the background has scratch memory of its own.
  const auto executor = executor_of_needs(mesh, travel->spec, travel->needs, travel->to.type,
                                          pieces.settings, nullptr);
  return PendingWork{{{executor, pieces.from, travel->to}}, execution, std::move(views), label};
}

}  // namespace tessera::detail
