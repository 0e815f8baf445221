// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <tessera/plan/detail/settings.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/tensor/array_ref.hpp>

#include "generator.hpp"
#include "placement/can_reduce.hpp"

namespace tessera::test {

/// A RandomCase is a redistribution drawn at random: mesh of up to `largest_mesh` ranks, shape,
/// placements, split orders, boundaries, element type.
struct RandomCase {
  DTensorSpec source;
  DTensorSpec target;
  ElementType type;
};

inline std::vector<int> random_mesh_shape(Generator& generator, int largest_mesh) {
  std::vector<int> shape(static_cast<std::size_t>(draw(generator, 1, 4)), 1);
  int size = 1;
  for (auto& extent : shape) {
    extent = draw(generator, 1, std::min(5, largest_mesh / size));
    size *= extent;
  }
  return shape;
}

/// Returns a sharding of a tensor dim by any rule, of those that share the dim unless it `is_alone`.
inline Placement random_sharding(Generator& generator, int tensor_dim, bool is_alone) {
  switch (draw(generator, 0, is_alone ? 7 : 4)) {
    case 4:
      return Balanced(tensor_dim);
    case 5:
      return HeadTail(tensor_dim);
    case 6:
    case 7:
      return Cyclic(tensor_dim, draw(generator, 1, 4));
    default:
      return Shard(tensor_dim);
  }
}

/// Returns placements with shardings by all rules, Partials of `op` (for sum sometimes avg) and a
/// random split order.
inline Placements random_placements(Generator& generator, int mesh_dims, int tensor_dims,
                                    std::optional<ReduceOp> op) {
  std::vector<Placement> placements;
  for (int d = 0; d < mesh_dims; ++d) {
    const int kind = draw(generator, 0, 5);
    if (kind <= 2 && tensor_dims > 0)
      placements.push_back(Shard(draw(generator, 0, std::min(tensor_dims, 3) - 1)));
    else if (kind == 5 && op)
      placements.push_back(
          Partial(*op == ReduceOp::sum && draw(generator, 0, 2) == 0 ? ReduceOp::avg : *op));
    else
      placements.push_back(Replicate());
  }
  for (auto& placement : placements) {
    if (!placement.is_shard()) continue;
    const int dim = placement.dim();
    const auto shardings = std::ranges::count_if(
        placements, [&](const Placement& other) { return other.is_shard(dim); });
    placement = random_sharding(generator, dim, shardings == 1);
  }
  std::vector<int> order(static_cast<std::size_t>(mesh_dims));
  std::iota(order.begin(), order.end(), 0);
  if (draw(generator, 0, 1) == 0) std::ranges::shuffle(order, generator);
  std::vector<int> positions(placements.size(), 0);
  std::vector<int> used(8, 0);
  for (const int d : order) {
    const auto& placement = placements[static_cast<std::size_t>(d)];
    if (placement.is_shard())
      positions[static_cast<std::size_t>(d)] = used[static_cast<std::size_t>(placement.dim())]++;
  }
  return Placements(placements, positions);
}

/// Returns the spec with explicit boundaries for some of the dims that Shard splits.
inline DTensorSpec with_random_boundaries(Generator& generator, const DTensorSpec& spec) {
  Boundaries boundaries(spec.shape().size());
  for (std::size_t d = 0; d < boundaries.size(); ++d) {
    const auto& split = spec.split(d);
    if (split.mesh_dims.empty() || !split.rules.empty() || draw(generator, 0, 3) != 0) continue;
    boundaries[d] = {0, split.extent};
    for (int cut = 1; cut < split.parts(); ++cut)
      boundaries[d].push_back(draw(generator, 0, static_cast<int>(split.extent)));
    std::ranges::sort(boundaries[d]);
  }
  return DTensorSpec(spec.layout(), spec.placements(), spec.shape(), boundaries);
}

inline Extents random_shape(Generator& generator) {
  Extents shape = Extents::filled(static_cast<std::size_t>(draw(generator, 0, 4)), 0);
  for (auto& extent : shape)
    extent = draw(generator, 0, 9) == 0 ? draw(generator, 0, 1) : draw(generator, 1, 9);
  return shape;
}

inline ElementType random_type(Generator& generator) {
  struct Opaque {
    double values[3];
  };
  static const std::vector<ElementType> types = {
      element_type<double>(),        element_type<float>(),
      element_type<std::int32_t>(),  element_type<std::int64_t>(),
      element_type<std::uint16_t>(), element_type<Kokkos::complex<double>>(),
      element_type<Opaque>()};
  return types[static_cast<std::size_t>(draw(generator, 0, static_cast<int>(types.size()) - 1))];
}

inline RandomCase random_case(Generator& generator, int largest_mesh) {
  const MeshLayout layout(random_mesh_shape(generator, largest_mesh));
  const auto shape = random_shape(generator);
  const auto type = random_type(generator);
  std::optional<ReduceOp> ops[2];
  for (auto& op : ops) {
    op = static_cast<ReduceOp>(draw(generator, 0, 7));
    const bool averages = *op == ReduceOp::avg || *op == ReduceOp::sum;
    if (!can_reduce(averages ? ReduceOp::sum : *op, type.kind)) op.reset();
  }
  if (draw(generator, 0, 1) == 0) ops[1] = ops[0];
  const int tensor_dims = static_cast<int>(shape.size());
  const auto source = random_placements(generator, layout.ndim(), tensor_dims, ops[0]);
  const auto target = random_placements(generator, layout.ndim(), tensor_dims, ops[1]);
  return {with_random_boundaries(generator, DTensorSpec(layout, source, shape)),
          with_random_boundaries(generator, DTensorSpec(layout, target, shape)), type};
}

/// Draws how the mesh lies on nodes, mostly on one node, with costs that make each path by way of
/// nodes the cheapest for some cases.
inline void draw_nodes(Generator& generator, const MeshLayout& layout, PlanOptions& options) {
  const int kind = draw(generator, 0, 5);
  if (kind > 2) return;
  for (const int size : layout.shape()) {
    int within = draw(generator, 1, size);
    while (size % within != 0) --within;
    options.ranks_per_node.push_back(within);
  }
  if (kind == 0) options.cost_model.seconds_per_node_byte = 1;
  if (kind == 1) {
    options.cost_model.seconds_per_inter_node_message = 1;
    options.cost_model.seconds_per_message = 1e-9;
  }
}

/// Returns settings with any wire order, little extra memory or the default, and nodes by
/// draw_nodes().
inline detail::PlanSettings random_settings(Generator& generator, const MeshLayout& layout) {
  detail::PlanSettings settings;
  if (draw(generator, 0, 1) == 1) settings.extra_memory = draw(generator, 1, 4000);
  if (draw(generator, 0, 1) == 1) settings.wire_order = WireOrder::first_dim_fastest;
  draw_nodes(generator, layout, settings);
  return settings;
}

/// A StridedArray is the memory of one piece with room around it: any order of dims, gaps between
/// elements. Each byte is `untouched` at first.
class StridedArray {
 public:
  static constexpr std::byte untouched{0x5a};

