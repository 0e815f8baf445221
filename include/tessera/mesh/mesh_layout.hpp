// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tessera/mesh/mesh_dim.hpp>

namespace tessera {

/// The integers of a mesh: an n-d grid of ranks, row-major. No MPI: one process can hold the layout
/// of any machine.
///
/// A cheap shared handle. Two layouts are equal if their ranks and shape are; names do not count.
class MeshLayout {
 public:
  /// The 0-d mesh of rank 0.
  MeshLayout();
  /// Ranks 0 … product(shape) − 1 in row-major order.
  ///
  /// Errors: InvalidArgument for a size below 1, a number of names other than 0 or ndim, a name
  /// used twice, 2^31 ranks or more.
  explicit MeshLayout(const std::vector<int>& shape, std::vector<std::string> dim_names = {});
  /// Any ranks, row-major.
  ///
  /// Errors: as above; a rank below 0 or used twice; a number of ranks other than product(shape).
  static MeshLayout from_ranks(std::vector<int> ranks, std::vector<int> shape,
                               std::vector<std::string> dim_names = {});

  int ndim() const { return static_cast<int>(shape().size()); }
  const std::vector<int>& shape() const;
  /// Number of ranks.
  int size() const;
  /// Number of coordinates along one mesh dim. Errors: as index().
  int size(const MeshDim& mesh_dim) const;
  /// By mesh dim; empty without names.
  const std::vector<std::string>& dim_names() const;
  /// Ranks of the communicator by row-major position in the mesh.
  const std::vector<int>& ranks() const;
  /// Of shape and ranks.
  std::uint64_t hash() const;

  /// Index of a mesh dim. Errors: InvalidArgument for an unknown name or an index out of range.
  int index(const MeshDim& mesh_dim) const;
  /// Indices of mesh dims, in the order given. Errors: as index(); an empty list; a mesh dim named
  /// twice.
  std::vector<int> indices(const MeshDims& mesh_dims) const;

  /// Coordinate of a row-major position, 0 ≤ mesh_rank < size().
  std::vector<int> coordinate(int mesh_rank) const;
  /// Row-major position of a coordinate of ndim() numbers.
  int mesh_rank(std::span<const int> coordinate) const;
  /// Row-major position of a rank of the communicator, -1 off the mesh.
  int position_of(int rank) const;

  /// The layout of `mesh_dims` (indices, in this order) that passes through `coordinate`.
  MeshLayout sub(const std::vector<int>& mesh_dims, std::span<const int> coordinate) const;
  /// The same ranks in one mesh dim.
  MeshLayout flattened(std::string dim_name) const;
  /// The same ranks in another grid, without names. Errors: InvalidArgument for a product of sizes
  /// other than size().
  MeshLayout reshaped(std::vector<int> shape) const;

  friend bool operator==(const MeshLayout& a, const MeshLayout& b);

 private:
  struct Data;
  explicit MeshLayout(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

/// Per mesh dim the largest divisor of its size so that blocks of so many coordinates that follow
/// one another, at whatever coordinates of the other mesh dims, lie on one node. `node`: by rank of
/// the communicator.
std::vector<int> ranks_per_node(const MeshLayout& layout, std::span<const int> node);

/// "(dp=2, tp=4)"; "(2, 4)" without names.
std::string to_string(const MeshLayout& layout);
/// Writes to_string(value).
std::ostream& operator<<(std::ostream& out, const MeshLayout& value);

}  // namespace tessera
