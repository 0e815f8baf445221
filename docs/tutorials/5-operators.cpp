// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Matrix = Kokkos::View<double**>;
using Vector = Kokkos::View<double*>;

namespace {

using docs::check;
using docs::contains;
using docs::message_of;
using docs::on_host;

/// `count` on several ranks; one exchanges nothing.
std::int64_t on(const DeviceMesh& mesh, std::int64_t count) {
  return mesh.size() > 1 ? count : 0;
}

void first(const DeviceMesh& mesh) {
  CommDebugMode mode;
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 60});
  auto centred = x - ops::mean(x, Dims{0});            // 1 exchange: the mean of each column
  auto scores = centred / ops::std(centred, Dims{0});  // 2 exchanges
  double largest = item(ops::max(ops::abs(scores)));   // 1 exchange
  check(mode.get_total_counts() == on(mesh, 4), "exchanges");
  check(largest > 1.5 && largest < 2 && scores.spec() == x.spec(), "standard scores");
  check(std::abs(item(ops::sum(scores))) < 1e-9, "centred");
}

void infix(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 5});
  auto y = rand<Matrix>(mesh, {Shard(0)}, {12, 5});
  auto row = rand<Vector>(mesh, {Replicate()}, {5});
  auto a = (x + 2 * y) / 3 - row;          // shape (12, 5); `row` is added to each row
  auto inside = x >= 0.25 && x < 0.75;     // elements of type bool
  auto b = ops::where(inside, x, 0.0);     // x where it is inside, 0 elsewhere
  auto c = ops::sqrt(ops::square(x) + 1);  // functions are in namespace ops
  auto d = ops::minimum(ops::clamp(x, 0.1, 0.9), y);
  bool same = equal(a, a) && allclose(x, x + 1e-12);
  check(same && a.placements() == Placements{Shard(0)}, "where the operands are");
  const auto sum = item(ops::sum(b)), all = item(ops::sum(x));
  check(sum < all && item(ops::min(c)) >= 1 && item(ops::max(d)) <= 0.9, "values");
}

void fused(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 5});
  auto y = rand<Matrix>(mesh, {Shard(0)}, {12, 5});
  auto several = ops::exp(-x * x) * y + 1;  // 5 kernels
  auto one = map(
      KOKKOS_LAMBDA(double a, double b) { return Kokkos::exp(-a * a) * b + 1; }, x, y);
  auto upper = map_with_index(
      KOKKOS_LAMBDA(const Kokkos::Array<std::int64_t, 2>& i, double a) {
        return i[0] <= i[1] ? a : 0.0;
      },
      x);
  auto is_large = map<bool>(
      KOKKOS_LAMBDA(double a) { return a > 0.9; }, x);
  map_into(
      y, KOKKOS_LAMBDA(double a, double b) { return a - b; }, x, y);  // y = x - y
  check(allclose(several, one), "one kernel");
  check(on_host(full_tensor(upper))(4, 3) == 0 && on_host(full_tensor(upper))(3, 4) > 0, "upper");
  check(item(ops::count_nonzero(is_large)) < 20, "bool");
}

void reductions(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 5});
  auto total = ops::sum(x);                 // a tensor of 0 dims
  auto rows = ops::sum(x, 1);               // shape (12): one sum for each row
  auto both = ops::sum(x, Dims{0, -1});     // dims from the end are negative
  auto columns = ops::max(x, KeepDims{0});  // shape (1, 5), for broadcasting
  auto scaled = x / columns;
  auto norm = ops::norm(x);  // of all elements; also Norm::one and Norm::inf
  auto where = ops::argmax(x, 1);
  check(rows.shape() == Extents{12} && columns.shape() == Extents{1, 5}, "shapes");
  check(rows.placements() == Placements{Shard(0)}, "rows stay");
  check(std::abs(item(total) - item(both)) < 1e-12, "all dims");
  check(item(ops::max(scaled)) == 1, "scaled");
  check(std::abs(item(norm) - std::sqrt(item(ops::sum(ops::square(x))))) < 1e-12, "norm");
  check(item(ops::max(where)) < 5, "a position");
}

