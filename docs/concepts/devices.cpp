// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Exec = Kokkos::DefaultExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;

DTensor<Matrix> row_numbers(const DeviceMesh& mesh) {
  auto tensor = empty<Matrix>(mesh, {Shard(0)}, {100, 4});
  auto view = tensor.to_local();
  const std::int64_t first = tensor.global_offset()[0];
  Kokkos::parallel_for(
      view.extent(0), KOKKOS_LAMBDA(std::int64_t i) {
        for (int j = 0; j < 4; ++j) view(i, j) = static_cast<double>(first + i);
      });
  return tensor;
}

struct Halve {
  Matrix view;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { view.data()[i] /= 2; }
};

void move_between_spaces(const DTensor<Matrix>& rows) {
  using HostMatrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  auto on_host = redistribute<HostMatrix>(rows, {Replicate()});
  auto on_device = redistribute<Matrix>(on_host, {Shard(1)});
  for (int i = 0; i < 100; ++i) docs::check(on_host.to_local()(i, 3) == i, "row numbers");
  const auto back = docs::on_host(full_tensor(on_device));
  docs::check(back(99, 0) == 99, "there and back");
}

void work_on_an_instance(const DTensor<Matrix>& rows) {
  const auto exec = Kokkos::Experimental::partition_space(Exec(), 1)[0];
  Kokkos::deep_copy(exec, rows.to_local(), 2.0);
  auto columns = redistribute(exec, rows, {Shard(1)});
  Kokkos::parallel_for("halve", Kokkos::RangePolicy<Exec>(exec, 0, columns.to_local().size()),
                       Halve{columns.to_local()});
  exec.fence();
  const auto ones = docs::on_host(columns.to_local());
  for (std::size_t i = 0; i < ones.size(); ++i) docs::check(ones.data()[i] == 1, "half of two");
}

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  auto rows = row_numbers(mesh);
  move_between_spaces(rows);
  work_on_an_instance(rows);
  return docs::status();
}
