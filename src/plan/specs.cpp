// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/cells.hpp"
#include "plan/specs.hpp"

namespace tessera::detail {
namespace {

/// Returns every `parts`-th position of a list of boundaries.
std::vector<std::int64_t> coarser(const std::vector<std::int64_t>& list, std::size_t parts) {
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < list.size(); i += parts) result.push_back(list[i]);
  return result;
}

}  // namespace

bool contains(const std::vector<int>& mesh_dims, int mesh_dim) {
  return std::ranges::find(mesh_dims, mesh_dim) != mesh_dims.end();
}

bool go_together(const std::vector<Placement>& placements) {
  return std::ranges::all_of(placements, [&](const Placement& placement) {
    return !placement.is_shard() || can_share_dim(placement.rule()) ||
           std::ranges::count_if(placements, [&](const Placement& other) {
             return other.is_shard(placement.dim());
           }) == 1;
  });
}

bool can_split_further(const DTensorSpec& spec, int tensor_dim) {
  const auto& split = spec.split(at(tensor_dim));
  return can_share_dim(split.rule(0));
}

DTensorSpec split_further(const DTensorSpec& spec, int tensor_dim,
                          const std::vector<int>& mesh_dims) {
  const auto& placements = spec.placements();
  std::vector<Placement> result(placements.begin(), placements.end());
  auto positions = placements.split_positions();
  auto boundaries = spec.boundaries();
  auto& list = boundaries[at(tensor_dim)];
  int position = static_cast<int>(spec.split(at(tensor_dim)).mesh_dims.size());
  for (const int d : mesh_dims) {
    result[at(d)] = Shard(tensor_dim);
    positions[at(d)] = position++;
    std::vector<std::int64_t> finer;
    const int size = spec.layout().shape()[at(d)];
    for (std::size_t i = 0; i + 1 < list.size(); ++i)
      for (int child = 0; child < size; ++child)
        finer.push_back(chunk({list[i], list[i + 1]}, size, child).begin);
    if (!list.empty()) finer.push_back(list.back());
    list = std::move(finer);
  }
  return make_spec(spec.layout(), Placements(std::move(result), std::move(positions)), spec.shape(),
                   std::move(boundaries));
}

DTensorSpec replicated_along(const DTensorSpec& spec, const std::vector<int>& mesh_dims) {
  const auto& placements = spec.placements();
  std::vector<Placement> result(placements.begin(), placements.end());
  auto positions = placements.split_positions();
  auto boundaries = spec.boundaries();
  for (const int d : mesh_dims) {
    result[at(d)] = Replicate();
    positions[at(d)] = 0;
  }
  for (int k = 0; k < spec.tensor_dims(); ++k) {
    const auto& split = spec.split(at(k));
    int left = 0;
    std::size_t parts = 1;
    bool are_last = true;
    for (std::size_t i = 0; i < split.mesh_dims.size(); ++i) {
      const int d = split.mesh_dims[i];
      if (contains(mesh_dims, d)) {
        parts *= at(split.sizes[i]);
      } else {
        positions[at(d)] = left++;
        are_last = are_last && (parts == 1 || split.sizes[i] == 1);
      }
    }
    auto& list = boundaries[at(k)];
    if (list.empty()) continue;
    if (are_last && left > 0)
      list = coarser(list, parts);
    else
      list.clear();
  }
  return make_spec(spec.layout(), Placements(std::move(result), std::move(positions)), spec.shape(),
                   std::move(boundaries));
}

DTensorSpec without_dims_of_one_rank(const DTensorSpec& spec) {
  std::vector<int> dims;
  for (int d = 0; d < spec.layout().ndim(); ++d)
    if (spec.layout().shape()[at(d)] == 1 && !spec.placements()[at(d)].is_replicate())
      dims.push_back(d);
  return dims.empty() ? spec : replicated_along(spec, dims);
}

double largest_piece_bytes(const DTensorSpec& spec, ElementType type) {
  double bytes = type.size;
  for (const auto extent : spec.largest_local_shape()) bytes *= static_cast<double>(extent);
  return bytes;
}

}  // namespace tessera::detail
