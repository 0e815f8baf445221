// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses some of the public templates, so that their warnings are seen here; the programs in docs use
// most.
#include <cstdio>

#include <tessera/tessera.hpp>

using namespace tessera;
using Matrix = Kokkos::View<double**>;

namespace {

Kokkos::View<double*> column_sums(const Matrix& rows) {
  Kokkos::View<double*> sums("sums", rows.extent(1));
  Kokkos::parallel_for(
      rows.extent(1), KOKKOS_LAMBDA(std::size_t j) {
        for (std::size_t i = 0; i < rows.extent(0); ++i) sums(j) += rows(i, j);
      });
  return sums;
}

bool are_all(const Kokkos::View<double*>& values, double expected) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  for (std::size_t i = 0; i < host.extent(0); ++i)
    if (host(i) != expected) return false;
  return true;
}

bool is_right(const DeviceMesh& mesh) {
  const auto x = ones<Matrix>(mesh, {Shard(0)}, {7, 5});
  const auto sums = local_map(column_sums, {Partial()})(x);
  auto pending = redistribute_async(x, {Shard(1)});
  const auto columns = pending.wait();
  const auto both = redistribute_all(std::array{x, clone(columns)});
  all_reduce(column_sums(x.to_local()), ReduceOp::sum, mesh, 0);
  return are_all(full_tensor(sums), 7) && are_all(column_sums(both[0].to_local()), 7) &&
         are_all(column_sums(both[1].to_local()), 7);
}

/// Makes two steps of training, and computes attention with a gradient.
bool trains(const DeviceMesh& mesh) {
  const auto layer = nn::distribute_module(nn::Linear<Matrix>(5, 3), mesh);
  grad::Tape tape;
  nn::watch(layer, tape);
  nn::SGD optimizer(layer, {.lr = 0.01});
  const auto x = ones<Matrix>(mesh, {Shard(0)}, {7, 5});
  const auto classes = zeros<Kokkos::View<int*>>(mesh, {Shard(0)}, {7});
  const auto step = [&] {
    const auto loss = ops::cross_entropy(layer(x), classes) + ops::norm(layer(x));
    tape.backward(loss);
    optimizer.step();
    optimizer.zero_grad();
    return item(loss.detach());
  };
  const double first = step(), second = step();

  const auto heads = ones<Kokkos::View<double****>>(mesh, {Shard(2)}, {1, 1, 7, 2});
  const auto keys = tape.watch(heads);
  const auto y = nn::scaled_dot_product_attention(heads, keys, keys, {.causal = true});
  tape.backward(ops::sum(ops::square(y)));
  return second < first && keys.has_grad();
}

}  // namespace

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const bool right = is_right(mesh) && trains(mesh);
  if (mesh.rank() == 0)
    std::printf("Tessera %s: %s\n", version().c_str(), right ? "right" : "wrong");
  return right ? 0 : 1;
}
