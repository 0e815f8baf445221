// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <vector>

#include <mpi.h>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/agreement/detail/random_state.hpp>
#include <tessera/agreement/options.hpp>
#include <tessera/comm/collectives.hpp>
#include <tessera/comm/communicator.hpp>
#include <tessera/extents/extents.hpp>
#include <tessera/mesh/mesh_layout.hpp>

namespace tessera {

namespace detail {
struct MeshAccess;
}

/// A DeviceMesh is an n-dimensional grid of ranks of a communicator. It is a shared handle, like a
/// View: copies refer to the same mesh.
///
/// Two meshes are equal if their user communicator, ranks and shape are equal; names do not count.
/// The handle is also valid on a rank of the communicator that is off the mesh: coordinate() is
/// empty there, and collective calls return at once.
class DeviceMesh {
 public:
  /// Makes a null handle. All members except is_null() and == need a mesh.
  DeviceMesh() = default;

  /// Creates a mesh of any ranks of `comm`, row-major. In one call, different ranks may list the
  /// ranks of different meshes. Collective over `comm`. Errors: InvalidArgument for ranks that
  /// `comm` does not have, or as MeshLayout::from_ranks(); otherwise as init_device_mesh().
  static DeviceMesh from_ranks(MPI_Comm comm, std::vector<int> ranks, std::vector<int> shape,
                               std::vector<std::string> dim_names = {});
  /// Creates a mesh of all ranks of `comm` in one mesh dim. Collective over `comm`.
  static DeviceMesh from_comm(MPI_Comm comm);
  /// Creates the mesh of a Cartesian communicator. Collective over it. Errors: InvalidArgument if
  /// it is not Cartesian.
  static DeviceMesh from_cart(MPI_Comm cart_comm);

  bool is_null() const { return state_ == nullptr; }
  /// Returns the description of the mesh without MPI.
  const MeshLayout& layout() const;
  int ndim() const { return layout().ndim(); }
  const std::vector<int>& shape() const { return layout().shape(); }
  int size() const { return layout().size(); }
  /// Returns the number of coordinates along one mesh dim. Errors: InvalidArgument for an unknown
  /// one.
  int size(const MeshDim& mesh_dim) const { return layout().size(mesh_dim); }
  /// Returns the names of the mesh dims; empty if they have none.
  const std::vector<std::string>& dim_names() const { return layout().dim_names(); }

  /// Returns the row-major position of this rank in the mesh; -1 off the mesh.
  int rank() const;
  /// Returns the coordinate of this rank, one number per mesh dim; nullopt off the mesh.
  const std::optional<std::vector<int>>& coordinate() const;
  /// Returns the coordinate of this rank along one mesh dim. Errors: InvalidArgument off the mesh
  /// or for an unknown mesh dim.
  int local_rank(const MeshDim& mesh_dim) const;

  /// Returns the mesh rank that is `distance` after this one along one mesh dim, with the same other
  /// coordinates: before it, if `distance` is negative. None if the mesh dim ends before, or off the
  /// mesh; with `periodic`, the first coordinate comes after the last one. Local. Errors:
  /// InvalidArgument for an unknown mesh dim.
  std::optional<int> neighbour(const MeshDim& mesh_dim, int distance, bool periodic = false) const;

  /// Returns the communicator of the ranks along one mesh dim (or several, row-major in the order
  /// named) through this rank, for the user.
  ///
  /// Collective over these ranks at first use, local afterwards: meshes with the same group give
  /// the same communicator. It belongs to the library and is freed with the user's communicator.
  /// Off the mesh it is MPI_COMM_NULL. At Agreement::none MPI waits for late ranks without limit.
  MPI_Comm comm(const MeshDims& mesh_dims) const;

  /// Returns the part of this mesh along `mesh_dims` (in the order named) through this rank; off
  /// the mesh, through coordinate 0. Local.
  ///
  /// Errors: InvalidArgument for an unknown mesh dim or one named twice.
  DeviceMesh sub(const MeshDims& mesh_dims) const;
  /// Returns sub() of one mesh dim.
  DeviceMesh operator[](const MeshDim& mesh_dim) const { return sub({mesh_dim}); }
  /// Returns sub(mesh_dims) as a mesh of one dim, row-major. Local.
  DeviceMesh flatten(const MeshDims& mesh_dims, std::string dim_name) const;

