// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace tessera::test {
namespace {

using AlongMeshDims = std::function<void(const Given&, const MeshDims&)>;

struct Collective {
  const char* name;
  AlongMeshDims call;
};

Matrix local(const Given& s) {
  return s.tensor.to_local();
}

const std::vector<Collective> collectives{
    {"all_reduce",
     [](const Given& s, const MeshDims& along) {
       all_reduce(Matrix("view", 16, 24), ReduceOp::sum, s.mesh, along);
     }},
    {"all_gather",
     [](const Given& s, const MeshDims& along) { all_gather(local(s), 0, s.mesh, along); }},
    {"reduce_scatter",
     [](const Given& s, const MeshDims& along) {
       reduce_scatter(Matrix("view", 16, 24), ReduceOp::max, 1, s.mesh, along);
     }},
    {"all_to_all",
     [](const Given& s, const MeshDims& along) { all_to_all(local(s), 1, 0, s.mesh, along); }},
    {"all_reduce_async",
     [](const Given& s, const MeshDims& along) {
       all_reduce_async(Matrix("view", 16, 24), ReduceOp::sum, s.mesh, along).wait();
     }},
    {"all_gather_async",
     [](const Given& s, const MeshDims& along) {
       all_gather_async(local(s), 0, s.mesh, along).wait();
     }},
};

struct WrongMeshDims {
  const char* name;
  MeshDims mesh_dims;
};

const std::vector<WrongMeshDims> wrong_mesh_dims{
    {"an_unknown_mesh_dim", "y"},        {"a_mesh_dim_out_of_range", 1},
    {"a_mesh_dim_too_small", -2},        {"a_mesh_dim_twice", {0, "x"}},
    {"no_mesh_dim", std::vector<int>()},
};

Case wrong_dim(const std::string& function, int dim, Call call) {
  return {function + "_of_tensor_dim_" + (dim < 0 ? "minus_" : "") + std::to_string(std::abs(dim)),
          invalid_argument, function + ": expected a dim of a 2-d View, got ", std::move(call)};
}

}  // namespace

std::vector<Case> collective_cases() {
  std::vector<Case> cases;
  for (const auto& [name, call] : collectives)
    for (const auto& [wrong, along] : wrong_mesh_dims)
      cases.push_back({std::string(name) + "_along_" + wrong, invalid_argument, "mesh: expected ",
                       [call = call, along = along](const Given& s) { call(s, along); }});
  for (const int dim : {2, -3}) {
    cases.push_back(wrong_dim("all_gather", dim,
                              [dim](const Given& s) { all_gather(local(s), dim, s.mesh, 0); }));
    cases.push_back(wrong_dim("reduce_scatter", dim, [dim](const Given& s) {
      reduce_scatter(Matrix("view", 16, 24), ReduceOp::sum, dim, s.mesh, 0);
    }));
    cases.push_back(wrong_dim("all_to_all", dim,
                              [dim](const Given& s) { all_to_all(local(s), dim, 0, s.mesh, 0); }));
    cases.push_back(wrong_dim("all_to_all", 10 * dim, [dim](const Given& s) {
      all_to_all(local(s), 0, 10 * dim, s.mesh, 0);
    }));
  }
  for (const int beyond : {0, 1})
    cases.push_back({"broadcast_from_a_rank_" + std::string(beyond ? "beyond" : "below"),
                     invalid_argument, "broadcast: expected a rank of mesh (",
                     [beyond](const Given& s) {
                       broadcast(local(s), beyond ? s.mesh.size() : -1, s.mesh, 0);
                     }});
  return cases;
}

}  // namespace tessera::test
