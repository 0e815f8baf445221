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
#include <tessera/agreement/options.hpp>
#include <tessera/comm/collectives.hpp>
#include <tessera/comm/communicator.hpp>
#include <tessera/extents/extents.hpp>
#include <tessera/mesh/mesh_layout.hpp>

namespace tessera {

/// An n-d grid of ranks of a communicator. A shared handle, like a View: copies are the same mesh.
///
/// Two meshes are the same if their user communicator, ranks and shape are; names do not count. On
/// a rank of the communicator that is not on the mesh the handle is valid too: coordinate() is
/// empty there and collective calls return at once.
class DeviceMesh {
 public:
  /// No mesh. Every member but is_null and == needs a mesh.
  DeviceMesh() = default;

  /// A mesh of any ranks of `comm`, row-major; ranks of different meshes may call it together.
  /// Collective over `comm`. Errors: see init_device_mesh.
  static DeviceMesh from_ranks(MPI_Comm comm, std::vector<int> ranks, std::vector<int> shape,
                               std::vector<std::string> dim_names = {});
  /// All ranks of `comm` in one mesh dim.
  static DeviceMesh from_comm(MPI_Comm comm);
  /// The grid of a Cartesian communicator. Errors: InvalidArgument if it is none.
  static DeviceMesh from_cart(MPI_Comm cart_comm);

  bool is_null() const { return state_ == nullptr; }
  /// The integers of the mesh.
  const MeshLayout& layout() const;
  int ndim() const { return layout().ndim(); }
  const std::vector<int>& shape() const { return layout().shape(); }
  int size() const { return layout().size(); }
  /// Number of coordinates along one mesh dim. Errors: InvalidArgument for an unknown one.
  int size(const MeshDim& mesh_dim) const { return layout().size(mesh_dim); }
  /// By mesh dim; empty without names.
  const std::vector<std::string>& dim_names() const { return layout().dim_names(); }

  /// Row-major position of this rank in the mesh; -1 off the mesh.
  int rank() const;
  /// Coordinate of this rank, one number per mesh dim; nullopt off the mesh.
  const std::optional<std::vector<int>>& coordinate() const;
  /// Coordinate of this rank along one mesh dim. Errors: InvalidArgument off the mesh or for an
  /// unknown mesh dim.
  int local_rank(const MeshDim& mesh_dim) const;

  /// The communicator of the ranks along one mesh dim (or several, row-major in the order named)
  /// through this rank, for the user.
  ///
  /// Collective over these ranks at first use, local afterwards: meshes with the same group give
  /// the same communicator. It belongs to the library and is freed with the user's communicator.
  /// MPI_COMM_NULL off the mesh. At Agreement::none MPI waits for late ranks without limit.
  MPI_Comm comm(const MeshDims& mesh_dims) const;

  /// The part of this mesh along `mesh_dims` (in the order named) through this rank; off the mesh,
  /// through coordinate 0. Local.
  ///
  /// Errors: InvalidArgument for an unknown mesh dim or one named twice.
  DeviceMesh sub(const MeshDims& mesh_dims) const;
  /// sub() of one mesh dim.
  DeviceMesh operator[](const MeshDim& mesh_dim) const { return sub({mesh_dim}); }
  /// sub(mesh_dims) as one mesh dim, row-major. Local.
  DeviceMesh flatten(const MeshDims& mesh_dims, std::string dim_name) const;

  /// How the mesh lies on nodes: per mesh dim, blocks of so many coordinates that follow one
  /// another are on one node; empty where the whole mesh is on one (or has more than 8 dims). Ranks
  /// that share a node otherwise, as every other rank does, are not seen. Local, the same on every
  /// rank.
  ///
  /// Example: ranks 0-7 in a (2, 4) mesh on nodes 0,0,1,1,2,2,3,3: (1, 2).
  const Extents& ranks_per_node() const;
  /// The ranks of such a block, that of this rank, as a mesh of as many dims; off the mesh the
  /// first one. Local.
  DeviceMesh on_node() const;

  /// The ranks of this mesh as the library's collectives see them. Errors: MpiError once the
  /// communicator was freed.
  Group group() const;
  /// The library's duplicate of the user's communicator.
  const Communicator& communicator() const;

  /// The calls on this mesh, for the library; null off the mesh. Errors: as group().
  detail::OperationLog* calls() const;

  /// An object of type T that lives as long as the mesh and is shared by all its handles,
  /// default-constructed at first use.
  template <class T>
  T& attachment() const {
    auto& slot = attachment_slot(typeid(T));
    if (!slot) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }

  /// Null handles are equal; otherwise see above.
  friend bool operator==(const DeviceMesh& a, const DeviceMesh& b);

 private:
  struct State;

  DeviceMesh(Communicator communicator, MeshLayout layout);
  template <class MakeLayout>
  static DeviceMesh make(const Communicator& communicator, FunctionName function,
                         bool arguments_differ, const MakeLayout& make_layout);
  friend DeviceMesh init_device_mesh(MPI_Comm, const std::vector<int>&, std::vector<std::string>);
  std::shared_ptr<void>& attachment_slot(std::type_index type) const;
  const State& state() const;

  std::shared_ptr<State> state_;
};

/// A mesh of the first product(shape) ranks of `comm`, row-major. Example:
/// init_device_mesh(MPI_COMM_WORLD, {2, 4}, {"dp", "tp"}).
///
/// Collective over `comm` (at its first use the library duplicates it).
/// Errors: InvalidArgument for a size below 1, a product above the size of `comm`, names that are
/// not ndim different ones, a null or inter-communicator; MpiError outside MPI's lifetime.
DeviceMesh init_device_mesh(MPI_Comm comm, const std::vector<int>& shape,
                            std::vector<std::string> dim_names = {});

/// How the ranks of all meshes of `mesh`'s user communicator check that they call the same, and how
/// long they wait for one another. At first as the environment of rank 0 says: TESSERA_AGREEMENT
/// (none, plan, always), TESSERA_TIMEOUT and TESSERA_PATIENCE (seconds).
const AgreementOptions& agreement(const DeviceMesh& mesh);
/// Changes it, and makes all calls new to the ranks. Collective over the user's communicator.
/// Errors: InvalidArgument for seconds that are not above 0, or options that differ between ranks.
void set_agreement(const DeviceMesh& mesh, const AgreementOptions& options);

/// The name of the mesh in messages: that of its layout.
inline std::string to_string(const DeviceMesh& mesh) {
  return to_string(mesh.layout());
}

}  // namespace tessera
