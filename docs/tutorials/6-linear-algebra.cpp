// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Matrix = Kokkos::View<double**>;
using Vector = Kokkos::View<double*>;
using Integers = Kokkos::View<std::int64_t*>;

namespace {

using docs::check;
using docs::contains;

/// `count` on several ranks; one exchanges nothing.
std::int64_t on(const DeviceMesh& mesh, std::int64_t count) {
  return mesh.size() > 1 ? count : 0;
}

void products(const DeviceMesh& mesh) {
  CommDebugMode mode;
  auto x = rand<Matrix>(mesh, Replicate(), {64, 100});
  auto first = rand<Matrix>(mesh, Shard(1), {100, 400});  // columns are split
  auto second = rand<Matrix>(mesh, Shard(0), {400, 10});  // rows are split
  auto hidden = ops::relu(ops::matmul(x, first));         // S(1), nothing travels
  auto partial = ops::matmul(hidden, second);             // P(sum), nothing travels
  auto y = redistribute(partial, Replicate());            // 1 exchange
  check(mode.get_total_counts() == on(mesh, 1), "one reduction");
  check(hidden.placements() == Placements{Shard(1)}, "columns");
  check(partial.placements() == Placements{Partial()}, "contributions");
  check(y.shape() == Extents{64, 10}, "shape");
}

void grid(int rows, int columns) {
  const auto mesh = init_device_mesh(MPI_COMM_WORLD, {rows, columns});
  auto a = rand<Matrix>(mesh, {Shard(0), Shard(1)}, {600, 500});
  auto b = rand<Matrix>(mesh, {Shard(0), Shard(1)}, {500, 400});
  auto c = ops::matmul(a, b);  // as {Shard(0), Shard(1)}
  std::string text = explain(ops::matmul, a, b);
  check(c.placements() == a.placements(), "split alike");
  if (mesh.size() > 1) check(contains(text, "the operator itself"), "its exchanges");
  const auto serial = ops::matmul(full_tensor(a), full_tensor(b));
  check(std::abs(item(ops::sum(c)) - ops::sum(serial)()) < 1e-6, "one value");
}

void probabilities(const DeviceMesh& mesh) {
  auto logits = rand<Matrix>(mesh, Shard(1), {8, 1000});  // classes are split
  CommDebugMode mode;
  auto p = ops::softmax(logits, 1);  // S(1): 2 exchanges of 8 numbers
  auto log_p = ops::log_softmax(logits, -1);
  auto normaliser = ops::logsumexp(logits, 1);  // shape (8), R
  auto targets = full<Integers>(mesh, Replicate(), {8}, 3);
  double loss = item(ops::cross_entropy(logits, targets));  // 3 exchanges of 8 numbers
  // Of softmax, log_softmax and logsumexp 2 each, of the cross entropy 3.
  check(mode.get_total_counts() == on(mesh, 9), "exchanges");
  check(std::abs(item(ops::sum(p)) - 8) < 1e-12, "rows sum to 1");
  check(std::abs(item(ops::sum(ops::exp(log_p))) - 8) < 1e-12, "logarithms");
  check(!normaliser.placements().has_partial(), "what ranks have is combined");
  check(loss > 0 && loss < 10, "loss");
}

void lookup(const DeviceMesh& mesh) {
  auto table = rand<Matrix>(mesh, Shard(0), {5000, 16});  // rows are split
  auto words = arange<Integers>(mesh, Replicate(), 0, 60, 2);
  auto rows = ops::take(table, words);                // shape (30, 16), P(sum): nothing travels
  auto everywhere = redistribute(rows, Replicate());  // 1 exchange of 30 rows
  auto mine = redistribute(rows, Shard(0));           // or each rank its part
  auto counts = ones<Integers>(mesh, Shard(0), {1000});
  auto offsets = ops::cumsum(counts, 0);  // S(0): 1 exchange of one number for each rank
  check(rows.placements() == Placements{Partial()} || mesh.size() == 1, "own rows");
  check(everywhere.shape() == Extents{30, 16} && mine.shape() == rows.shape(), "shapes");
  check(item(ops::max(offsets)) == 1000, "running sums");
}

void parts(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, Shard(0), {40, 40});
  auto v = arange<Vector>(mesh, Shard(0), 40);
  auto main_diagonal = ops::diag(x);             // shape (40), S(0)
  auto matrix = ops::diag(v);                    // shape (40, 40), S(0)
  auto lower = ops::tril(x);                     // 0 above the diagonal
  auto strictly_upper = ops::triu(x, 1);         // 0 on and below it
  double trace = item(ops::trace(x));            // 1 exchange
  auto square = ops::outer(v, redistribute(v));  // shape (40, 40), S(0)
  check(allclose(lower + strictly_upper, x), "triangles");
  check(std::abs(trace - item(ops::sum(main_diagonal))) < 1e-12, "trace");
  check(item(ops::sum(matrix)) == 780 && item(ops::trace(square)) == 20540, "values");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  int sizes[2] = {0, 0};
  MPI_Dims_create(mesh.size(), 2, sizes);
  products(mesh);
  grid(sizes[0], sizes[1]);
  probabilities(mesh);
  lookup(mesh);
  parts(mesh);
  return docs::status();
}
