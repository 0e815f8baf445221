// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;

namespace {

using docs::check;
using docs::message_of;

std::vector<std::int64_t> sizes(const DTensorSpec& spec) {
  std::vector<std::int64_t> result;
  for (int rank = 0; rank < spec.layout().size(); ++rank)
    result.push_back(spec.local_shape(rank)[0]);
  return result;
}

void rules() {
  MeshLayout mesh({4});
  DTensorSpec chunks(mesh, {Shard(0)}, {10});        // 3, 3, 3, 1 rows
  DTensorSpec balanced(mesh, {Balanced(0)}, {10});   // 3, 3, 2, 2 rows
  DTensorSpec cyclic(mesh, {Cyclic(0, 2)}, {10});    // blocks of 2 rows in turn: 4, 2, 2, 2
  DTensorSpec head_tail(mesh, {HeadTail(0)}, {10});  // chunks r and 7 - r of 8: 2, 2, 2, 4
  check(sizes(chunks) == std::vector<std::int64_t>{3, 3, 3, 1}, "chunks");
  check(sizes(balanced) == std::vector<std::int64_t>{3, 3, 2, 2}, "balanced");
  check(sizes(cyclic) == std::vector<std::int64_t>{4, 2, 2, 2}, "cyclic");
  check(sizes(head_tail) == std::vector<std::int64_t>{2, 2, 2, 4}, "head-tail");
}

void indices() {
  DTensorSpec spec(MeshLayout({2}), {Cyclic(0, 2)}, {10});
  spec.local_shape(1);         // (4): rows 2, 3, 6, 7
  spec.global_index(1, 0, 2);  // 6: row 2 of rank 1
  spec.local_index(1, 0, 7);   // 3
  spec.local_index(1, 0, 8);   // nothing: rank 0 holds row 8
  spec.owner({8});             // 0
  check(spec.local_shape(1) == Extents{4}, "rows");
  check(spec.global_index(1, 0, 2) == 6 && spec.local_index(1, 0, 7) == 3, "both ways");
  check(!spec.local_index(1, 0, 8) && spec.owner({8}) == 0, "on rank 0");
  check(!message_of<InvalidArgument>([&] { spec.global_offset(1); }).empty(), "no box");
}

void blocks_of_matrices() {
  MeshLayout grid({2, 2});
  DTensorSpec blocks(grid, {Cyclic(0, 2), Cyclic(1, 3)}, {9, 9});
  DTensorSpec chunks(grid, {Shard(0), Shard(1)}, {9, 9});
  const auto plan = make_plan(blocks, chunks, element_type<double>());
  plan.exchanges();  // 1
  check(plan.exchanges() == 1, "directly");
}

void agreeing() {
  MeshLayout mesh({4});
  DTensorSpec balanced(mesh, {Balanced(0)}, {8});
  DTensorSpec chunks(mesh, {Shard(0)}, {8});
  balanced == chunks;       // false: the rules have other names
  agree(balanced, chunks);  // true: 2 rows each
  check(balanced != chunks && agree(balanced, chunks), "agree");
  check(make_plan(balanced, chunks, element_type<double>()).exchanges() == 0, "nothing moves");
}

void text() {
  check(parse_placements("B(0), C(1,32)") == Placements{Balanced(0), Cyclic(1, 32)}, "text");
  check(to_string(Placements{HeadTail(1), Replicate()}) == "H(1), R", "text");
}

void given_sizes() {
  DTensorSpec spec(MeshLayout({3}), {Shard(0)}, {8}, {{0, 3, 4, 8}});
  std::cout << visualize_sharding(spec);
  check(sizes(spec) == std::vector<std::int64_t>{3, 1, 4}, "sizes");
}

void mistakes() {
  MeshLayout mesh({2, 2});
  check(!message_of<InvalidArgument>([&] {
           DTensorSpec(mesh, {Cyclic(0, 2), Shard(0)}, {10});
         }).empty(),
        "alone");
  check(!message_of<InvalidArgument>([&] { parse_placements("C(0)"); }).empty(), "a block size");
}

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Smooths the rows of a periodic matrix once, with a halo of one row on either side.
void halo(const DeviceMesh& mesh) {
  const DTensorSpec spec(mesh.layout(), {Balanced(0)}, {12, 5});
  const auto first = spec.global_offset(mesh.rank())[0];
  const auto rows = spec.local_shape(mesh.rank())[0];
  Matrix padded("u", rows + 2, 5);  // this rank's rows, and one on either side
  const auto inner = Kokkos::subview(padded, std::pair(1, int(rows) + 1), Kokkos::ALL);
  auto u = from_local(inner, mesh, spec);
  for (std::int64_t i = 0; i < rows; ++i) inner(i, 0) = double(first + i);

  auto update = make_fetch(u, {{first - 1, 0}, {rows + 2, 5}}, {.periodic = {0}});
  update.fetch(u, padded);  // fills both ghost rows; own rows stay where they are

  const auto above = static_cast<double>((first + 11) % 12);
  check(rows == 0 || padded(0, 0) == above, "the row above");
  check(rows == 0 || padded(rows + 1, 0) == double((first + rows) % 12), "the row below");
}

void multiply_add(const Matrix& a, const Matrix& b, const Matrix& c) {
  for (std::size_t i = 0; i < c.extent(0); ++i)
    for (std::size_t k = 0; k < a.extent(1); ++k)
      for (std::size_t j = 0; j < c.extent(1); ++j) c(i, j) += a(i, k) * b(k, j);
}

/// Multiplies matrices on a grid, panel by panel.
DTensor<Matrix> summa(const DTensor<Matrix>& a, const DTensor<Matrix>& b) {
  auto c = zeros<Matrix>(a.device_mesh(), a.placements(), {a.extent(0), b.extent(1)});
  const auto i = c.global_offset()[0], j = c.global_offset()[1];
  const auto m = c.local_shape()[0], n = c.local_shape()[1], depth = a.extent(1);
  for (std::int64_t k = 0, width = 4; k < depth; k += width) {
    width = std::min<std::int64_t>(width, depth - k);
    auto rows = fetch(a, {{i, k}, {m, width}});     // this rank's rows of a panel of columns
    auto columns = fetch(b, {{k, j}, {width, n}});  // and its columns of a panel of rows
    multiply_add(rows, columns, c.to_local());
  }
  return c;
}

void panels(const DeviceMesh& mesh) {
  const auto grid = mesh.size() == 4 ? init_device_mesh(MPI_COMM_WORLD, {2, 2})
                                     : init_device_mesh(MPI_COMM_WORLD, {1, mesh.size()});
  const auto a = ones<Matrix>(grid, {Shard(0), Shard(1)}, {9, 10});
  const auto b = full<Matrix>(grid, {Shard(0), Shard(1)}, {10, 7}, 2.0);
  const auto c = full_tensor(summa(a, b));
  check(c(0, 0) == 20 && c(8, 6) == 20, "a product");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto world = DeviceMesh::from_comm(MPI_COMM_WORLD);
  halo(world);
  panels(world);
  rules();
  indices();
  blocks_of_matrices();
  agreeing();
  text();
  given_sizes();
  mistakes();
  return docs::status();
}
