// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Matrix = Kokkos::View<double**>;

namespace {

using docs::check;
using docs::contains;
using docs::message_of;
using docs::on_host;

/// `count` on several ranks; one exchanges nothing.
std::int64_t on(const DeviceMesh& mesh, std::int64_t count) {
  return mesh.size() > 1 ? count : 0;
}

void moves(const DeviceMesh& mesh) {
  CommDebugMode mode;
  auto rows = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  auto columns = redistribute(rows, {Shard(1)});      // 1 exchange
  auto replicas = redistribute(rows, {Replicate()});  // 1 exchange
  auto slices = redistribute(replicas, {Shard(1)});   // a copy on each rank, 0 exchanges
  auto same = redistribute(columns, {Shard(1)});      // the same memory
  Matrix everywhere = full_tensor(columns);           // a View of all of it, on every rank
  Matrix on_rank_0 = gather_to(columns, 0);           // on one rank; empty on the others
  check(mode.get_total_counts() == on(mesh, 4), "the numbers of exchanges");
  check(columns.extent(0) == 1000 && slices.spec() == columns.spec(), "shapes");
  check(same.to_local().data() == columns.to_local().data(), "the same memory");
  check(everywhere.extent(1) == 600, "all of it");
  check(on_rank_0.extent(1) == (mesh.rank() == 0 ? 600U : 0U), "on one rank");
  const auto one = on_host(slices.to_local());
  const auto other = on_host(columns.to_local());
  for (std::size_t j = 0; j < one.extent(1); ++j)
    check(one(7, j) == other(7, j), "the same values");
}

void two_dims(const DeviceMesh& grid) {
  auto u = rand<Matrix>(grid, {Shard(0), Shard(1)}, {64, 64});
  auto swapped = redistribute(u, {Shard(1), Shard(0)});          // one exchange
  auto pencils = redistribute(u, {Replicate(), Shard(1)});       // along "y" only
  auto lines = redistribute(u, by_dim(grid, {{"x", "y"}, {}}));  // rows by "x" first, then "y"
  check(swapped.spec().split(1).mesh_dims == std::vector<int>{0}, "dim 1 by y");
  check(pencils.local_shape()[0] == 64, "whole columns");
  check(lines.spec().split(0).mesh_dims == std::vector<int>{1, 0}, "x splits first");
  check(grid.size() < 4 || to_string(lines.placements()) == "S(0)[1], S(0)[0]", "in words");
}

Kokkos::View<double> largest(Matrix piece) {
  using Memory = Kokkos::View<double>::memory_space;
  Kokkos::View<double> result("largest");
  Kokkos::parallel_reduce(
      piece.size(),
      KOKKOS_LAMBDA(std::size_t i, double& most) {
        most = Kokkos::max(most, piece(i / piece.extent(1), i % piece.extent(1)));
      },
      Kokkos::Max<double, Memory>(result));
  return result;
}

void partials(const DeviceMesh& mesh) {
  auto rows = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  auto candidates = local_map(largest, {Partial(ReduceOp::max)})(rows);  // one on each rank
  double most = item(candidates);  // reduced, then read: one exchange

  auto mine = rand<Matrix>(mesh, {Replicate()}, {1000, 600});
  auto partial = from_local(mine.to_local(), mesh, {Partial()});  // each rank contributes its View
  auto sum = redistribute(partial, {Replicate()});                // MPI's Allreduce
  auto share = redistribute(partial, {Shard(0)});                 // MPI's Reduce_scatter
  auto partial_mean = from_local(mine.to_local(), mesh, {Partial(ReduceOp::avg)});
  auto mean = redistribute(partial_mean, {Shard(0)});

  check(most > 0.99 && most < 1, "the largest");
  check(on_host(sum.to_local())(5, 5) == mesh.size() * on_host(mine.to_local())(5, 5), "a sum");
  check(share.local_shape() == rows.local_shape(), "a share");
  const auto i = static_cast<std::size_t>(mean.global_offset()[0]);
  check(std::abs(on_host(mean.to_local())(0, 1) - on_host(mine.to_local())(i, 1)) < 1e-15,
        "a mean");

  const auto text = message_of<InvalidArgument>([] {
    Placements{Partial(ReduceOp::sum), Partial(ReduceOp::max)};
  });
  check(contains(text, "max"), "other ops do not mix");
}

void plans(const DeviceMesh& mesh) {
  auto rows = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  DTensorSpec target(mesh.layout(), {Shard(1)}, {1000, 600});
  auto plan = make_plan(rows.spec(), target, element_type<double>());
  plan.exchanges();                         // 1
  auto bytes = plan.cost().bytes_received;  // no rank receives more
  auto seconds = plan.cost().seconds;       // by a cost model
  std::string text = plan.explain();
  check(plan.exchanges() == on(mesh, 1) && (mesh.size() == 1 || seconds > 0), "one exchange");
  check(mesh.size() == 1 || contains(text, "are needed"), "what is needed is said");
  if (mesh.size() == 4) {
    check(bytes >= 250 * 150 * 3 * 8, "an upper bound");
    check(contains(text, "busiest rank receives 900000 bytes, at least 900000 are needed"), "said");
  }
}

void large_plans() {
  MeshLayout machine({65536});
  DTensorSpec before(machine, {Shard(0)}, {65536, 65536});
  DTensorSpec after(machine, {Shard(1)}, {65536, 65536});
  auto direct = make_plan(before, after, element_type<double>());
  auto by_nodes = make_plan(before, after, element_type<double>(), {.ranks_per_node = {64}});
  check(direct.exchanges() == 1 && by_nodes.exchanges() == 3, "by way of the nodes");
  check(direct.cost().messages_received == 65535, "one message from each other rank");
  check(by_nodes.cost().messages_received < 200, "few messages");
  check(by_nodes.cost().seconds < direct.cost().seconds / 10, "faster");
}

void memory(const DeviceMesh& mesh) {
  auto rows = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  auto columns = empty<Matrix>(mesh, {Shard(1)}, {1000, 600});
  redistribute_into(columns, rows);  // into memory that is there
  auto thrifty = redistribute(rows, {Shard(1)}, {.extra_memory = 1 << 20});
  check(thrifty.spec() == columns.spec(), "the same result");
  check(on_host(full_tensor(thrifty))(999, 599) == on_host(full_tensor(columns))(999, 599),
        "alike");
}

void boundaries(const DeviceMesh& mesh) {
  auto rows = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  Boundaries cuts = {{0}, {}};  // by tensor dim; none: the chunk rule
  for (int rank = 1; rank < mesh.size(); ++rank) cuts[0].push_back(100 * rank);
  cuts[0].push_back(1000);  // 100, 100, 100 and 700 rows
  DTensorSpec target(mesh.layout(), {Shard(0)}, {1000, 600}, cuts);
  auto uneven = redistribute(rows, target);
  check(mesh.rank() + 1 < mesh.size() || uneven.local_shape()[0] == 1100 - 100 * mesh.size(),
        "the last rank has the rest");
  check(redistribute(uneven, {Shard(0)}).spec() == uneven.spec(), "boundaries stay");
  const auto back = redistribute(redistribute(uneven, {Shard(1)}), {Shard(0)});
  check(back.spec() == rows.spec(), "then the chunk rule");
}

void other_meshes(const DeviceMesh& mesh) {
  auto rows = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  auto few = init_device_mesh(MPI_COMM_WORLD, {(mesh.size() + 1) / 2});  // 2 of 4 ranks
  auto collected = redistribute(rows, few, {Shard(0)});
  auto spread = redistribute(collected, mesh, {Shard(0)});  // all ranks call, also those off `few`
  check(collected.to_local().extent(0) > 0 || !few.coordinate(), "empty off the mesh");
  check(spread.spec() == rows.spec(), "and back");
}

void types(const DeviceMesh& mesh) {
  using HostMatrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  auto rows = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  auto host = redistribute<HostMatrix>(rows, {Replicate()});  // to host memory, row-major
  check(host.to_local()(0, 0) == on_host(full_tensor(rows))(0, 0), "values");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  moves(mesh);
  int sizes[2] = {0, 0};
  MPI_Dims_create(mesh.size(), 2, sizes);
  two_dims(init_device_mesh(MPI_COMM_WORLD, {sizes[0], sizes[1]}, {"y", "x"}));
  partials(mesh);
  plans(mesh);
  large_plans();
  memory(mesh);
  boundaries(mesh);
  other_meshes(mesh);
  types(mesh);
  return docs::status();
}
