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

#include <tessera/mesh/mesh_dim.hpp>

namespace tessera {

/// Describes a mesh without MPI: an n-dimensional grid of ranks, row-major. One process can hold
/// the layout of any machine.
///
/// It is a shared handle, so that copies are cheap. Two layouts are equal if their ranks and shape
/// are equal; names do not count.
class MeshLayout {
 public:
  /// Makes the 0-d mesh of rank 0.
  MeshLayout();
  /// Makes the mesh of ranks 0 … product(shape) − 1 in row-major order.
  ///
  /// Errors: InvalidArgument for a size below 1, a number of names other than 0 or ndim, a name
  /// used twice, 2^31 ranks or more.
  explicit MeshLayout(const std::vector<int>& shape, std::vector<std::string> dim_names = {});
  /// Makes a mesh of any ranks, row-major.
  ///
  /// Errors: InvalidArgument as for the constructor, for a rank below 0 or used twice, and for a
  /// number of ranks other than product(shape).
  static MeshLayout from_ranks(std::vector<int> ranks, std::vector<int> shape,
                               std::vector<std::string> dim_names = {});

  int ndim() const { return static_cast<int>(shape().size()); }
  const std::vector<int>& shape() const;
  /// Returns the number of ranks.
  int size() const;
  /// Returns the number of coordinates along one mesh dim. Errors: those of index().
  int size(const MeshDim& mesh_dim) const;
  /// Returns the names of the mesh dims; empty if they have none.
  const std::vector<std::string>& dim_names() const;
  /// Returns the ranks of the communicator by row-major position in the mesh.
  const std::vector<int>& ranks() const;
  /// Returns a hash of shape and ranks.
  std::uint64_t hash() const;

  /// Returns the index of a mesh dim. Errors: InvalidArgument for an unknown name or an index out
  /// of range.
  int index(const MeshDim& mesh_dim) const;
  /// Returns the indices of mesh dims, in the order given. Errors: those of index();
  /// InvalidArgument for an empty list, or a mesh dim named twice.
  std::vector<int> indices(const MeshDims& mesh_dims) const;

  /// Returns the coordinate of a row-major position. Errors: InvalidArgument unless 0 ≤ mesh_rank <
  /// size().
  std::vector<int> coordinate(int mesh_rank) const;
  /// Returns the row-major position of a coordinate of ndim() numbers.
  int mesh_rank(std::span<const int> coordinate) const;
  /// Returns the row-major position of a rank of the communicator; -1 off the mesh.
  int position_of(int rank) const;

  /// Returns the mesh rank whose coordinate along one mesh dim is `distance` above that of `mesh_rank`,
  /// and whose other coordinates are the same; none if there is no such coordinate. If `is_periodic`,
  /// coordinates are taken modulo the size.
  std::optional<int> neighbour(int mesh_rank, const MeshDim& mesh_dim, int distance,
                               bool is_periodic) const;

  /// Returns the layout of `mesh_dims` (indices, in this order) that passes through `coordinate`.
  MeshLayout sub(const std::vector<int>& mesh_dims, std::span<const int> coordinate) const;
  /// Returns the layout of the same ranks in one mesh dim.
  MeshLayout flattened(std::string dim_name) const;
  /// Returns the layout of the same ranks in another grid, without names. Errors: InvalidArgument
  /// for a product of sizes other than size().
  MeshLayout reshaped(std::vector<int> shape) const;

  friend bool operator==(const MeshLayout& a, const MeshLayout& b);

 private:
  struct Data;
  explicit MeshLayout(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

/// Returns the extents of the largest regular block of mesh coordinates that lies on one node. In
/// each mesh dim this is the largest divisor of its size for which blocks of consecutive
/// coordinates lie on one node, at all coordinates of the other mesh dims. `node` holds the node of
/// each rank of the communicator.
std::vector<int> ranks_per_node(const MeshLayout& layout, std::span<const int> node);

/// Returns "(dp=2, tp=4)"; "(2, 4)" without names.
std::string to_string(const MeshLayout& layout);
/// Writes to_string(value).
std::ostream& operator<<(std::ostream& out, const MeshLayout& value);

namespace detail {

/// Returns to_string(layout) and its ranks: "(2) of ranks 1, 3".
std::string with_ranks(const MeshLayout& layout);
/// Returns the texts of two different layouts, for an error: with their ranks where to_string() does
/// not tell them apart.
std::pair<std::string, std::string> told_apart(const MeshLayout& a, const MeshLayout& b);

}  // namespace detail

}  // namespace tessera
