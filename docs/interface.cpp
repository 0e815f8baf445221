// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples that docstrings give; unit_tests/docs checks that they stand here.
#include <cstdint>
#include <iostream>
#include <vector>

#include <tessera/tessera.hpp>

#include "check.hpp"
using namespace tessera;
using V = Kokkos::View<double**>;

namespace {

using docs::check;

void counts(const DeviceMesh& mesh) {
  const auto x = rand<V>(mesh, {Shard(0)}, {12, 10});
  CommDebugMode mode;
  auto columns = redistribute(x, {Shard(1)});
  mode.get_total_counts();     // 1
  std::cout << mode.table(1);  // what moved, in which region
  check(mode.get_total_counts() == (mesh.size() == 1 ? 0 : 1), "one data movement");
  check(columns.placements() == Placements{Shard(1)}, "columns");
}

V local_gemm(const V& a, const V& b) {
  V c("c", a.extent(0), b.extent(1));
  Kokkos::parallel_for(
      a.extent(0), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t j = 0; j < b.extent(1); ++j)
          for (std::size_t k = 0; k < b.extent(0); ++k) c(i, j) += a(i, k) * b(k, j);
      });
  return c;
}

void product(const DeviceMesh& mesh) {
  const auto w = ones<V>(mesh, {Shard(1)}, {3, 10});
  const auto x = ones<V>(mesh, {Shard(0)}, {10, 4});
  auto gemm = local_map(local_gemm, {Partial()}, {{Shard(1)}, {Shard(0)}});
  auto y = gemm(w, x);
  check(docs::on_host(full_tensor(y))(2, 3) == 10, "the product");
}

void by_index(const DeviceMesh& mesh) {
  const auto x = from_function<V>(
      mesh, {Shard(0)}, {4, 3},
      KOKKOS_LAMBDA(Kokkos::Array<std::int64_t, 2> i) { return double(3 * i[0] + i[1]); });
  check(docs::on_host(full_tensor(x))(2, 1) == 7, "an element");
}

void from_file(const DeviceMesh& mesh) {
  write_npy("x.npy", rand<V>(mesh, {Shard(1)}, {12, 10}));
  auto x = read_npy<Kokkos::View<double**>>("x.npy", mesh, {Shard(0)});
  check(x.shape() == Extents{12, 10}, "its shape");
}

void operators(const DeviceMesh& mesh) {
  const auto x = rand<V>(mesh, {Shard(0)}, {12, 10});
  const auto z = rand<V>(mesh, {Shard(0)}, {12, 10});
  auto y = map(
      KOKKOS_LAMBDA(double a, double b) { return a + 2 * b; }, x, z);
  check(allclose(y, x + 2 * z) && equal(y, axpby(1, x, 2, z)), "in one kernel");
  auto [total, largest] = items(ops::sum(x), ops::max(x));
  check(largest < 1 && largest < total, "in one exchange");
  auto pending = item_async(ops::sum(x));
  check(pending.wait() == total, "in the background");
}

void rules(const DeviceMesh& mesh) {
  const auto x = rand<V>(mesh, {Shard(0)}, {12, 10});
  register_sharding(ops::exp, [](const OperatorCall&) {
    return std::vector<OperatorRule>{{Replicate(), {Replicate()}}};
  });
  const auto text = docs::message_of<PlacementMismatch>([&] { ops::exp(x); });
  unregister_sharding(ops::exp);
  check(mesh.size() == 1 || docs::contains(text, "Replicate()"), "no other placement");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  docs::enter_folder("interface");
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  counts(mesh);
  product(mesh);
  by_index(mesh);
  from_file(mesh);
  operators(mesh);
  rules(mesh);
  return docs::status();
}
