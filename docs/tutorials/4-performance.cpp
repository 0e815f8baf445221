// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Cube = Kokkos::View<double***>;
using Matrix = Kokkos::View<double**>;

namespace {

using docs::check;
using docs::contains;
using docs::on_host;

void what_was_found(const DeviceMesh& mesh) {
  if (mesh.rank() == 0) std::printf("%s", info(mesh).c_str());
  check(contains(info(mesh), "  nodes: "), "nodes");
}

void placing() {
  MeshLayout machine({16, 64}, {"node", "core"});  // 64 ranks that follow one another on a node
  PlanOptions options{.ranks_per_node = {1, 64}};
  DTensorSpec y_lines(machine, {Shard(0), Shard(2)}, {512, 512, 512});
  DTensorSpec z_lines(machine, {Shard(0), Shard(1)}, {512, 512, 512});
  DTensorSpec x_lines(machine, {Shard(1), Shard(2)}, {512, 512, 512});
  auto inside = make_plan(y_lines, z_lines, element_type<double>(), options);   // along "core"
  auto between = make_plan(y_lines, x_lines, element_type<double>(), options);  // along "node"
  auto none = inside.cost().inter_node_bytes_received;   // 0: all of it stays on its node
  auto most = between.cost().inter_node_bytes_received;  // 0.94 MiB for each rank
  check(none == 0, "stays on the node");
  check(most == 15 * 65536, "crosses nodes");
  check(inside.cost().seconds < between.cost().seconds, "and is faster");
}

void nodes_of(const DeviceMesh& mesh) {
  const auto blocks = mesh.ranks_per_node();  // of each mesh dim; empty: all ranks are on one node
  const auto neighbours = mesh.on_node();     // the ranks of such a block, as a mesh
  check(!blocks.empty() || neighbours.size() == mesh.size(), "one node");
}

void how_blocks_travel(const DeviceMesh& mesh) {
  auto a = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  DTensorSpec target(mesh.layout(), {Shard(1)}, {1000, 600});
  auto transpose = make_plan<Matrix>(a.spec(), target).bind(mesh);
  std::string text = transpose.explain();  // … 3 peers through the window of the node …
  check(contains(text, " by messages"), "what goes by messages");
}

void measured(const DeviceMesh& mesh) {
  const CostModel model = calibrate(mesh);  // less than a second, once
  check(model.seconds_per_byte > 0, "a speed");
}

void repeated(const DeviceMesh& mesh) {
  manual_seed(mesh, 1);
  auto a = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  auto b = empty<Matrix>(mesh, {Shard(1)}, {1000, 600});
  Redistributor there = make_plan<Matrix>(a.spec(), b.spec()).bind(mesh);
  Redistributor back = make_plan<Matrix>(b.spec(), a.spec()).bind(mesh);
  for (int step = 0; step < 10; ++step) {
    there.execute(a.to_local(), b.to_local());
    back.execute(b.to_local(), a.to_local());
  }
  manual_seed(mesh, 1);
  const auto once = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  if (a.local_shape()[0] > 0)
    check(on_host(a.to_local())(0, 7) == on_host(once.to_local())(0, 7), "there and back");
}

void donated(const DeviceMesh& mesh) {
  auto partial = from_local(Matrix("partial", 1000, 600), mesh, {Partial()}, {1000, 600});
  const double* memory = partial.to_local().data();
  auto sum = redistribute(partial, {Replicate()}, {.donate_source = true});
  check(mesh.size() == 1 || sum.to_local().data() == memory, "the memory of the source");
}

void together(const DeviceMesh& mesh) {
  auto u = rand<Matrix>(mesh, {Shard(0)}, {100, 60}, {.stream = 0});
  auto v = rand<Matrix>(mesh, {Shard(0)}, {300, 60}, {.stream = 1});
  CommDebugMode mode;
  auto [u_columns, v_columns] = redistribute_all(std::array{u, v}, Shard(1));
  check(mode.get_total_counts() == (mesh.size() > 1 ? 1 : 0), "one exchange");
  check(u_columns.extent(0) == 100 && v_columns.extent(0) == 300, "of both");
}

void other_work(Matrix m) {
  Kokkos::parallel_for(
      m.extent(0), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t j = 0; j < m.extent(1); ++j) m(i, j) = m(i, j) * m(i, j);
      });
  Kokkos::fence();
}

void background(const DeviceMesh& mesh) {
  auto a = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  Matrix m("m", 100, 100);
  auto pending = redistribute_async(a, {Shard(1)});
  for (int part = 0; part < 4; ++part) {
    other_work(m);   // does not touch a
    pending.test();  // moves it on
  }
  auto b = pending.wait();
  check(b.local_shape()[0] == 1000, "the result");
}

void ordered(const DeviceMesh& mesh) {
  auto a = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  Kokkos::DefaultExecutionSpace exec;
  auto b = redistribute(exec, a, {Shard(1)});
  Kokkos::deep_copy(exec, b.to_local(), 0.0);  // after it, on the same instance
  exec.fence();
  check(b.local_shape()[0] == 1000, "the result");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  what_was_found(mesh);
  placing();
  nodes_of(mesh);
  how_blocks_travel(mesh);
  measured(mesh);
  repeated(mesh);
  donated(mesh);
  together(mesh);
  background(mesh);
  ordered(mesh);
  return docs::status();
}
