// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iostream>

#include <tessera/tessera.hpp>

#include "check.hpp"
using namespace tessera;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;

namespace {

using docs::check;

Matrix product(Matrix w, Matrix x) {
  Matrix y("y", w.extent(0), x.extent(1));
  Kokkos::parallel_for(
      w.extent(0), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t k = 0; k < w.extent(1); ++k)
          for (std::size_t j = 0; j < x.extent(1); ++j) y(i, j) += w(i, k) * x(k, j);
      });
  return y;
}

void counts(const DeviceMesh& mesh) {
  auto w = rand<Matrix>(mesh, {Shard(0)}, {12, 8});
  auto x = rand<Matrix>(mesh, {Shard(0)}, {8, 16});
  const LocalMapOptions options{.redistribute_inputs = true, .name = "gemm"};
  auto gemm = local_map(product, {Shard(0)}, {{Shard(0)}, {Replicate()}}, options);

  CommDebugMode mode;  // counts from here on, on this thread
  Kokkos::Profiling::pushRegion("solver");
  auto y = gemm(w, x);  // local_map(…, {.name = "gemm"})
  Kokkos::Profiling::popRegion();
  mode.get_total_counts();         // data movements: steps of plans, functional collectives
  mode.get_comm_counts();          // by kind: redistribute, collective, agreement, …, operator
  mode.get_sharding_info();        // by region: redistributions and operators, with their specs
  mode.write_table(std::cout, 1);  // 0: data movements … 3: everything
  mode.write_json("comm.json");
  mode.write_chrome_trace(mesh, "trace.json");  // all ranks; for chrome://tracing, ui.perfetto.dev
  check(mode.get_total_counts() == (mesh.size() > 1 ? 1 : 0), "x is gathered");
  check(mesh.size() == 1 || mode.get_sharding_info().contains("solver/gemm"), "in its region");
  check(std::filesystem::exists("comm.json") && std::filesystem::exists("trace.json"), "files");
}

void progress(const DeviceMesh& mesh) {
  const ProgressScope scope(progress_bar());
  double reached = 0;
  const ProgressScope inner([&](const Progress& now) { reached = now.fraction; }, 1);
  redistribute(rand<Matrix>(mesh, {Shard(0)}, {1000, 600}), {Shard(1)});
  check(reached == (mesh.size() > 1 ? 1 : 0), "told at the end, if data moves");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  docs::enter_folder("debugging");
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  counts(mesh);
  progress(mesh);
  return docs::status();
}
