// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error/error.hpp>
#include <tessera/sharding/detail/shapes.hpp>

namespace tessera::detail {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Returns placements for a tensor whose dims are others: number(dim) gives that of the old dim `dim`.
template <class Number>
Placements renumbered(const Placements& placements, const Number& number) {
  std::vector<Placement> result;
  for (const auto& placement : placements) {
    if (!placement.is_shard()) {
      result.push_back(placement);
      continue;
    }
    result.push_back(sharding_of(placement.rule(), number(placement.dim()), placement.block()));
  }
  return Placements(std::move(result), placements.split_positions());
}

/// Makes shards with boundaries of what splits a tensor dim.
void become_shard(std::vector<Placement>& placements, const DimSplit& split, int dim) {
  for (const int mesh_dim : split.mesh_dims) placements[at(mesh_dim)] = Shard(dim);
}

/// Returns the boundaries of a slice of a dim whose parts are intervals.
std::vector<std::int64_t> boundaries_in(const DimSplit& split, Interval range) {
  auto boundaries = split.explicit_boundaries();
  for (auto& boundary : boundaries)
    boundary = std::clamp(boundary, range.begin, range.end) - range.begin;
  return boundaries;
}

/// Returns whether parts of a dim are cut by cyclic or head-tail.
bool is_dealt_out(const DimSplit& split) {
  return !can_share_dim(split.rule(0));
}

void require_range(const DTensorSpec& spec, const SlicedDim& sliced, std::size_t dim) {
  const auto extent = spec.shape()[dim];
  const auto& range = sliced.range;
  require(0 <= range.begin && range.begin <= range.end && range.end <= extent, [&] {
    return sliced.is_dropped
               ? fmt::format("expected an index of tensor dim {} from {} to {}, got {}", dim,
                             -extent, extent - 1, range.begin)
               : fmt::format("expected a range of tensor dim {} within 0 to {}, got {} to {}", dim,
                             extent, range.begin, range.end);
  });
  require(!sliced.is_dropped || spec.split(dim).mesh_dims.empty(), [&] {
    return fmt::format(
        "expected a range for tensor dim {}, which is sharded, got index {}: take {{{}, {}}}, "
        "which keeps the dim, or fetch()",
        dim, range.begin, range.begin, range.end);
  });
}

}  // namespace

std::vector<int> resolved_order(const std::vector<int>& order, int tensor_dims) {
  std::vector<int> result;
  for (const int dim : order) result.push_back(dim < 0 ? dim + tensor_dims : dim);
  std::vector<int> sorted = result;
  std::ranges::sort(sorted);
  bool is_order = std::ssize(order) == tensor_dims;
  for (int d = 0; is_order && d < tensor_dims; ++d) is_order = sorted[at(d)] == d;
  require(is_order, [&] {
    return fmt::format("expected each dim of a {}-d tensor once, got [{}]", tensor_dims,
                       fmt::join(order, ", "));
  });
  return result;
}

DTensorSpec permuted_spec(const DTensorSpec& spec, const std::vector<int>& order) {
  const auto old_dims = resolved_order(order, spec.tensor_dims());
  Extents shape;
  Boundaries boundaries;
  for (const int dim : old_dims) {
    shape.push_back(spec.shape()[at(dim)]);
    boundaries.push_back(spec.boundaries()[at(dim)]);
  }
  const auto placements = renumbered(spec.placements(), [&](int dim) {
    return static_cast<int>(std::ranges::find(old_dims, dim) - old_dims.begin());
  });
  return make_spec(spec.layout(), placements, shape, std::move(boundaries));
}

DTensorSpec sliced_spec(const DTensorSpec& spec, const std::vector<SlicedDim>& dims) {
  Extents shape;
  Boundaries boundaries;
  std::vector<int> numbers;
  std::vector<std::size_t> recut;  // dims whose parts get boundaries
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto& range = dims[d].range;
    require_range(spec, dims[d], d);
    numbers.push_back(static_cast<int>(shape.size()));
    if (dims[d].is_dropped) continue;
    shape.push_back(range.size());
    const auto& split = spec.split(d);
    if (split.mesh_dims.empty() || range == Interval{0, split.extent}) {
      boundaries.push_back(spec.boundaries()[d]);
    } else if (is_dealt_out(split)) {
      const auto whole = split.is_slice() ? split.whole : split.extent;
      boundaries.push_back({split.slice.begin + range.begin, whole});
    } else {
      boundaries.push_back(boundaries_in(split, range));
      recut.push_back(d);
    }
  }
  const auto kept = renumbered(spec.placements(), [&](int dim) { return numbers[at(dim)]; });
  std::vector<Placement> placements(kept.begin(), kept.end());
  for (const auto d : recut) become_shard(placements, spec.split(d), numbers[d]);
  return make_spec(spec.layout(), Placements(std::move(placements), kept.split_positions()), shape,
                   std::move(boundaries));
}

Box slice_of_piece(const DTensorSpec& spec, const std::vector<SlicedDim>& dims,
                   const std::vector<int>& coordinate) {
  Box result;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto held = spec.split(d).sections(coordinate);
    const auto first = held.count_below(dims[d].range.begin);
    result.offset.push_back(first);
    result.shape.push_back(held.count_below(dims[d].range.end) - first);
  }
  return result;
}

}  // namespace tessera::detail
