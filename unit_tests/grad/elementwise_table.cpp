// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/reductions.hpp>

#include "gradient_table.hpp"

namespace tessera::test {
namespace {

void add_unary(TableOf<double>& table) {
  const std::vector<Values> positive{Values::positive};
  table.add<2>("negate", {"ij"}, ops::negate);
  table.add<2>("abs", {"ij"}, ops::abs);
  table.add<2>("sign", {"ij"}, ops::sign);
  table.add<2>("square", {"ij"}, ops::square);
  table.add<2>("sqrt", {"ij"}, ops::sqrt, positive);
  table.add<2>("exp", {"ij"}, ops::exp);
  table.add<2>("log", {"ij"}, ops::log, positive);
  table.add<2>("sin", {"ij"}, ops::sin);
  table.add<2>("cos", {"ij"}, ops::cos);
  table.add<2>("tanh", {"ij"}, ops::tanh);
  table.add<2>("sigmoid", {"ij"}, ops::sigmoid);
  table.add<2>("relu", {"ij"}, ops::relu);
  table.add<2>("real", {"ij"}, ops::real);
  table.add<2>("imag", {"ij"}, ops::imag);
  table.add<2>("conj", {"ij"}, ops::conj);
  table.add<2>("clamp", {"ij"}, [](const auto& x) { return ops::clamp(x, -1.0, 1.0); });
  table.add<3>("exp", {"kij"}, ops::exp);
  table.add<1>("square", {"j"}, ops::square);
}

void add_binary(TableOf<double>& table) {
  const std::vector<Values> by_positive{Values::any, Values::positive};
  const std::vector<Values> of_positive{Values::positive, Values::any};
  table.add<2, 2>("add", {"ij", "ij"}, ops::add);
  table.add<2, 2>("subtract", {"ij", "ij"}, ops::subtract);
  table.add<2, 2>("multiply", {"ij", "ij"}, ops::multiply);
  table.add<2, 2>("divide", {"ij", "ij"}, ops::divide, by_positive);
  table.add<2, 2>("pow", {"ij", "ij"}, ops::pow, of_positive);
  table.add<2, 2>("minimum", {"ij", "ij"}, ops::minimum);
  table.add<2, 2>("maximum", {"ij", "ij"}, ops::maximum);
  table.add<2, 2>("axpby", {"ij", "ij"},
                  [](const auto& x, const auto& y) { return axpby(2.0, x, -3.0, y); });
  table.add<2, 2>("where", {"ij", "ij"}, [](const auto& x, const auto& y) {
    return ops::where(ops::greater(x, 0.1), x, y);
  });
}

/// Adds operators whose operands stretch.
void add_stretched(TableOf<double>& table) {
  const std::vector<Values> by_positive{Values::any, Values::positive};
  table.add<2, 1>("add", {"ij", "j"}, ops::add);
  table.add<1, 2>("subtract", {"j", "ij"}, ops::subtract);
  table.add<2, 2>("multiply", {"i1", "1j"}, ops::multiply);
  table.add<3, 2>("divide", {"kij", "i1"}, ops::divide, by_positive);
  table.add<2, 2>("pow", {"i1", "ij"}, ops::pow, {Values::positive, Values::any});
  table.add<2, 1>("minimum", {"ij", "j"}, ops::minimum);
  table.add<2, 0>("multiply", {"ij", ""}, ops::multiply);
  table.add<2, 1>("where", {"ij", "j"}, [](const auto& x, const auto& y) {
    return ops::where(ops::greater(x, 0.1), x, y);
  });
}

/// Adds operators of which one operand is a number.
void add_with_numbers(TableOf<double>& table) {
  const std::vector<Values> positive{Values::positive};
  table.add<2>("add 2", {"ij"}, [](const auto& x) { return x + 2; });
  table.add<2>("2 minus", {"ij"}, [](const auto& x) { return 2 - x; });
  table.add<2>("minus 2", {"ij"}, [](const auto& x) { return x - 2; });
  table.add<2>("3 times", {"ij"}, [](const auto& x) { return 3 * x; });
  table.add<2>("half", {"ij"}, [](const auto& x) { return x / 2; });
  table.add<2>(
      "3 divided by", {"ij"}, [](const auto& x) { return 3 / x; }, positive);
  table.add<2>("cube", {"ij"}, [](const auto& x) { return ops::pow(x, 3); });
  table.add<2>(
      "pow -0.5", {"ij"}, [](const auto& x) { return ops::pow(x, -0.5); }, positive);
  table.add<2>("power of 2", {"ij"}, [](const auto& x) { return ops::pow(2.0, x); });
  table.add<2>("minimum with 0.3", {"ij"}, [](const auto& x) { return ops::minimum(x, 0.3); });
  table.add<2>("0.3 maximum with", {"ij"}, [](const auto& x) { return ops::maximum(0.3, x); });
  table.add<2>("where, else 1,", {"ij"},
               [](const auto& x) { return ops::where(ops::less(x, 0.1), x, 1); });
  table.add<2>("where, 1 else", {"ij"},
               [](const auto& x) { return ops::where(ops::less(x, 0.1), 1, x); });
}

/// Adds functions in which gradients of several operations meet.
void add_composed(TableOf<double>& table) {
  table.add<2>("x x", {"ij"}, [](const auto& x) { return x * x; });
  table.add<2>("x - x / 2", {"ij"}, [](const auto& x) { return x - x / 2; });
  table.add<2, 2>("x y + exp(x)", {"ij", "ij"},
                  [](const auto& x, const auto& y) { return x * y + ops::exp(x); });
  table.add<2>("x / sum(x)", {"ij"}, [](const auto& x) { return x / ops::sum(x); },
               {Values::positive});
  table.add<2, 1>("(x - y) relu(x) - y", {"ij", "j"},
                  [](const auto& x, const auto& y) { return (x - y) * ops::relu(x) - y; });
}

}  // namespace

GradientTable elementwise_gradients() {
  TableOf<double> table;
  add_unary(table);
  add_binary(table);
  add_stretched(table);
  add_with_numbers(table);
  add_composed(table);
  return table.table();
}

}  // namespace tessera::test
