// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/grad/reductions.hpp>

#include "gradient_table.hpp"

namespace tessera::test {

GradientTable reduction_gradients() {
  TableOf<double> table;
  table.add_reduction("sum", ops::sum);
  table.add_reduction("mean", ops::mean);
  table.add_reduction("product", ops::product);
  table.add_reduction("min", ops::min, false);
  table.add_reduction("max", ops::max, false);
  table.add_reduction_of_cube("sum", ops::sum);
  table.add_reduction_of_cube("mean", ops::mean);
  table.add_reduction_of_cube("max", ops::max, false);
  for (const auto& [norm, name] : {std::pair(Norm::one, "1-norm"), std::pair(Norm::two, "2-norm"),
                                   std::pair(Norm::inf, "infinity norm")})
    table.add_reduction(
        name, [norm = norm](const auto& x, const auto& over) { return ops::norm(x, norm, over); },
        norm != Norm::inf);
  table.add_reduction(
      "var", [](const auto& x, const auto& over) { return ops::var(x, over); }, false);
  table.add_reduction(
      "var with correction 0", [](const auto& x, const auto& over) { return ops::var(x, over, 0); },
      false);
  table.add_reduction(
      "std", [](const auto& x, const auto& over) { return ops::std(x, over); }, false);
  table.add<1, 1>("dot", {"j", "j"}, ops::dot);
  table.add<2, 2>("vdot", {"ij", "ij"}, ops::vdot);
  table.add<1>("sum", {"j"}, [](const auto& x) { return ops::sum(x); });
  table.add<1>("product", {"j"}, [](const auto& x) { return ops::product(x); });
  table.add<1>("max", {"j"}, [](const auto& x) { return ops::max(x); }).takes_empty = false;
  return table.table();
}

}  // namespace tessera::test
