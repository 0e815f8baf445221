// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Vector = Kokkos::View<double*>;

namespace {

using docs::check;
using docs::contains;
using docs::message_of;
using docs::on_host;

/// Returns the sum of operands first … last - 1.
double sum(const std::vector<double>& operands, std::size_t first, std::size_t last) {
  if (last - first == 1) return operands[first];
  const auto middle = first + std::bit_floor(last - first - 1);
  return sum(operands, first, middle) + sum(operands, middle, last);
}

double contribution_of(int rank) {
  const double contributions[] = {0.1, 1e16, -1e16, 0.4};
  return contributions[rank % 4];
}

bool has_same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

Vector filled(std::size_t size, double value) {
  Vector result("contribution", size);
  Kokkos::deep_copy(result, value);
  return result;
}

void same_bits(const DeviceMesh& mesh) {
  std::vector<double> contributions;
  for (int rank = 0; rank < mesh.size(); ++rank) contributions.push_back(contribution_of(rank));
  const double expected = sum(contributions, 0, contributions.size());

  auto partial = from_local(filled(1000, contribution_of(mesh.rank())), mesh, {Partial()});
  auto everywhere = on_host(full_tensor(partial));
  auto shares = on_host(redistribute(partial, {Shard(0)}).to_local());
  for (std::size_t i = 0; i < 1000; ++i)
    check(has_same_bits(everywhere(i), expected), "the bits of the tree");
  for (std::size_t i = 0; i < shares.extent(0); ++i)
    check(has_same_bits(shares(i), expected), "also where the result is sharded");
  if (mesh.size() == 4) {
    check(expected == 0, "the tree's sum");
    check(((0.1 + 1e16) + -1e16) + 0.4 == 0.4, "from left to right");
  }
}

void merged(const DeviceMesh& mesh) {
  int sizes[2] = {0, 0};
  MPI_Dims_create(mesh.size(), 2, sizes);
  auto grid = init_device_mesh(MPI_COMM_WORLD, {sizes[0], sizes[1]}, {"a", "b"});
  auto both = from_local(filled(8, contribution_of(grid.rank())), grid, {Partial(), Partial()});
  auto line = from_local(filled(8, contribution_of(mesh.rank())), mesh, {Partial()});
  CommDebugMode mode;
  const auto one = on_host(full_tensor(both));
  check(mode.get_total_counts() == (mesh.size() > 1 ? 1 : 0), "one reduction");
  check(has_same_bits(one(0), on_host(full_tensor(line))(0)), "one tree over both");

  auto mean = from_local(filled(8, 1.0), grid, {Partial(ReduceOp::avg), Partial(ReduceOp::sum)});
  check(on_host(full_tensor(mean))(0) == grid.size("b"), "the sum over b of means over a");
}

void special_values(const DeviceMesh& mesh) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto largest =
      from_local(filled(1, mesh.rank() == 0 ? nan : 1.0), mesh, {Partial(ReduceOp::max)});
  check(on_host(full_tensor(largest))(0) != on_host(full_tensor(largest))(0), "NaN wins");

  Kokkos::View<int*> counts("counts", 1);
  Kokkos::deep_copy(counts, mesh.rank() == 0 ? -1 : 0);
  auto average = from_local(counts, mesh, {Partial(ReduceOp::avg)});
  check(on_host(full_tensor(average))(0) == (mesh.size() == 1 ? -1 : 0), "truncates toward zero");
}

void to_partial(const DeviceMesh& mesh) {
  auto value = full<Vector>(mesh, {Replicate()}, {1000}, 5.0);
  auto partial = redistribute(value, {Partial()});  // 5 on rank 0, -0.0 elsewhere; nothing is sent
  auto again = redistribute(partial, {Replicate()});
  const double mine = on_host(partial.to_local())(0);
  check(has_same_bits(mine, mesh.rank() == 0 ? 5.0 : -0.0), "the value once");
  check(on_host(again.to_local())(0) == 5, "and back");
}

void mixing() {
  const Placements fine{Partial(ReduceOp::sum), Partial(ReduceOp::avg)};
  check(fine.has_partial(), "sum and avg");
  const auto text = message_of<InvalidArgument>([] {
    Placements{Partial(ReduceOp::min), Partial(ReduceOp::max)};
  });
  check(!text.empty(), "no others");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  same_bits(mesh);
  merged(mesh);
  special_values(mesh);
  to_partial(mesh);
  mixing();
  return docs::status();
}
