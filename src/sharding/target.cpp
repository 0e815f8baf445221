// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/sharding/target.hpp>

namespace tessera {

Placements Target::placements(int mesh_dims) const {
  if (placements() != nullptr) return *placements();
  if (spec() != nullptr) return spec()->placements();
  return std::vector<Placement>(static_cast<std::size_t>(mesh_dims), Replicate());
}

namespace detail {

DTensorSpec target_spec(const DTensorSpec& source, const Target& target) {
  if (target.placements() != nullptr) return spec_with(source, *target.placements());
  if (target.spec() == nullptr) return spec_with(source, target.placements(source.layout().ndim()));
  require<MeshMismatch>(target.spec()->layout() == source.layout(), [&] {
    const auto [expected, got] = told_apart(source.layout(), target.spec()->layout());
    return fmt::format("expected a spec on the tensor's mesh {}, got one on mesh {}", expected,
                       got);
  });
  return *target.spec();
}

DTensorSpec target_spec(const MeshLayout& layout, const Extents& shape, const Target& target) {
  if (target.placements() != nullptr) return make_spec(layout, *target.placements(), shape);
  if (target.spec() == nullptr) return make_spec(layout, target.placements(layout.ndim()), shape);
  const auto& spec = *target.spec();
  require<MeshMismatch>(spec.layout() == layout, [&] {
    const auto [expected, got] = told_apart(layout, spec.layout());
    return fmt::format("expected a spec on mesh {}, got one on mesh {}", expected, got);
  });
  require(spec.shape() == shape, [&] {
    return fmt::format("expected a target of shape {}, got {}", tessera::to_string(shape),
                       tessera::to_string(spec.shape()));
  });
  return spec;
}

std::uint64_t hash_of(const Target& target, int mesh_dims) {
  if (target.spec() != nullptr) return target.spec()->hash();
  if (target.placements() != nullptr) return target.placements()->hash();
  return target.placements(mesh_dims).hash();
}

std::string to_string(const Target& target, int mesh_dims) {
  return target.spec() != nullptr ? tessera::to_string(*target.spec())
                                  : tessera::to_string(target.placements(mesh_dims));
}

}  // namespace detail
}  // namespace tessera
