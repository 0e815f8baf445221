// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tessera/extents/box.hpp>
#include <tessera/extents/extents.hpp>
#include <tessera/mesh/mesh_layout.hpp>
#include <tessera/placement/placements.hpp>
#include <tessera/sharding/dim_split.hpp>

namespace tessera {

/// Where the tensor dims are cut: per tensor dim a list of parts+1 positions, from 0 to the extent,
/// in split order. An empty list, or no list at all, means the chunk rule.
///
/// Example: rows 0-1 and 2-9 of a {10, 4} tensor on 2 ranks: {{0, 2, 10}, {}}.
using Boundaries = std::vector<std::vector<std::int64_t>>;

/// Who owns what of a distributed tensor: mesh layout, placements, global shape, boundaries. No
/// data, no MPI.
///
/// A cheap shared handle. Boundaries equal to the chunk rule's are stored as none, and Shard dims
/// are never negative, so that equal distributions compare and hash equal.
class DTensorSpec {
 public:
  /// The 0-d tensor on the 0-d mesh.
  DTensorSpec();

  /// Errors: InvalidArgument for placements of another length than the mesh has dims, a Shard dim
  /// out of range, a negative extent, a product of extents of more than 64 bits, boundaries that
  /// are no cut of their dim. `function` is named in messages.
  DTensorSpec(MeshLayout layout, const Placements& placements, const Extents& shape,
              Boundaries boundaries = {}, const char* function = "DTensorSpec");

  const MeshLayout& layout() const;
  const Placements& placements() const;
  const Extents& shape() const;
  /// One list per tensor dim, empty where the chunk rule holds.
  const Boundaries& boundaries() const;
  int tensor_dims() const { return static_cast<int>(shape().size()); }
  /// How a tensor dim is split.
  const DimSplit& split(std::size_t tensor_dim) const;
  /// Of layout, placements, shape and boundaries.
  std::uint64_t hash() const;

  /// Shape of the piece that `coordinate` (one number per mesh dim) or a row-major mesh rank holds.
  ///
  /// Each Shard(d), taken in split order, replaces extent d by its chunk.
  /// Example: shape {10}, mesh 2x2, {Shard(0), Shard(0)}: rows 0-2, 3-4, 5-7, 8-9.
  /// Shapes:  global [n_0 … n_{k-1}] → local [m_0 … m_{k-1}], m_d ≤ n_d, possibly 0.
  Extents local_shape(const std::vector<int>& coordinate) const;
  /// The same of a row-major mesh rank. Errors: InvalidArgument if the mesh has no such rank.
  Extents local_shape(int mesh_rank) const;
  /// Global index of the first element of that piece; the global extent in a tensor dim where the
  /// piece is empty.
  Extents global_offset(const std::vector<int>& coordinate) const;
  /// The same of a row-major mesh rank. Errors: InvalidArgument if the mesh has no such rank.
  Extents global_offset(int mesh_rank) const;
  /// The boxes that `coordinate` holds; one, possibly empty.
  std::vector<Box> pieces(const std::vector<int>& coordinate) const;
  /// That one box.
  Box piece(std::span<const int> coordinate) const;
  /// Shape of the largest piece of any rank, dim by dim.
  Extents largest_local_shape() const;

  /// Lowest mesh rank that holds (a copy or a term of) the element at `index`.
  ///
  /// Errors: InvalidArgument for an index outside the shape.
  int owner(const Extents& index) const;

  friend bool operator==(const DTensorSpec& a, const DTensorSpec& b);

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

/// "(10, 4) on (dp=2) as S(0)", with boundaries where they are not the chunk rule's.
std::string to_string(const DTensorSpec& spec);
/// Writes to_string(value).
std::ostream& operator<<(std::ostream& out, const DTensorSpec& value);

/// The spec of the same tensor under other placements: where a tensor dim is split by the same mesh
/// dims in the same order, its boundaries stay; elsewhere the chunk rule holds.
///
/// Errors: InvalidArgument as the constructor.
DTensorSpec with_placements(const DTensorSpec& spec, const Placements& placements,
                            const char* function);

}  // namespace tessera
