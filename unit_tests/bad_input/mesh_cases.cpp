// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cases.hpp"

namespace tessera::test {

DeviceMesh reversed(const DeviceMesh& mesh) {
  return kept_mesh("reversed " + std::to_string(mesh.size()), [&] {
    const auto& ranks = mesh.layout().ranks();
    return DeviceMesh::from_ranks(MPI_COMM_WORLD, {ranks.rbegin(), ranks.rend()}, mesh.shape());
  });
}

std::vector<Case> mesh_cases() {
  return {
      {"mesh_of_a_null_communicator", invalid_argument,
       "expected an intra-communicator, got MPI_COMM_NULL",
       [](const Given&) { init_device_mesh(MPI_COMM_NULL, {1}); }, Reach::this_rank},
      {"grid_of_a_communicator_that_is_none", invalid_argument, "from_cart: expected a Cartesian",
       [](const Given&) { DeviceMesh::from_cart(MPI_COMM_WORLD); }},
      {"mesh_of_more_ranks_than_there_are", invalid_argument, "init_device_mesh: expected at most ",
       [](const Given&) {
         init_device_mesh(MPI_COMM_WORLD, {world_size(), 2});
       }},
      {"mesh_dim_of_size_0", invalid_argument, "mesh: expected sizes >= 1, got shape (1, 0)",
       [](const Given&) {
         init_device_mesh(MPI_COMM_WORLD, {1, 0});
       }},
      {"mesh_dim_of_negative_size", invalid_argument, "mesh: expected sizes >= 1, got shape (-1)",
       [](const Given&) { init_device_mesh(MPI_COMM_WORLD, {-1}); }},
      {"mesh_dim_name_used_twice", invalid_argument,
       "mesh: expected different dim names, got (x, x)",
       [](const Given&) {
         init_device_mesh(MPI_COMM_WORLD, {1, 1}, {"x", "x"});
       }},
      {"more_names_than_mesh_dims", invalid_argument, "mesh: expected ",
       [](const Given&) {
         init_device_mesh(MPI_COMM_WORLD, {1}, {"x", "y"});
       }},
      {"mesh_of_a_rank_that_is_not_there", invalid_argument, "expected ranks of a communicator of",
       [](const Given&) { DeviceMesh::from_ranks(MPI_COMM_WORLD, {world_size()}, {1}); }},
      {"mesh_of_a_negative_rank", invalid_argument, "mesh: expected ",
       [](const Given&) { DeviceMesh::from_ranks(MPI_COMM_WORLD, {-1}, {1}); }},
      {"mesh_of_a_rank_twice", invalid_argument, "mesh: expected ",
       [](const Given&) {
         DeviceMesh::from_ranks(MPI_COMM_WORLD, {0, 0}, {2});
       }},
      {"mesh_of_fewer_ranks_than_its_shape", invalid_argument, "mesh: expected ",
       [](const Given&) { DeviceMesh::from_ranks(MPI_COMM_WORLD, {0}, {2}); }},
      {"sub_of_an_unknown_mesh_dim", invalid_argument,
       "mesh: expected a dim of mesh (x=", [](const Given& s) { s.mesh["y"]; }, Reach::this_rank},
      {"size_of_a_mesh_dim_out_of_range", invalid_argument, "mesh: expected a dim of mesh (x=",
       [](const Given& s) { s.mesh.size(1); }, Reach::this_rank},
      {"sub_of_a_mesh_dim_twice", invalid_argument, "mesh: expected ",
       [](const Given& s) {
         s.mesh.sub({0, "x"});
       },
       Reach::this_rank},
      {"flatten_of_no_mesh_dim", invalid_argument, "mesh: expected ",
       [](const Given& s) { s.mesh.flatten(std::vector<int>(), "all"); }, Reach::this_rank},
      {"local_rank_of_an_unknown_mesh_dim", invalid_argument, "mesh: expected a dim of mesh (x=",
       [](const Given& s) { s.mesh.local_rank("y"); }, Reach::this_rank},
      {"communicator_of_an_unknown_mesh_dim", invalid_argument, "mesh: expected a dim of mesh (x=",
       [](const Given& s) { s.mesh.comm("y"); }, Reach::this_rank},
      {"time_limit_of_0", invalid_argument,
       "set_agreement: expected a time limit of 0.001 s or more",
       [](const Given& s) { set_agreement(s.mesh, {.timeout = 0}); }},
      {"time_limit_below_0", invalid_argument,
       "set_agreement: expected a time limit of 0.001 s or more",
       [](const Given& s) { set_agreement(s.mesh, {.timeout = -1}); }},
      {"time_limit_too_short_to_hold", invalid_argument,
       "set_agreement: expected a time limit of 0.001 s or more, got 1e-09 s",
       [](const Given& s) { set_agreement(s.mesh, {.timeout = 1e-9}); }},
      {"patience_of_0", invalid_argument, "set_agreement: expected a patience of 1e-06 s or more",
       [](const Given& s) { set_agreement(s.mesh, {.patience = 0}); }},
      {"no_mesh", invalid_argument, "zeros: expected a mesh, got a null handle",
       [](const Given&) { zeros<Matrix>(DeviceMesh(), {Shard(0)}, shape); }, Reach::this_rank},
      {"no_mesh_for_from_local", invalid_argument, "from_local: expected a mesh, got a null handle",
       [](const Given& s) { from_local(s.tensor.to_local(), DeviceMesh(), {Shard(0)}); },
       Reach::this_rank},
      {"no_mesh_for_a_collective", invalid_argument,
       "all_reduce: expected a mesh, got a null handle",
       [](const Given& s) { all_reduce(s.tensor.to_local(), ReduceOp::sum, DeviceMesh(), 0); },
       Reach::this_rank},
      {"no_default_mesh", invalid_argument, "ones: expected a mesh, or a DeviceMeshScope",
       [](const Given&) { ones<Matrix>(Placements{Shard(0)}, shape); }, Reach::this_rank},
      {"no_default_mesh_for_distribute_tensor", invalid_argument,
       "distribute_tensor: expected a mesh, or a DeviceMeshScope",
       [](const Given&) { distribute_tensor(Matrix("view", 16, 24)); }, Reach::this_rank},
  };
}

}  // namespace tessera::test
