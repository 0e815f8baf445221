// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes a matrix product by local_map: the function sees only the local pieces, and the
// placements say which parts of the matrices these pieces are.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/tessera.hpp>

namespace {

using namespace tessera;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;
using Index = Kokkos::Array<std::int64_t, 2>;

constexpr std::int64_t rows = 12, inner = 8, columns = 16;

DTensor<Matrix> make_w(const DeviceMesh& mesh, const Placements& placements) {
  return from_function<Matrix>(
      mesh, placements, {rows, inner},
      KOKKOS_LAMBDA(const Index& i) { return static_cast<double>(i[0] - 2 * i[1]); });
}

DTensor<Matrix> make_x(const DeviceMesh& mesh, const Placements& placements) {
  return from_function<Matrix>(
      mesh, placements, {inner, columns},
      KOKKOS_LAMBDA(const Index& i) { return static_cast<double>(3 * i[0] + i[1] - 5); });
}

Matrix product(const Matrix& w, const Matrix& x) {
  Matrix y("matmul::product", w.extent(0), x.extent(1));
  Kokkos::parallel_for(
      "matmul::product", Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {y.extent(0), y.extent(1)}),
      KOKKOS_LAMBDA(std::size_t i, std::size_t j) {
        for (std::size_t k = 0; k < w.extent(1); ++k) y(i, j) += w(i, k) * x(k, j);
      });
  return y;
}

/// Returns the full product on every rank. Columns of W times rows of X are contributions to the
/// product, which the ranks add up.
Matrix product_of_pieces(const DeviceMesh& mesh, const Matrix& w, const Matrix& x) {
  return all_reduce(product(w, x), ReduceOp::sum, mesh, 0);
}

/// Prints on one rank, and counts the checks that fail.
class Report {
 public:
  explicit Report(bool prints) : prints_(prints) {}

  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) const {
    if (prints_) fmt::print("{}\n", fmt::format(format, std::forward<Values>(values)...));
  }

  void check(const std::string& what, bool is_right) {
    line("   {} {}", is_right ? "ok:   " : "WRONG:", what);
    if (!is_right) ++wrong_;
  }

  int wrong() const { return wrong_; }

 private:
  bool prints_;
  int wrong_ = 0;
};

/// Runs `call`, lists the exchanges that this rank took part in, and checks their number.
template <class Call>
auto traced(Report& report, int expected, const Call& call) {
  int exchanges = 0;
  const TraceScope scope([&](const TraceEvent& event) {
    if (event.kind != TraceKind::exchange) return;
    ++exchanges;
    report.line("   exchange {}: {}, {} bytes sent by rank 0, {} received", exchanges,
                event.operation, event.bytes_sent, event.bytes_received);
  });
  auto result = call();
  report.check(fmt::format("{} exchanges", exchanges), exchanges == expected);
  return result;
}

void check_product(Report& report, const DTensor<Matrix>& y, const Matrix& expected) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y.to_local());
  const auto right = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected);
  bool is_right = y.placements().is_all_replicate();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) is_right = is_right && host(i, j) == right(i, j);
  report.check(fmt::format("Y = {} equals the serial product", to_string(y.spec())), is_right);
}

void show_owners(const Report& report, const char* name, const DTensorSpec& spec) {
  report.line("   {} = {}", name, to_string(spec));
  for (int rank = 0; rank < spec.layout().size(); ++rank)
    report.line("      rank {} holds {}", rank,
                to_string(spec.piece(spec.layout().coordinate(rank))));
}

int run(const DeviceMesh& mesh) {
  Report report(mesh.rank() == 0);
  const int moves = mesh.size() > 1 ? 1 : 0;
  const auto serial =
      product(make_w(mesh, {Replicate()}).to_local(), make_x(mesh, {Replicate()}).to_local());
  const InPlacements in{std::nullopt, {Shard(1)}, {Shard(0)}};

  report.line("1. Inputs as the local product needs them: W by columns, X by rows");
  const auto w = make_w(mesh, {Shard(1)});
  const auto x = make_x(mesh, {Shard(0)});
  show_owners(report, "W", w.spec());
  show_owners(report, "X", x.spec());
  const auto multiply = local_map(product_of_pieces, {Replicate()}, in);
  check_product(report, traced(report, moves, [&] { return multiply(mesh, w, x); }), serial);

  report.line("2. W by rows, X by columns: the placements do not fit");
  const auto w_rows = make_w(mesh, {Shard(0)});
  const auto x_columns = make_x(mesh, {Shard(1)});
  bool is_refused = false;
  try {
    multiply(mesh, w_rows, x_columns);
  } catch (const PlacementMismatch& error) {
    report.line("   {}", error.what());
    is_refused = true;
  }
  report.check("PlacementMismatch on every rank", is_refused);

  report.line("3. The same with redistribute_inputs: each input is moved first");
  const auto moved = with_placements(w_rows.spec(), {Shard(1)});
  report.line("   {}", to_string(make_plan(w_rows.spec(), moved, element_type<double>())));
  const auto move_and_multiply =
      local_map(product_of_pieces, {Replicate()}, in, {.redistribute_inputs = true});
  check_product(
      report, traced(report, 3 * moves, [&] { return move_and_multiply(mesh, w_rows, x_columns); }),
      serial);
  return report.wrong() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  return run(DeviceMesh::from_comm(MPI_COMM_WORLD));
}
