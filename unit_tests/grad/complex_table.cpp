// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/grad/linear_algebra.hpp>

#include "gradient_table.hpp"

namespace tessera::test {
namespace {

using Complex = Kokkos::complex<double>;

void add_elementwise(TableOf<Complex>& table) {
  const std::vector<Values> positive{Values::positive};
  const std::vector<Values> by_positive{Values::any, Values::positive};
  table.add<2>("exp", {"ij"}, ops::exp);
  table.add<2>("log", {"ij"}, ops::log);
  table.add<2>("sin", {"ij"}, ops::sin);
  table.add<2>("cos", {"ij"}, ops::cos);
  table.add<2>("tanh", {"ij"}, ops::tanh, positive);
  table.add<2>("sqrt", {"ij"}, ops::sqrt);
  table.add<2>("abs", {"ij"}, ops::abs);
  table.add<2>("real", {"ij"}, ops::real);
  table.add<2>("imag", {"ij"}, ops::imag);
  table.add<2>("conj", {"ij"}, ops::conj);
  table.add<2>("square", {"ij"}, ops::square);
  table.add<2>("times 2 + 3 i", {"ij"}, [](const auto& x) { return x * Complex(2, 3); });
  table.add<2>(
      "cube", {"ij"}, [](const auto& x) { return ops::pow(x, 3); }, positive);
  table.add<2, 2>("add", {"ij", "ij"}, ops::add);
  table.add<2, 2>("subtract", {"ij", "ij"}, ops::subtract);
  table.add<2, 2>("multiply", {"ij", "ij"}, ops::multiply);
  table.add<2, 1>("multiply", {"ij", "j"}, ops::multiply);
  table.add<2, 2>("divide", {"ij", "ij"}, ops::divide, by_positive);
  table.add<2, 2>("pow", {"ij", "ij"}, ops::pow, {Values::positive, Values::any});
  table.add<2, 2>("where", {"ij", "ij"}, [](const auto& x, const auto& y) {
    return ops::where(ops::greater(ops::real(x), 0.1), x, y);
  });
}

void add_others(TableOf<Complex>& table) {
  const auto norm = [](Norm which) {
    return [which](const auto& x) { return ops::norm(x, which); };
  };
  table.add<2>("sum over dim 0", {"ij"}, [](const auto& x) { return ops::sum(x, 0); });
  table.add<2>("mean", {"ij"}, [](const auto& x) { return ops::mean(x); });
  table.add<2>("product", {"ij"}, [](const auto& x) { return ops::product(x); });
  table.add<2>("product over dim 1", {"ij"}, [](const auto& x) { return ops::product(x, 1); });
  table.add<2>("1-norm", {"ij"}, norm(Norm::one));
  table.add<2>("2-norm", {"ij"}, norm(Norm::two));
  table.add<2>("infinity norm", {"ij"}, norm(Norm::inf)).takes_empty = false;
  table.add<2>("var", {"ij"}, [](const auto& x) { return ops::var(x); }).takes_empty = false;
  table.add<1, 1>("dot", {"j", "j"}, ops::dot);
  table.add<1, 1>("vdot", {"j", "j"}, ops::vdot);
  table.add<2, 2>("vdot", {"ij", "ij"}, ops::vdot);
  table.add<1, 1>("outer", {"i", "j"}, ops::outer);
  table.add<2, 2>("matmul", {"ij", "jk"}, ops::matmul);
  table.add<2, 1>("matmul", {"ij", "j"}, ops::matmul);
  table.add<1, 2>("matmul", {"i", "ij"}, ops::matmul);
  table.add<2>("cumsum along dim 0", {"ij"}, [](const auto& x) { return ops::cumsum(x, 0); });
  table.add<2>("diag", {"ij"}, [](const auto& x) { return ops::diag(x); });
}

}  // namespace

GradientTable complex_gradients() {
  using ComplexMatrix = ViewOf<Complex, 2>;
  TableOf<Complex> table;
  add_elementwise(table);
  add_others(table);
  auto result = table.table();
  for (auto& tested : result) tested.name = "complex " + tested.name;
  result.push_back(tested_call<Matrix, ComplexMatrix>("real times complex: multiply", {"ij", "ij"},
                                                      ops::multiply));
  result.push_back(
      tested_call<ComplexMatrix, Vector>("complex plus real: add", {"ij", "j"}, ops::add));
  return result;
}

}  // namespace tessera::test
