// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/comm/detail/check.hpp>
#include <tessera/error/error.hpp>
#include <tessera/mesh/device_mesh.hpp>

namespace tessera {

struct DeviceMesh::State {
  Communicator communicator;
  MeshLayout layout;
  int rank;
  std::optional<std::vector<int>> coordinate;
  std::map<std::vector<int>, DeviceMesh> subs;
  std::map<std::pair<std::vector<int>, std::string>, DeviceMesh> flats;
  std::map<std::type_index, std::shared_ptr<void>> attachments;
};

DeviceMesh::DeviceMesh(Communicator communicator, MeshLayout layout) {
  const int rank = layout.position_of(communicator.rank());
  std::optional<std::vector<int>> coordinate;
  if (rank >= 0) coordinate = layout.coordinate(rank);
  state_ = std::make_shared<State>(
      State{std::move(communicator), std::move(layout), rank, std::move(coordinate), {}, {}, {}});
}

const DeviceMesh::State& DeviceMesh::state() const {
  require(!is_null(), "DeviceMesh: expected a mesh, got a null handle");
  return *state_;
}

DeviceMesh DeviceMesh::from_ranks(MPI_Comm comm, std::vector<int> ranks, std::vector<int> shape,
                                  std::vector<std::string> dim_names) {
  auto communicator = Communicator::duplicate_of(comm);
  auto layout = MeshLayout::from_ranks(std::move(ranks), std::move(shape), std::move(dim_names));
  const int largest = *std::ranges::max_element(layout.ranks());
  require(largest < communicator.size(), [&] {
    return fmt::format("DeviceMesh: expected ranks of a communicator of {} ranks, got rank {}",
                       communicator.size(), largest);
  });
  return DeviceMesh(std::move(communicator), std::move(layout));
}

DeviceMesh DeviceMesh::from_comm(MPI_Comm comm) {
  auto communicator = Communicator::duplicate_of(comm);
  const int size = communicator.size();
  return DeviceMesh(std::move(communicator), MeshLayout(std::vector<int>{size}));
}

DeviceMesh DeviceMesh::from_cart(MPI_Comm cart_comm) {
  auto communicator = Communicator::duplicate_of(cart_comm);
  int topology = MPI_UNDEFINED;
  detail::check_mpi(MPI_Topo_test(cart_comm, &topology), "MPI_Topo_test");
  require(topology == MPI_CART,
          "from_cart: expected a Cartesian communicator, got one without such a topology");
  int ndim = 0;
  detail::check_mpi(MPI_Cartdim_get(cart_comm, &ndim), "MPI_Cartdim_get");
  std::vector<int> shape(static_cast<std::size_t>(ndim));
  auto periods = shape;
  auto coordinate = shape;
  detail::check_mpi(MPI_Cart_get(cart_comm, ndim, shape.data(), periods.data(), coordinate.data()),
                    "MPI_Cart_get");
  return DeviceMesh(std::move(communicator), MeshLayout(std::move(shape)));
}

DeviceMesh init_device_mesh(MPI_Comm comm, std::vector<int> shape,
                            std::vector<std::string> dim_names) {
  const auto communicator = Communicator::duplicate_of(comm);
  MeshLayout layout(shape, dim_names);
  require(layout.size() <= communicator.size(), [&] {
    return fmt::format(
        "init_device_mesh: expected at most {} ranks, those of the communicator, got mesh {}",
        communicator.size(), to_string(layout));
  });
  return DeviceMesh::from_ranks(comm, layout.ranks(), std::move(shape), std::move(dim_names));
}

const MeshLayout& DeviceMesh::layout() const {
  return state().layout;
}
int DeviceMesh::rank() const {
  return state().rank;
}
const std::optional<std::vector<int>>& DeviceMesh::coordinate() const {
  return state().coordinate;
}
const Communicator& DeviceMesh::communicator() const {
  return state().communicator;
}

int DeviceMesh::local_rank(const MeshDim& mesh_dim) const {
  const int index = layout().index(mesh_dim);
  require(coordinate().has_value(),
          "local_rank: expected a rank of the mesh, got one off the mesh");
  return (*coordinate())[static_cast<std::size_t>(index)];
}

MPI_Comm DeviceMesh::comm(const MeshDims& mesh_dims) const {
  const auto part = sub(mesh_dims);
  if (!coordinate()) return MPI_COMM_NULL;
  return communicator().group(part.layout().ranks());
}

DeviceMesh DeviceMesh::sub(const MeshDims& mesh_dims) const {
  const auto indices = layout().indices(mesh_dims);
  if (const auto found = state().subs.find(indices); found != state().subs.end())
    return found->second;
  const auto through = coordinate().value_or(std::vector<int>(shape().size(), 0));
  return state_->subs.emplace(indices, DeviceMesh(communicator(), layout().sub(indices, through)))
      .first->second;
}

DeviceMesh DeviceMesh::flatten(const MeshDims& mesh_dims, std::string dim_name) const {
  const std::pair key(layout().indices(mesh_dims), std::move(dim_name));
  const auto found = state().flats.find(key);
  if (found != state().flats.end()) return found->second;
  const DeviceMesh flat(communicator(), sub(mesh_dims).layout().flattened(key.second));
  return state_->flats.emplace(key, flat).first->second;
}

Group DeviceMesh::group() const {
  communicator().handle();
  return {communicator(), layout().ranks(), rank()};
}

std::shared_ptr<void>& DeviceMesh::attachment_slot(std::type_index type) const {
  state();
  return state_->attachments[type];
}

bool operator==(const DeviceMesh& a, const DeviceMesh& b) {
  if (a.state_ == b.state_) return true;
  return !a.is_null() && !b.is_null() && a.communicator() == b.communicator() &&
         a.layout() == b.layout();
}

}  // namespace tessera
