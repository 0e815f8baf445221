// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/comm/collectives.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/tensor/from_local.hpp>

namespace tessera::detail {

namespace {

constexpr const char* operation = "tessera::from_local";

/// Returns the sizes of the parts of tensor dim `dim`, in split order. A part whose ranks have no
/// elements has size 0, unless no rank has any: then it has the least extent of its ranks.
std::vector<std::int64_t> part_sizes(const DTensorSpec& grid,
                                     const std::vector<Extents>& local_shapes, std::size_t dim) {
  const auto& layout = grid.layout();
  const auto& split = grid.split(dim);
  const auto parts = static_cast<std::size_t>(split.parts());
  std::vector<std::int64_t> sizes(parts, -1);
  std::vector<int> first(parts, -1);
  const bool are_all_empty =
      std::ranges::all_of(local_shapes, [](const auto& shape) { return product(shape) == 0; });
  for (int rank = 0; rank < layout.size(); ++rank) {
    const auto& shape = local_shapes[static_cast<std::size_t>(rank)];
    const auto part = static_cast<std::size_t>(split.number(layout.coordinate(rank)));
    if (are_all_empty)
      sizes[part] = first[part] < 0 ? shape[dim] : std::min(sizes[part], shape[dim]);
    if (are_all_empty) first[part] = rank;
    if (product(shape) == 0) continue;
    require(first[part] < 0 || sizes[part] == shape[dim], [&] {
      return fmt::format(
          "expected the same extent of tensor dim {} on mesh ranks {} and {}, got {} and {}", dim,
          first[part], rank, sizes[part], shape[dim]);
    });
    sizes[part] = shape[dim];
    if (first[part] < 0) first[part] = rank;
  }
  for (auto& size : sizes) size = std::max<std::int64_t>(size, 0);
  return sizes;
}

/// Throws unless the ranks that have no elements are those that have none by `spec`.
void require_no_holes(const DTensorSpec& spec, const std::vector<Extents>& local_shapes) {
  for (int rank = 0; rank < spec.layout().size(); ++rank) {
    const auto& shape = local_shapes[static_cast<std::size_t>(rank)];
    const auto expected = spec.local_shape(rank);
    require((product(shape) == 0) == (product(expected) == 0), [&] {
      return fmt::format(
          "expected a local View of shape {} on mesh rank {}, the piece of {}, got {}",
          to_string(expected), rank, to_string(spec), to_string(shape));
    });
  }
}

/// Throws unless the sizes of the parts of a tensor dim are those that its shardings give, where
/// these are not Shard, which takes any.
void require_sizes_by_rule(const DTensorSpec& spec, std::size_t dim,
                           const std::vector<std::int64_t>& sizes) {
  const auto& split = spec.split(dim);
  if (split.rules.empty()) return;
  std::vector<std::int64_t> expected;
  for (int part = 0; part < split.parts(); ++part) expected.push_back(split.part(part).extent());
  require(sizes == expected, [&] {
    return fmt::format(
        "expected local extents [{}] of tensor dim {}, those of {} for extent {}, got [{}]",
        fmt::join(expected, ", "), dim, to_string(spec.placements()), split.extent,
        fmt::join(sizes, ", "));
  });
}

struct PieceInfo {
  ElementType type;
  std::int32_t tensor_dims;
  std::array<std::int64_t, max_tensor_dims> extents;
};

PieceInfo piece_info(ElementType type, const Extents& shape) {
  PieceInfo info{type, static_cast<std::int32_t>(shape.size()), {}};
  std::ranges::copy(shape, info.extents.begin());
  return info;
}

Extents shape_of(const PieceInfo& info) {
  return std::vector<std::int64_t>(info.extents.begin(), info.extents.begin() + info.tensor_dims);
}

/// Throws unless all pieces have one element type and number of dims and, if `spec` is given, the
/// shapes that it says.
void require_pieces(const DeviceMesh& mesh, const DTensorSpec* spec,
                    const std::vector<PieceInfo>& all) {
  for (int rank = 0; rank < mesh.size(); ++rank) {
    const auto& other = all[static_cast<std::size_t>(rank)];
    require(other.type == all[0].type && other.tensor_dims == all[0].tensor_dims, [&] {
      return fmt::format(
          "expected one element type and number of dims, got {}-d {} on mesh rank 0 "
          "and {}-d {} on mesh rank {}",
          all[0].tensor_dims, to_string(all[0].type), other.tensor_dims, to_string(other.type),
          rank);
    });
    if (spec == nullptr) continue;
    const auto expected = spec->local_shape(rank);
    require(
        shape_of(other) == expected || (product(shape_of(other)) == 0 && product(expected) == 0),
        [&] {
          return fmt::format(
              "expected a local View of shape {} on mesh rank {}, the piece of {}, got "
              "{}",
              to_string(expected), rank, to_string(*spec), to_string(shape_of(other)));
        });
  }
}

}  // namespace

std::string FromLocalCall::operator()() const {
  const auto extents = shape.empty() ? "" : " of static extents " + to_string(shape);
  return fmt::format("from_local of {}-d {}{} as {}{}", tensor_dims, to_string(type), extents,
                     to_string(target, mesh_dims), options.run_check ? ", with run_check" : "");
}

std::uint64_t FromLocalCall::hash() const {
  const auto hash = hash_combine(hash_of(target, mesh_dims), options.run_check ? 1 : 0);
  if (options.run_check) return hash;
  return hash_range(hash_combine(hash_combine(hash, tensor_dims), type), shape);
}

DTensorSpec infer_spec(const MeshLayout& layout, const Placements& placements,
                       const std::vector<Extents>& local_shapes) {
  const auto tensor_dims = local_shapes.front().size();
  const auto grid = make_spec(layout, placements, Extents::filled(tensor_dims, 0));
  Extents shape;
  Boundaries boundaries(tensor_dims);
  std::vector<std::vector<std::int64_t>> sizes;
  for (std::size_t d = 0; d < tensor_dims; ++d) {
    const auto& split = grid.split(d);
    const bool takes_any_sizes = !split.mesh_dims.empty() && split.rules.empty();
    std::int64_t position = 0;
    if (takes_any_sizes) boundaries[d].push_back(0);
    sizes.push_back(part_sizes(grid, local_shapes, d));
    for (const auto size : sizes.back()) {
      position += size;
      if (takes_any_sizes) boundaries[d].push_back(position);
    }
    shape.push_back(position);
  }
  auto spec = make_spec(layout, placements, shape, std::move(boundaries));
  for (std::size_t d = 0; d < tensor_dims; ++d) require_sizes_by_rule(spec, d, sizes[d]);
  require_no_holes(spec, local_shapes);
  return spec;
}

DTensorSpec infer_spec(const DeviceMesh& mesh, const Placements& placements,
                       const Extents& local_shape) {
  return infer_specs(mesh, {placements}, {local_shape}).front();
}

std::vector<DTensorSpec> infer_specs(const DeviceMesh& mesh,
                                     const std::vector<Placements>& placements,
                                     const std::vector<Extents>& local_shapes) {
  std::vector<PieceInfo> mine;
  for (const auto& shape : local_shapes) mine.push_back(piece_info({}, shape));
  const auto bytes =
      all_gather(mesh.group(), std::as_bytes(std::span(mine)), TraceKind::metadata, operation);
  std::vector<PieceInfo> all(bytes.size() / sizeof(PieceInfo));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return common([&] {
    std::vector<DTensorSpec> result;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      std::vector<Extents> shapes;
      for (std::size_t k = i; k < all.size(); k += placements.size())
        shapes.push_back(shape_of(all[k]));
      result.push_back(infer_spec(mesh.layout(), placements[i], shapes));
    }
    return result;
  });
}

