// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tessera/extents/box.hpp>
#include <tessera/extents/extents.hpp>
#include <tessera/mesh/mesh_layout.hpp>
#include <tessera/placement/placements.hpp>
#include <tessera/sharding/dim_split.hpp>
#include <tessera/sharding/sections.hpp>

namespace tessera {

/// Boundaries say where the tensor dims are cut: per tensor dim a list of parts+1 positions, from 0
/// to the extent, in split order. An empty list, or no list at all, means the rules of the
/// placements. Only tensor dims whose shardings are all Shard have such lists. The list of a dim that
/// is sharded by Cyclic or HeadTail has two numbers: the dim is a slice that begins at the first of
/// them of a dim whose extent is the second one, and lies as it lies there.
///
/// Example: rows 0-1 and 2-9 of a {10, 4} tensor on 2 ranks: {{0, 2, 10}, {}}.
using Boundaries = std::vector<std::vector<std::int64_t>>;

class DTensorSpec;

namespace detail {

/// Makes a DTensorSpec, see its constructor. Its errors name no function; the caller does.
DTensorSpec make_spec(MeshLayout layout, const Placements& placements, const Extents& shape,
                      Boundaries boundaries = {});

/// Returns with_placements(spec, placements). Its errors name no function; the caller does.
DTensorSpec spec_with(const DTensorSpec& spec, const Placements& placements);

}  // namespace detail

/// Describes who owns which elements of a distributed tensor: mesh layout, placements, global shape
/// and boundaries, without data and without MPI.
///
/// A DTensorSpec is a cheap shared handle. Boundaries that equal those of the rules are not stored,
/// and dims of shardings are never negative, so that equal distributions compare and hash equal.
/// Specs with other names that give each rank the same elements agree(), but are not equal.
class DTensorSpec {
 public:
  /// Describes the 0-d tensor on the 0-d mesh.
  DTensorSpec();

  /// Describes a tensor of global shape `shape`.
  ///
  /// Errors: InvalidArgument for a number of placements other than that of mesh dims, a dim of a
  /// sharding out of range, a negative extent, a product of extents of 2^63 or more, boundaries
  /// that are not parts+1 ascending positions from 0 to the extent, boundaries that are not those of
  /// the rule where a sharding is a Balanced, or a slice that reaches beyond the longer dim.
  DTensorSpec(MeshLayout layout, const Placements& placements, const Extents& shape,
              Boundaries boundaries = {});

  const MeshLayout& layout() const;
  const Placements& placements() const;
  const Extents& shape() const;
  /// Returns one list per tensor dim, which is empty if the rules of the placements hold.
  const Boundaries& boundaries() const;
  int tensor_dims() const { return static_cast<int>(shape().size()); }
  /// Returns how a tensor dim is split.
  const DimSplit& split(std::size_t tensor_dim) const;
  /// Returns a hash of layout, placements, shape and boundaries.
  std::uint64_t hash() const;

  /// Returns the shape of the local piece of `coordinate` (one number per mesh dim).
  ///
  /// Without boundaries, each sharding of dim d, taken in split order, replaces extent d by its
  /// part.
  /// Example: shape {10}, mesh 2x2, {Shard(0), Shard(0)}: rows 0-2, 3-4, 5-7, 8-9.
  /// Shapes:  global [n_0 … n_{k-1}] → local [m_0 … m_{k-1}], m_d ≤ n_d, possibly 0.
  Extents local_shape(const std::vector<int>& coordinate) const;
  /// Takes a row-major mesh rank. Errors: InvalidArgument if the mesh has no such rank.
  Extents local_shape(int mesh_rank) const;
  /// Returns the global index of the first element of the local piece of `coordinate`; the global
  /// extent in each tensor dim in which the piece is empty.
  ///
  /// Errors: InvalidArgument if has_boxes() is false: global_index() tells what a rank holds then.
  Extents global_offset(const std::vector<int>& coordinate) const;
  /// Takes a row-major mesh rank. Errors: InvalidArgument also if the mesh has no such rank.
  Extents global_offset(int mesh_rank) const;
  /// Returns whether the pieces of all ranks are boxes: by Shard and Balanced they are, by Cyclic
  /// and HeadTail only if no rank has two blocks or chunks.
  bool has_boxes() const;
  /// Returns the boxes that `coordinate` holds, in the order in which it stores them: one box,
  /// possibly empty, if has_boxes(). By Cyclic their number is that of the blocks.
  std::vector<Box> pieces(const std::vector<int>& coordinate) const;
  /// Returns the one box that `coordinate` holds, without checking `coordinate`. Errors: those of
  /// global_offset().
  Box piece(std::span<const int> coordinate) const;
  /// Returns what `coordinate` holds by whatever rule, without checking `coordinate`.
  Piece sections(std::span<const int> coordinate) const;
  /// Returns the global index, along a tensor dim, of index `local` of the piece of a mesh rank.
  ///
  /// Errors: InvalidArgument for a tensor dim, a rank or an index out of range.
  std::int64_t global_index(int mesh_rank, int tensor_dim, std::int64_t local) const;
  /// Returns the index in the piece of a mesh rank of index `global` along a tensor dim; none if
  /// the rank does not hold it. Errors: those of global_index().
  std::optional<std::int64_t> local_index(int mesh_rank, int tensor_dim, std::int64_t global) const;
  /// Returns, for each tensor dim, the largest extent of any rank's local piece.
  Extents largest_local_shape() const;

  /// Returns the lowest mesh rank that holds (a replica of or a contribution to) the element at
  /// `index`.
  ///
  /// Errors: InvalidArgument for an index outside the shape.
  int owner(const Extents& index) const;

  friend bool operator==(const DTensorSpec& a, const DTensorSpec& b);

 private:
  struct Data;
  explicit DTensorSpec(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  friend DTensorSpec detail::make_spec(MeshLayout, const Placements&, const Extents&, Boundaries);

  std::shared_ptr<const Data> data_;
};

/// Returns whether two specs give every rank the same elements of a tensor of one shape, in the
/// same order, whatever their shardings are called: then what lies under one needs no move to lie
/// under the other. A Partial agrees with the same Partial only.
///
/// Example: 8 rows on 4 ranks as B(0) and as S(0).
bool agree(const DTensorSpec& a, const DTensorSpec& b);

namespace detail {

/// Returns whether two specs agree(), and their placements differ in the rules of shardings at
/// most: a program that mistakes one tensor dim for another shall fail on a mesh of one rank, too.
bool agree_but_for_rules(const DTensorSpec& a, const DTensorSpec& b);
/// Returns whether every rank holds under `b` the bytes that it holds under `a`, so that nothing is to
/// be done to get from one to the other: whatever the placements are called, and along mesh dims of
/// one coordinate, where a Partial is the value itself.
bool hold_alike(const DTensorSpec& a, const DTensorSpec& b);
/// Throws InvalidArgument unless the pieces of all ranks are boxes.
void require_boxes(const DTensorSpec& spec);

}  // namespace detail

/// Returns the spec as text: "(10, 4) on (dp=2) as S(0)", with the boundaries that differ from
/// those of the chunk rule.
std::string to_string(const DTensorSpec& spec);
/// Writes to_string(value).
std::ostream& operator<<(std::ostream& out, const DTensorSpec& value);

/// Returns the spec of the same tensor under other placements. A tensor dim that Shard splits by
/// the same mesh dims in the same order keeps its boundaries; in all other tensor dims the rules of
/// the placements hold.
///
/// Errors: InvalidArgument as the constructor.
DTensorSpec with_placements(const DTensorSpec& spec, const Placements& placements);

}  // namespace tessera
