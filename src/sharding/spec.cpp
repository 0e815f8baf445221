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

std::vector<DimSplit> chunked_splits(const MeshLayout& layout, const Placements& placements,
                                     const Extents& shape) {
  std::vector<DimSplit> splits(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    splits[d].extent = shape[d];
    splits[d].mesh_dims = placements.split_order(static_cast<int>(d));
    for (const int mesh_dim : splits[d].mesh_dims)
      splits[d].sizes.push_back(layout.shape()[static_cast<std::size_t>(mesh_dim)]);
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

/// Returns `boundaries` without the lists that equal the chunk rule. Copies the other lists to
/// `splits`.
Boundaries canonical(Boundaries boundaries, std::vector<DimSplit>& splits) {
  require(boundaries.empty() || boundaries.size() == splits.size(), [&] {
    return fmt::format("expected boundaries for {} tensor dims, got {} lists", splits.size(),
                       boundaries.size());
  });
  boundaries.resize(splits.size());
  for (std::size_t d = 0; d < splits.size(); ++d) {
    if (boundaries[d].empty()) continue;
    require_cut(boundaries[d], splits[d], d);
    if (boundaries[d] == splits[d].explicit_boundaries())
      boundaries[d].clear();
    else
      splits[d].boundaries = boundaries[d];
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
  auto splits = chunked_splits(layout, resolved, shape);
  boundaries = canonical(std::move(boundaries), splits);
  const auto hash = hash_of(layout, resolved, shape, boundaries);
  return DTensorSpec(std::make_shared<const DTensorSpec::Data>(
      DTensorSpec::Data{std::move(layout), std::move(resolved), shape, std::move(boundaries),
                        std::move(splits), hash}));
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

Box DTensorSpec::piece(std::span<const int> coordinate) const {
  Box result;
  for (const auto& split : data_->splits) {
    const auto interval = split.interval(coordinate);
    result.offset.push_back(interval.begin);
    result.shape.push_back(interval.size());
  }
  return result;
}

std::vector<Box> DTensorSpec::pieces(const std::vector<int>& coordinate) const {
  require(std::ssize(coordinate) == layout().ndim(), [&] {
    return fmt::format("DTensorSpec: expected a coordinate of mesh {}, got ({})",
                       to_string(layout()), fmt::join(coordinate, ", "));
  });
  for (std::size_t d = 0; d < coordinate.size(); ++d)
    require(0 <= coordinate[d] && coordinate[d] < layout().shape()[d], [&] {
      return fmt::format("DTensorSpec: expected a coordinate of mesh {}, got ({})",
                         to_string(layout()), fmt::join(coordinate, ", "));
    });
  return {piece(coordinate)};
}

Extents DTensorSpec::local_shape(const std::vector<int>& coordinate) const {
  return pieces(coordinate).front().shape;
}
Extents DTensorSpec::local_shape(int mesh_rank) const {
  return local_shape(layout().coordinate(mesh_rank));
}
Extents DTensorSpec::global_offset(const std::vector<int>& coordinate) const {
  return pieces(coordinate).front().offset;
}
Extents DTensorSpec::global_offset(int mesh_rank) const {
  return global_offset(layout().coordinate(mesh_rank));
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
      coordinate[static_cast<std::size_t>(split(d).mesh_dims[k])] = parts.front().coordinate[k];
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

std::string to_string(const DTensorSpec& spec) {
  auto text = fmt::format("{} on {} as {}", to_string(spec.shape()), to_string(spec.layout()),
                          to_string(spec.placements()));
  for (std::size_t d = 0; d < spec.shape().size(); ++d)
    if (!spec.boundaries()[d].empty())
      text += fmt::format(", dim {} cut at [{}]", d, fmt::join(spec.boundaries()[d], ", "));
  return text;
}

DTensorSpec detail::spec_with(const DTensorSpec& spec, const Placements& placements) {
  require_one_per_mesh_dim(spec.layout(), placements);
  const auto resolved = detail::resolved(placements, spec.tensor_dims());
  auto boundaries = spec.boundaries();
  for (std::size_t d = 0; d < boundaries.size(); ++d)
    if (resolved.split_order(static_cast<int>(d)) != spec.split(d).mesh_dims) boundaries[d].clear();
  return make_spec(spec.layout(), resolved, spec.shape(), std::move(boundaries));
}

DTensorSpec with_placements(const DTensorSpec& spec, const Placements& placements) {
  return detail::named("with_placements", [&] { return detail::spec_with(spec, placements); });
}

std::ostream& operator<<(std::ostream& out, const DTensorSpec& value) {
  return out << to_string(value);
}

}  // namespace tessera