  /// Returns the extents of the largest regular block of coordinates that lies on one node, one per
  /// mesh dim; empty if the whole mesh lies on one node (or has more than 8 dims). Ranks that share
  /// a node in another pattern, such as every second rank, are not detected. Local; equal on every
  /// rank.
  ///
  /// Example: ranks 0-7 in a (2, 4) mesh on nodes 0,0,1,1,2,2,3,3: (1, 2).
  const Extents& ranks_per_node() const;
  /// Returns the block of ranks_per_node() that this rank is in, as a mesh with the same number of
  /// dims; off the mesh, the first block. If ranks_per_node() is empty, it is this mesh. Local.
  DeviceMesh on_node() const;

  /// Returns the ranks of this mesh as a group for the library's collectives. Errors: MpiError once
  /// the communicator was freed.
  Group group() const;
  /// Returns the library's duplicate of the user's communicator.
  const Communicator& communicator() const;

  /// Compares as the class description says; null handles are equal.
  friend bool operator==(const DeviceMesh& a, const DeviceMesh& b);

 private:
  struct State;

  DeviceMesh(Communicator communicator, MeshLayout layout);
  template <class MakeLayout>
  static DeviceMesh make(const Communicator& communicator, FunctionName function,
                         bool arguments_differ, const MakeLayout& make_layout);
  friend DeviceMesh init_device_mesh(MPI_Comm, const std::vector<int>&, std::vector<std::string>);
  friend detail::MeshAccess;
  std::shared_ptr<void>& attachment_slot(std::type_index type) const;
  const State& state() const;

  std::shared_ptr<State> state_;
};

namespace detail {

/// Gives the library what it keeps with a mesh.
struct MeshAccess {
  /// Returns the log of the calls on `mesh`; null off the mesh. Errors: those of
  /// DeviceMesh::group().
  static OperationLog* calls(const DeviceMesh& mesh);
  /// Returns the random numbers of the group of `mesh`, which this rank belongs to.
  static RandomState& random_state(const DeviceMesh& mesh);

  /// Returns whether `part` is a mesh of some dims of `mesh`, made by it, that has fewer ranks.
  static bool is_part(const DeviceMesh& part, const DeviceMesh& mesh);

  /// Returns an object of type T that lives as long as the mesh and is shared by all its handles.
  /// It is default-constructed at first use.
  template <class T>
  static T& attachment(const DeviceMesh& mesh) {
    auto& slot = mesh.attachment_slot(typeid(T));
    if (!slot) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }
};

}  // namespace detail

/// Runs body(operation) as a collective call on a mesh, see the other collectively(). Off the mesh
/// nothing is compared.
template <class Body>
auto collectively(const DeviceMesh& mesh, FunctionName name, Body&& body) {
  auto* const calls = detail::named(name.text, [&] { return detail::MeshAccess::calls(mesh); });
  return collectively(calls, name, std::forward<Body>(body));
}

/// Creates a mesh of the first product(shape) ranks of `comm`, row-major. Example:
/// init_device_mesh(MPI_COMM_WORLD, {2, 4}, {"dp", "tp"}).
///
/// Collective over `comm` (at its first use the library duplicates it).
/// Errors: InvalidArgument for a size below 1, a product above the size of `comm`, names other than
/// ndim different ones, a null or inter-communicator; MpiError outside MPI's lifetime; Timeout, which
/// names the ranks that did not come.
DeviceMesh init_device_mesh(MPI_Comm comm, const std::vector<int>& shape,
                            std::vector<std::string> dim_names = {});

/// Returns how the ranks of all meshes of `mesh`'s user communicator check that they make the same
/// calls, and how long they wait for one another. The environment of rank 0 gives the initial
/// values: TESSERA_AGREEMENT (none, plan, always), TESSERA_TIMEOUT and TESSERA_PATIENCE (seconds).
const AgreementOptions& agreement(const DeviceMesh& mesh);
/// Sets these options, and makes all calls new to the ranks. Collective over the user's
/// communicator. Errors: InvalidArgument for seconds below those of AgreementOptions, or options
/// that differ between ranks.
void set_agreement(const DeviceMesh& mesh, const AgreementOptions& options);

/// Returns the name of the mesh in messages, which is that of its layout.
inline std::string to_string(const DeviceMesh& mesh) {
  return to_string(mesh.layout());
}

namespace detail {

/// Returns the texts of two different meshes, for an error: with their ranks, or a note on their
/// communicator, where to_string() does not tell them apart.
std::pair<std::string, std::string> told_apart(const DeviceMesh& a, const DeviceMesh& b);

}  // namespace detail

}  // namespace tessera