DTensorSpec infer_spec(const DeviceMesh& mesh, const Target& target, const Extents& local_shape) {
  auto spec = infer_spec(mesh, target.placements(mesh.ndim()), local_shape);
  if (target.sizes().empty()) return spec;
  common([&] {
    const auto asked = target_spec(mesh.layout(), spec.shape(), target);
    require(asked == spec, [&] {
      return fmt::format("expected local Views of {}, got {}", to_string(asked), to_string(spec));
    });
  });
  return spec;
}

Box require_local_shape(const DeviceMesh& mesh, const DTensorSpec& spec,
                        const Extents& local_shape) {
  const auto piece = local_box(mesh, spec);
  const auto& expected = piece.shape;
  require(local_shape == expected || (product(local_shape) == 0 && product(expected) == 0), [&] {
    return fmt::format("expected a local View of shape {} on mesh rank {}, the piece of {}, got {}",
                       to_string(expected), mesh.rank(), to_string(spec), to_string(local_shape));
  });
  return piece;
}

void check_pieces(const DeviceMesh& mesh, const DTensorSpec* spec, ElementType type,
                  const Extents& local_shape) {
  const auto all =
      all_gather_value(mesh.group(), piece_info(type, local_shape), TraceKind::metadata, operation);
  common([&] { require_pieces(mesh, spec, all); });
}

/// Sets the padding of each x87 number, its last bytes, to 0.
static void clear_padding(std::span<std::byte> elements, ElementType type) {
  constexpr bool is_x87 = std::numeric_limits<long double>::digits == 64;
  constexpr std::size_t value_bytes = 10;
  if (!is_x87 ||
      (type.kind != ElementKind::long_double && type.kind != ElementKind::complex_long_double))
    return;
  for (; !elements.empty(); elements = elements.subspan(sizeof(long double)))
    std::ranges::fill(elements.first(sizeof(long double)).subspan(value_bytes), std::byte{});
}

void check_replicas(const DeviceMesh& mesh, const DTensorSpec& spec, ElementType type,
                    std::span<const std::byte> row_major_piece) {
  std::vector<int> replicated;
  for (int d = 0; d < mesh.ndim(); ++d)
    if (spec.placements()[static_cast<std::size_t>(d)].is_replicate()) replicated.push_back(d);
  if (replicated.empty()) return;
  const auto replicas = mesh.sub(replicated);
  std::vector<std::byte> mine(row_major_piece.begin(), row_major_piece.end());
  clear_padding(mine, type);
  auto expected = mine;
  broadcast(replicas.group(), expected, 0, TraceKind::metadata, operation);
  const bool is_same = expected == mine;
  const auto same =
      all_gather_value(mesh.group(), static_cast<char>(is_same), TraceKind::metadata, operation);
  common([&] {
    const auto differing = std::ranges::find(same, 0);
    require(differing == same.end(), [&] {
      return fmt::format(
          "expected replicas equal to coordinate 0's, got other values on mesh rank {}",
          differing - same.begin());
    });
  });
}

}  // namespace tessera::detail
