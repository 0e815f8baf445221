// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace tessera::test {
namespace {

/// Calls on a (…, …) tensor of rows, each of which needs all ranks.
template <class V>
std::vector<std::pair<std::string, std::function<void(const DTensor<V>&)>>> calls_on() {
  using Tensor = DTensor<V>;
  return {
      {"redistribute", [](const Tensor& t) { redistribute(t, {Shard(1)}); }},
      {"redistribute_to_replicate", [](const Tensor& t) { redistribute(t, {Replicate()}); }},
      {"full_tensor", [](const Tensor& t) { full_tensor(t); }},
      {"redistribute_into",
       [](const Tensor& t) {
         redistribute_into(zeros<V>(t.device_mesh(), {Shard(1)}, t.shape()), t);
       }},
      {"all_reduce",
       [](const Tensor& t) {
         all_reduce(V("view", static_cast<std::size_t>(t.extent(0)),
                      static_cast<std::size_t>(t.extent(1))),
                    ReduceOp::sum, t.device_mesh(), 0);
       }},
      {"all_gather", [](const Tensor& t) { all_gather(t.to_local(), 0, t.device_mesh(), 0); }},
      {"all_to_all", [](const Tensor& t) { all_to_all(t.to_local(), 1, 0, t.device_mesh(), 0); }},
      {"reduce_scatter",
       [](const Tensor& t) {
         reduce_scatter(V("view", static_cast<std::size_t>(t.extent(0)),
                          static_cast<std::size_t>(t.extent(1))),
                        ReduceOp::sum, 0, t.device_mesh(), 0);
       }},
      {"from_local",
       [](const Tensor& t) { from_local(t.to_local(), t.device_mesh(), {Shard(0)}); }},
  };
}

template <class V>
void add_variants(std::vector<Case>& cases, const std::string& variant, const char* type,
                  const std::function<DTensor<V>(const Given&)>& tensor) {
  for (const auto& [name, call] : calls_on<V>())
    cases.push_back({name + "_" + variant, type, "expected the same call on every rank of mesh",
                     [tensor, call = call](const Given& s) { call(tensor(s)); }, Reach::all, 2,
                     true});
}

}  // namespace

std::vector<Case> differing_cases() {
  std::vector<Case> cases;
  add_variants<Matrix>(cases, "of_another_shape", invalid_argument, [](const Given& s) {
    return iota<Matrix>(s.mesh, {Shard(0)}, {24, 16});
  });
  add_variants<Floats>(cases, "of_another_type", invalid_argument,
                       [](const Given& s) { return iota<Floats>(s.mesh, {Shard(0)}, shape); });
  add_variants<Matrix>(cases, "on_another_mesh", mesh_mismatch, [](const Given& s) {
    return iota<Matrix>(reversed(s.mesh), {Shard(0)}, shape);
  });
  const auto differs = [&](const std::string& name, Call call, Reach reach = Reach::all,
                           const char* type = invalid_argument) {
    cases.push_back({name, type, "expected the same call on every rank of mesh", std::move(call),
                     reach, 2, true});
  };
  differs("redistribute_with_another_limit_of_memory",
          [](const Given& s) { redistribute(s.tensor, {Shard(1)}, {.extra_memory = 1000}); });
  differs("full_tensor_instead", [](const Given& s) { full_tensor(s.tensor); });
  differs("redistribute_into_instead", [](const Given& s) {
    redistribute_into(zeros<Matrix>(s.mesh, {Shard(1)}, shape), s.tensor);
  });
  differs(
      "gather_to_instead", [](const Given& s) { gather_to(s.tensor, 0); }, Reach::cold);
  differs(
      "gather_to_the_last_instead", [](const Given& s) { gather_to(s.tensor, s.mesh.size() - 1); },
      Reach::cold);
  differs(
      "reduce_partial_instead", [](const Given& s) { reduce_partial(s.tensor); }, Reach::cold);
  differs(
      "nothing_to_do_instead", [](const Given& s) { redistribute(s.tensor, {Shard(0)}); },
      Reach::cold);
  differs(
      "distribute_tensor_instead",
      [](const Given& s) { distribute_tensor(Matrix("view", 16, 24), s.mesh, {Shard(0)}); },
      Reach::cold);
  differs(
      "broadcast_instead", [](const Given& s) { broadcast(Matrix("view", 16, 24), 0, s.mesh, 0); },
      Reach::cold);
  differs(
      "local_map_instead",
      [](const Given& s) { local_map([](const Matrix& m) { return m; }, like_input(0))(s.tensor); },
      Reach::cold);
  differs("all_gather_async_instead",
          [](const Given& s) { all_gather_async(s.tensor.to_local(), 0, s.mesh, 0).wait(); });
  differs("read_npy_instead", [](const Given& s) { read_npy<Matrix>("never.npy", s.mesh); });
  differs(
      "set_agreement_instead", [](const Given& s) { set_agreement(s.mesh, agreement(s.mesh)); },
      Reach::all, mesh_mismatch);
  differs(
      "from_ranks_instead",
      [](const Given& s) {
        DeviceMesh::from_ranks(MPI_COMM_WORLD, s.mesh.layout().ranks(), s.mesh.shape());
      },
      Reach::all, mesh_mismatch);
  return cases;
}

}  // namespace tessera::test
