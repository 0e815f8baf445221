// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/sharding/target.hpp>

namespace tessera {

Target::Target(std::initializer_list<TargetPlacement> given) {
  std::vector<Placement> placements;
  placements.reserve(given.size());
  for (const auto& one : given) {
    if (one.sizes()) {
      sizes_.resize(given.size());
      sizes_[placements.size()] = one.sizes();
    }
    placements.push_back(one.placement());
  }
  value_ = Placements(std::move(placements));
}

Placements Target::placements(int mesh_dims) const {
  if (placements() != nullptr) return *placements();
  if (spec() != nullptr) return spec()->placements();
  return std::vector<Placement>(static_cast<std::size_t>(mesh_dims), Replicate());
}

namespace detail {

namespace {

/// Throws unless `given`, along one mesh dim, says how `split` is cut.
void require_sizes(const Sizes& given, const DimSplit& split) {
  const auto& sizes = given.sizes;
  const auto text = [&](const std::string& expected) {
    return fmt::format("expected {} in Sizes({}, [{}])", expected, given.dim,
                       fmt::join(sizes, ", "));
  };
  require(split.mesh_dims.size() == 1, [&] {
    return text(
        fmt::format("the only sharding of its tensor dim, got one of {},", split.mesh_dims.size()));
  });
  require(std::ssize(sizes) == split.parts(), [&] {
    return text(
        fmt::format("one size for each of {} coordinates, got {}", split.parts(), sizes.size()));
  });
  std::int64_t left = split.extent;
  for (const auto size : sizes) {
    require(0 <= size && size <= left, [&] {
      return text(fmt::format("sizes from 0 on that add up to the extent {}", split.extent));
    });
    left -= size;
  }
  require(left == 0,
          [&] { return text(fmt::format("sizes that add up to the extent {}", split.extent)); });
}

/// Returns `spec` with the boundaries that the Sizes of the target give.
DTensorSpec with_sizes(const DTensorSpec& spec, const Target& target) {
  auto boundaries = spec.boundaries();
  for (std::size_t d = 0; d < target.sizes().size(); ++d) {
    const auto& sizes = target.sizes()[d];
    if (!sizes) continue;
    const auto dim = static_cast<std::size_t>(spec.placements()[d].dim());
    require_sizes(*sizes, spec.split(dim));
    boundaries[dim].assign(1, 0);
    for (const auto size : sizes->sizes) boundaries[dim].push_back(boundaries[dim].back() + size);
  }
  return make_spec(spec.layout(), spec.placements(), spec.shape(), std::move(boundaries));
}

}  // namespace

DTensorSpec target_spec(const DTensorSpec& source, const Target& target) {
  if (target.placements() != nullptr) {
    auto spec = spec_with(source, *target.placements());
    return target.sizes().empty() ? std::move(spec) : with_sizes(spec, target);
  }
  if (target.spec() == nullptr) return spec_with(source, target.placements(source.layout().ndim()));
  require<MeshMismatch>(target.spec()->layout() == source.layout(), [&] {
    const auto [expected, got] = told_apart(source.layout(), target.spec()->layout());
    return fmt::format("expected a spec on the tensor's mesh {}, got one on mesh {}", expected,
                       got);
  });
  return *target.spec();
}

DTensorSpec target_spec(const MeshLayout& layout, const Extents& shape, const Target& target) {
  if (target.placements() != nullptr) {
    auto spec = make_spec(layout, *target.placements(), shape);
    return target.sizes().empty() ? std::move(spec) : with_sizes(spec, target);
  }
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

std::uint64_t with_sizes(std::uint64_t hash, const Target& target) {
  for (const auto& sizes : target.sizes())
    hash = sizes ? hash_range(hash, sizes->sizes) : hash_combine(hash, 0);
  return hash;
}

std::uint64_t hash_of(const Target& target, int mesh_dims) {
  if (target.spec() != nullptr) return target.spec()->hash();
  if (target.placements() == nullptr) return target.placements(mesh_dims).hash();
  return with_sizes(target.placements()->hash(), target);
}

std::string to_string(const Target& target, int mesh_dims) {
  if (target.spec() != nullptr) return tessera::to_string(*target.spec());
  const auto placements = target.placements(mesh_dims);
  if (target.sizes().empty()) return tessera::to_string(placements);
  std::vector<std::string> texts;
  for (std::size_t d = 0; d < placements.size(); ++d) {
    texts.push_back(tessera::to_string(placements[d]));
    if (const auto& sizes = target.sizes()[d])
      texts.back() += fmt::format(" of sizes [{}]", fmt::join(sizes->sizes, ", "));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace detail
}  // namespace tessera
