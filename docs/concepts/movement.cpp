// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;

namespace {

using docs::check;
using docs::on_host;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;
using Floats = Kokkos::View<float**, Kokkos::LayoutRight>;

/// Sets element (i, j) to 10 i + j.
struct TensAndOnes {
  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 2>& at) const {
    return static_cast<double>(10 * at[0] + at[1]);
  }
};

DTensor<Matrix> numbers(const DeviceMesh& mesh, const Extents& shape) {
  return from_function<Matrix>(mesh, Shard(0), shape, TensAndOnes());
}

void parts_and_orders(const DeviceMesh& mesh) {
  auto x = numbers(mesh, {12, 8});
  auto middle = slice(x, {3, 9}, Kokkos::ALL);    // rows 3 to 8, in the memory of x
  auto y = redistribute(transpose(x), Shard(0));  // the transpose by rows: one exchange
  redistribute_into(slice(y, Kokkos::ALL, {0, 6}), transpose(middle));  // box to box
  const auto host = on_host(full_tensor(y));
  check(host(2, 0) == 32 && host(7, 5) == 87 && host(2, 11) == 112, "parts and orders");
}

void joined(const DeviceMesh& mesh) {
  auto x = numbers(mesh, {12, 8});
  auto later = roll(x, 1, 0);                        // row i holds what row i - 1 held
  auto both = concatenate(std::array{x, later}, 1);  // (12, 16)
  auto lines = reshape(both, {-1, 8});               // (24, 8), in row-major order
  check(both.shape() == Extents{12, 16} && lines.shape() == Extents{24, 8}, "shapes");
  const auto host = on_host(full_tensor(lines));
  check(host(1, 0) == 110 && host(2, 3) == 13 && host(3, 3) == 3, "joined");
}

void changed(const DeviceMesh& mesh) {
  auto x = numbers(mesh, {12, 8});
  auto small = to<float>(x);                         // nothing travels
  auto columns = redistribute<Floats>(x, Shard(1));  // floats travel
  auto y = ones<Matrix>(mesh, Shard(1), {12, 8});
  redistribute_into(y, x, {.alpha = 2, .beta = 1});  // y = 2 x + y, in one pass
  check(small.spec() == x.spec(), "the spec stays");
  check(on_host(full_tensor(columns))(4, 5) == 45.0F && on_host(full_tensor(y))(4, 5) == 91,
        "changed");
}

void boxes(const DeviceMesh& mesh) {
  auto x = numbers(mesh, {12, 8});
  const std::int64_t row = mesh.rank() % 12;
  auto patch = fetch(x, {{row, 2}, {1, 3}});  // each rank asks for a box of its own
  accumulate(x, {{row, 2}, {1, 3}}, patch);   // and adds to one
  const auto host = on_host(patch);
  check(host(0, 0) == static_cast<double>(10 * row + 2), "a patch");
  check(on_host(full_tensor(x))(0, 2) == 4, "twice");
}

void neighbours(const DeviceMesh& mesh) {
  Kokkos::View<double*> edge("edge", 100);
  Kokkos::deep_copy(edge, mesh.rank());
  auto above = shift(edge, +1, mesh, 0, {.periodic = true});  // from the rank before
  const double most = all_reduce(1.0 * mesh.rank(), ReduceOp::max, mesh);
  const auto sums = all_reduce(std::array{1.0, most}, ReduceOp::sum, mesh);  // one exchange
  check(on_host(above)(7) == *mesh.neighbour(0, -1, true), "the rank before");
  check(sums[0] == mesh.size() && sums[1] == mesh.size() * (mesh.size() - 1), "numbers");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  parts_and_orders(mesh);
  joined(mesh);
  changed(mesh);
  boxes(mesh);
  neighbours(mesh);
  return docs::status();
}
