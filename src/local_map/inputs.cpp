// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/local_map/detail/inputs.hpp>

namespace tessera::detail {

namespace {

void require_kinds(const std::vector<Leaf>& leaves, const std::vector<InPlacement>& in) {
  require(in.size() == leaves.size(), [&] {
    return fmt::format("expected {} in_placements, one per flattened argument, got {}",
                       leaves.size(), in.size());
  });
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const bool is_dtensor = leaves[i].kind == LeafKind::dtensor;
    require(!(is_dtensor && in[i].is_no_tensor()), [&] {
      return fmt::format("expected placements or keep for argument {}, a DTensor, got nullopt", i);
    });
    require(leaves[i].kind != LeafKind::other || in[i].is_no_tensor(), [&] {
      return fmt::format("expected nullopt for argument {}, which is not a tensor, got placements",
                         i);
    });
  }
}

void require_mesh(const std::vector<Leaf>& leaves, const DeviceMesh& mesh) {
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    require(leaves[i].kind != LeafKind::dtensor || !leaves[i].mesh.is_null(), [&] {
      return fmt::format("expected a tensor on a mesh as argument {}, got a null handle", i);
    });
    require<MeshMismatch>(leaves[i].kind != LeafKind::dtensor || leaves[i].mesh == mesh, [&] {
      const auto [expected, got] = told_apart(mesh, leaves[i].mesh);
      return fmt::format("expected all DTensors on mesh {}, got argument {} on mesh {}", expected,
                         i, got);
    });
  }
}

void require_placements(Leaf& leaf, std::size_t argument, const Placements& asked,
                        bool redistribute_inputs) {
  const auto target = spec_with(leaf.spec, asked);
  require<PlacementMismatch>(
      redistribute_inputs || target.placements() == leaf.spec.placements() ||
          agree_but_for_rules(target, leaf.spec),
      [&] {
        return fmt::format(
            "expected argument {} as {}, got {}; redistribute it before, or set "
            "redistribute_inputs=true",
            argument, to_string(target.placements()), to_string(leaf.spec.placements()));
      });
  leaf.spec = target;
}

void require_equal_cuts(const std::vector<Leaf>& leaves, std::size_t a, std::size_t b) {
  const auto& first = leaves[a].spec;
  const auto& second = leaves[b].spec;
  for (std::size_t d = 0; d < std::min(first.shape().size(), second.shape().size()); ++d) {
    const auto& split = first.split(d);
    const auto& other = second.split(d);
    if (split.mesh_dims.empty() || split.mesh_dims != other.mesh_dims ||
        split.extent != other.extent)
      continue;
    require<PlacementMismatch>(agree(split, other), [&] {
      return fmt::format(
          "expected arguments {} and {} cut at the same places in tensor dim {}, got {} "
          "and {}",
          a, b, d, to_string(first), to_string(second));
    });
  }
}

}  // namespace

DeviceMesh mesh_of_call(const std::vector<Leaf>& leaves, const DeviceMesh& asked) {
  if (!asked.is_null()) return asked;
  const auto first = std::ranges::find(leaves, LeafKind::dtensor, &Leaf::kind);
  return first == leaves.end() ? DeviceMesh() : first->mesh;
}

void check_inputs(std::vector<Leaf>& leaves, const InPlacements& in, const DeviceMesh& mesh,
                  bool redistribute_inputs) {
  if (in.list()) require_kinds(leaves, *in.list());
  require_mesh(leaves, mesh);
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (in.list() && leaves[i].kind == LeafKind::dtensor && (*in.list())[i].placements() != nullptr)
      require_placements(leaves[i], i, *(*in.list())[i].placements(), redistribute_inputs);
  for (std::size_t a = 0; a < leaves.size(); ++a)
    for (std::size_t b = a + 1; b < leaves.size(); ++b)
      if (leaves[a].kind == LeafKind::dtensor && leaves[b].kind == LeafKind::dtensor)
        require_equal_cuts(leaves, a, b);
}

std::string LocalMapCall::operator()() const {
  std::vector<std::string> arguments;
  for (const auto& leaf : leaves) {
    if (leaf.kind == LeafKind::dtensor)
      arguments.push_back(fmt::format("{} {}", to_string(leaf.type), to_string(leaf.spec)));
    else
      arguments.emplace_back(leaf.kind == LeafKind::view ? "a View" : "a value");
  }
  std::vector<std::string> placements;
  for (const auto* output : outputs) placements.push_back(output ? to_string(*output) : "none");
  return fmt::format("local_map of {} argument{}: {}; outputs: {}", leaves.size(),
                     leaves.size() == 1 ? "" : "s", fmt::join(arguments, "; "),
                     fmt::join(placements, "; "));
}

std::uint64_t LocalMapCall::hash() const {
  std::uint64_t hash = leaves.size();
  for (const auto* output : outputs) hash = hash_combine(hash, output ? hash_of(*output) : 0);
  for (const auto& leaf : leaves)
    hash = leaf.kind == LeafKind::dtensor
               ? hash_combine(hash_combine(hash, leaf.spec.hash()), leaf.type)
               : hash_combine(hash, static_cast<std::uint64_t>(leaf.kind));
  return hash;
}

}  // namespace tessera::detail