void partials(const DeviceMesh& mesh) {
  CommDebugMode mode;
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 60});
  auto sum = ops::sum(x, Dims{0});           // P(sum): each rank has the sum of its rows
  auto weighted = 0.5 * sum + sum;           // P(sum): linear, nothing travels
  auto shifted = sum + 1;                    // P(sum): one rank adds the 1
  auto share = redistribute(sum, Shard(0));  // S(0): each rank receives its part
  auto root = ops::sqrt(sum);                // not linear: `sum` is reduced first
  auto ratio = x / sum;                      // and here once more
  check(mode.get_total_counts() == on(mesh, 3), "exchanges");
  check(to_string(weighted.placements()) == "P(sum)", "linear");
  check(to_string(shifted.placements()) == "P(sum)", "shifted");
  check(!root.placements().has_partial() && ratio.spec() == x.spec(), "not linear");
  check(share.shape() == root.shape(), "shapes");
  const auto a = on_host(full_tensor(shifted)), b = on_host(full_tensor(sum));
  check(std::abs(a(3) - b(3) - 1) < 1e-12, "1 once");
}

void numbers(const DeviceMesh& mesh) {
  CommDebugMode mode;
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 60});
  double one = item(ops::sum(x));                                        // 1 exchange
  auto [low, high, sum] = items(ops::min(x), ops::max(x), ops::sum(x));  // 1 exchange
  auto pending = item_async(ops::norm(x, Norm::one));                    // in the background
  double later = pending.wait();
  check(mode.get_total_counts() == on(mesh, 3), "exchanges");
  check(std::abs(later - one) < 1e-9, "all are positive");
  check(low >= 0 && high < 1 && low < high && sum == one, "numbers");
}

void mismatch(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  auto y = rand<Matrix>(mesh, {Shard(1)}, {1000, 600});
  std::string text;
  try {
    x + y;
  } catch (const PlacementMismatch& error) {  // on every rank
    text = error.what();
  }
  auto z = x + redistribute(y, Shard(0));  // says what it costs
  {
    RedistributionScope scope(Redistribution::any);  // as PyTorch does
    z = x + y;
  }
  if (mesh.size() == 4)
    check(text ==
              "operator+: expected placements that fit: x is S(0), y is S(1) on (4); write "
              "redistribute(y, {Shard(0)}) (879 KiB received per rank), or allow it by "
              "RedistributionScope(Redistribution::any)",
          "what to write");
  check(z.spec() == x.spec(), "the first one stays");
}

void strict(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  auto mean = ops::mean(x, Dims{0});
  RedistributionScope scope(Redistribution::none);
  const auto text = message_of<PlacementMismatch>([&] { x - mean; });
  if (mesh.size() > 1) check(contains(text, "redistribute("), "none");
}

void in_place(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 60});
  auto y = rand<Matrix>(mesh, {Shard(0)}, {1000, 60});
  x += y;  // in the memory of x
  x *= 0.5;
  auto z = axpby(2, x, -1, y);  // 2 x - y, in one kernel
  auto zero = zeros_like(x);    // the spec and element type of x
  check(allclose(z + y, 2 * x) && equal(zero, x - x), "values");
}

void views(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 60});
  Vector weights("weights", 60);  // the same values on every rank
  Kokkos::deep_copy(weights, 0.5);
  ImplicitReplication implicit(mesh);
  auto y = x * implicit(weights);  // x * weights does not compile

  SkipDTensorDispatch skip;
  auto mine = skip(ops::sum, x, Dims{0});       // a View: the sums of this rank's rows
  auto same = ops::sum(x.to_local(), Dims{0});  // operators take Views alone, too
  check(allclose(y + y, x), "halves");
  check(mine.extent(0) == 60 && on_host(mine)(7) == on_host(same)(7), "local");
}

