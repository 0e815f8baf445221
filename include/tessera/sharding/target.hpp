// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tessera/error/detail/never.hpp>
#include <tessera/placement/placements.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera {

/// AllReplicate is the type of `all_replicate`.
struct AllReplicate {
  constexpr explicit AllReplicate() = default;
};
/// `all_replicate` is the target with Replicate() along every mesh dim.
inline constexpr AllReplicate all_replicate{};

/// Tensor dim `dim` is split over the ranks along the mesh dim into parts of these sizes, one for
/// each coordinate, whose sum is the extent. In the tensor it is a Shard with boundaries.
///
/// Example: Sizes(0, {3, 1, 4}) on 3 ranks: rows 0-2, 3, 4-7.
struct Sizes {
  int dim;
  std::vector<std::int64_t> sizes;

  Sizes(int tensor_dim, std::vector<std::int64_t> part_sizes)
      : dim(tensor_dim), sizes(std::move(part_sizes)) {}
};

/// A TargetPlacement is what a Target says along one mesh dim: a Placement or Sizes.
class TargetPlacement {
 public:
  template <detail::OnePlacement P>
  TargetPlacement(P placement) : placement_(placement) {}
  TargetPlacement(Sizes sizes) : placement_(Shard(sizes.dim)), sizes_(std::move(sizes)) {}

  /// Returns the placement: a Shard where there are Sizes.
  const Placement& placement() const { return placement_; }
  /// Returns the Sizes, if these were given.
  const std::optional<Sizes>& sizes() const { return sizes_; }

 private:
  Placement placement_;
  std::optional<Sizes> sizes_ = {};
};

/// A Target says how a tensor is to be distributed. Functions that take one accept a list of
/// placements and Sizes, one of them (on a mesh of one dim), Placements, all_replicate, or a
/// DTensorSpec.
///
/// Examples: {Shard(0), Replicate()}, Balanced(0), Sizes(0, {3, 1, 4}), {{Shard(0), Shard(0)}, {1,
/// 0}} with a split order, by_dim(mesh, {{"dp", "tp"}, {}}), other.spec().
class Target {
 public:
  Target(AllReplicate) {}
  Target(Placements placements) : value_(std::move(placements)) {}
  /// Takes a spec, whose shape and boundaries the tensor gets, too.
  Target(DTensorSpec spec) : value_(std::move(spec)) {}
  Target(std::initializer_list<TargetPlacement> placements);
  Target(std::vector<Placement> placements) : value_(Placements(std::move(placements))) {}
  /// Takes placements and a split order, as the constructor of Placements does.
  Target(std::vector<Placement> placements, std::vector<int> split_positions)
      : value_(Placements(std::move(placements), std::move(split_positions))) {}
  /// Takes the placement along the only mesh dim.
  template <detail::OnePlacement P>
  Target(P placement) : value_(Placements{Placement(placement)}) {}
  /// Takes the sizes along the only mesh dim.
  Target(Sizes sizes) : Target({TargetPlacement(std::move(sizes))}) {}

  /// Stops the compiler.
  template <std::integral I>
  Target(std::initializer_list<I>) {
    static_assert(detail::never<I>,
                  "expected placements such as {Shard(0), Replicate()}, not numbers");
  }

  /// Returns the spec given; null if there is none.
  const DTensorSpec* spec() const { return std::get_if<DTensorSpec>(&value_); }
  /// Returns the placements given; null if there are none.
  const Placements* placements() const { return std::get_if<Placements>(&value_); }
  /// Returns the Sizes by mesh dim, where these were given; an empty list if there are none at all.
  const std::vector<std::optional<Sizes>>& sizes() const { return sizes_; }
  /// Returns the placements on a mesh of `mesh_dims` dims: those given, those of the spec, or
  /// Replicate() along every mesh dim.
  Placements placements(int mesh_dims) const;

 private:
  std::variant<AllReplicate, Placements, DTensorSpec> value_;
  std::vector<std::optional<Sizes>> sizes_ = {};
};

namespace detail {

// The errors of the functions below name no function; the named() or collectively() of the caller
// does.

/// Returns the target of a redistribution of `source` on its mesh. Errors: those of
/// with_placements(); InvalidArgument for Sizes that are not one for each coordinate, do not add up
/// to the extent, or are not the only sharding of their tensor dim; MeshMismatch for a spec on
/// another mesh.
DTensorSpec target_spec(const DTensorSpec& source, const Target& target);

/// Returns the target for a tensor of `shape` on `layout`.
///
/// Errors: those of the constructor of DTensorSpec; InvalidArgument for Sizes as above;
/// MeshMismatch and InvalidArgument for a spec on another mesh or of another shape.
DTensorSpec target_spec(const MeshLayout& layout, const Extents& shape, const Target& target);

/// Returns `hash`, which stands for the placements of a target, with the Sizes of the target.
std::uint64_t with_sizes(std::uint64_t hash, const Target& target);
/// Returns a hash of the target on a mesh of `mesh_dims` dims.
std::uint64_t hash_of(const Target& target, int mesh_dims);
/// Returns the target on a mesh of `mesh_dims` dims as text: "S(0), R", with "of sizes [3, 1, 4]"
/// behind a placement where there are Sizes, or the text of the spec.
std::string to_string(const Target& target, int mesh_dims);

}  // namespace detail
}  // namespace tessera