  StridedArray(Generator& generator, ElementType type, const Extents& shape) {
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (draw(generator, 0, 1) == 0) std::ranges::shuffle(order, generator);
    array_.type = type;
    array_.extents = shape;
    array_.strides = Extents::filled(shape.size(), 1);
    std::int64_t stride = draw(generator, 0, 2) == 0 ? 2 : 1;
    for (const auto d : order) {
      array_.strides[d] = stride;
      stride *= std::max<std::int64_t>(shape[d], 1) + (draw(generator, 0, 3) == 0 ? 1 : 0);
    }
    memory_.resize(static_cast<std::size_t>((stride + 1) * type.size), untouched);
    array_.data = memory_.data();
  }

  const ArrayRef& array() const { return array_; }
  std::size_t bytes() const { return memory_.size(); }

  std::byte* element(const Extents& local_index) const {
    return array_.part(local_index, Extents::filled(local_index.size(), 1)).data;
  }

 private:
  std::vector<std::byte> memory_;
  ArrayRef array_;
};

/// Returns what a mesh rank holds.
inline Piece piece_of(const DTensorSpec& spec, int mesh_rank) {
  return spec.sections(spec.layout().coordinate(mesh_rank));
}

/// Returns the index of an element in a local piece; none if it does not lie there.
inline std::optional<Extents> local_index(const Piece& piece, const Extents& global) {
  Extents result;
  for (std::size_t d = 0; d < global.size(); ++d) {
    const auto local = piece.sections[d].local_index(global[d]);
    if (!local) return {};
    result.push_back(*local);
  }
  return result;
}

/// Calls visit(index) for each index of a box, row-major.
template <class Visit>
void for_each_index(const Box& box, const Visit& visit) {
  const auto size = box.size();
  for (std::int64_t flat = 0; flat < size; ++flat) {
    Extents index = box.offset;
    std::int64_t rest = flat;
    for (std::size_t d = box.shape.size(); d-- > 0;) {
      index[d] += rest % box.shape[d];
      rest /= box.shape[d];
    }
    visit(index);
  }
}

/// Calls visit(global index, local index) for each element of a piece, row-major in local indices.
template <class Visit>
void for_each_element(const Piece& piece, const Visit& visit) {
  for_each_index({Extents::filled(piece.sections.size(), 0), piece.shape()},
                 [&](const Extents& local) {
                   auto global = local;
                   for (std::size_t d = 0; d < global.size(); ++d)
                     global[d] = piece.sections[d].global_index(local[d]);
                   visit(global, local);
                 });
}

}  // namespace tessera::test