void explained(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  auto y = rand<Matrix>(mesh, {Replicate()}, {1000, 600});
  std::string sliced = explain(ops::add, x, y);
  std::string reduced = explain(ops::sum, x, Dims{0});
  std::string by_specs = explain<float>(ops::exp, x.spec());  // without data
  if (mesh.size() == 4) {
    check(sliced ==
              "add of float64 (1000, 600) on (4) as S(0) and float64 (1000, 600) on (4) as R -> "
              "float64 (1000, 600) on (4) as S(0); slices operand 1 to S(0)",
          "add");
    check(reduced ==
              "sum of float64 (1000, 600) on (4) as S(0) over dims (0) -> float64 (600) on (4) as "
              "P(sum)",
          "sum");
    check(by_specs ==
              "exp of float32 (1000, 600) on (4) as S(0) -> float32 (1000, 600) on (4) as S(0)",
          "exp");
  }
}

void traced(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {8, 4});
  auto y = rand<Matrix>(mesh, {Shard(1)}, {8, 4});
  CommDebugMode mode;
  {
    RedistributionScope scope(Redistribution::any);
    auto z = x + y;
  }
  std::string table = mode.table(1);
  if (mesh.size() == 4) {
    check(contains(table, "1 x operator+ over window: 48 B sent, 48 B received"), "the exchange");
    check(contains(table,
                   "1 x add of float64 (8, 4) on (4) as S(0) and float64 (8, 4) on (4) as S(1) -> "
                   "float64 (8, 4) on (4) as S(0); redistributes operand 1 to S(0); at most 48 B "
                   "received per rank (implicit)"),
          "the operator");
  }
}

/// Multiplies a matrix by a vector.
struct MatVec {
  static constexpr const char* name = "matvec";

  static Extents shape(const OperatorCall& call) {
    const auto& a = call.operands[0].spec->shape();
    require<InvalidArgument>(a[1] == call.operands[1].spec->shape()[0],
                             "expected a vector of as many elements as the matrix has columns");
    return {a[0]};
  }

  static std::vector<OperatorRule> rules(const OperatorCall&) {
    return {{Shard(0), {Shard(0), Replicate()}},  // rows of the matrix give rows of the result
            {Partial(), {Shard(1), Shard(0)}},    // columns give contributions to a sum
            {Replicate(), {Replicate(), Replicate()}}};
  }

  Vector local(const Matrix& a, const Vector& x) const {
    Vector y("y", a.extent(0));
    Kokkos::parallel_for(
        a.extent(0), KOKKOS_LAMBDA(std::size_t i) {
          for (std::size_t j = 0; j < a.extent(1); ++j) y(i) += a(i, j) * x(j);
        });
    return y;
  }
};

void own_operator(const DeviceMesh& mesh) {
  auto a = rand<Matrix>(mesh, {Shard(1)}, {1000, 300});
  auto x = rand<Vector>(mesh, {Shard(0)}, {300});
  auto y = call_operator(MatVec(), a, x);  // P(sum)
  auto rows = redistribute(a, Shard(0));
  auto z = call_operator(MatVec(), rows, redistribute(x));  // S(0)
  check(to_string(y.placements()) == "P(sum)", "contributions");
  check(z.placements() == Placements{Shard(0)}, "rows");
  check(allclose(z, redistribute(y, Shard(0))), "one value");
}

void own_rules(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 5});
  register_sharding(ops::exp, [](const OperatorCall&) {
    return std::vector<OperatorRule>{{Replicate(), {Replicate()}}};
  });
  const auto text = message_of<PlacementMismatch>([&] { ops::exp(x); });
  unregister_sharding(ops::exp);
  if (mesh.size() > 1) check(contains(text, "Replicate()"), "the other rule");
  check(ops::exp(x).spec() == x.spec(), "its own rules again");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  first(mesh);
  infix(mesh);
  fused(mesh);
  reductions(mesh);
  partials(mesh);
  numbers(mesh);
  mismatch(mesh);
  strict(mesh);
  in_place(mesh);
  views(mesh);
  explained(mesh);
  traced(mesh);
  own_operator(mesh);
  own_rules(mesh);
  return docs::status();
}
