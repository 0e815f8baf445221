// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/grad/linear_algebra.hpp>

#include "gradient_table.hpp"

namespace tessera::test {
namespace {

using Left = Kokkos::LayoutLeft;

void add_left(GradientTable& result) {
  TableOf<double, Left> table;
  table.add<2>("exp", {"ij"}, ops::exp);
  table.add<2, 2>("multiply", {"ij", "ij"}, ops::multiply);
  table.add<2, 2>("divide", {"ij", "1j"}, ops::divide, {Values::any, Values::positive});
  table.add<2>("sum over dim 1", {"ij"}, [](const auto& x) { return ops::sum(x, 1); });
  table.add<2>("max", {"ij"}, [](const auto& x) { return ops::max(x); }).takes_empty = false;
  table.add<2>("2-norm over dim 0", {"ij"},
               [](const auto& x) { return ops::norm(x, Norm::two, 0); });
  table.add<2, 2>("matmul", {"ij", "jk"}, ops::matmul);
  table.add<3, 3>("matmul", {"kij", "kjl"}, ops::matmul);
  table.add<2>("softmax", {"ij"}, [](const auto& x) { return ops::softmax(x, 1); });
  table.add<2>("cumsum", {"ij"}, [](const auto& x) { return ops::cumsum(x, 0); });
  table.add<2>("diag", {"ij"}, [](const auto& x) { return ops::diag(x); });
  for (auto tested : table.table()) {
    tested.name = "LayoutLeft: " + tested.name;
    result.push_back(tested);
  }
}

/// Adds operators of a tensor in one layout and one in the other layout.
void add_mixed(GradientTable& result) {
  const std::string left_right = "LayoutLeft, LayoutRight: ",
                    right_left = "LayoutRight, LayoutLeft: ";
  result.push_back(
      tested_call<LeftMatrix, Matrix>(left_right + "multiply", {"ij", "ij"}, ops::multiply));
  result.push_back(
      tested_call<LeftMatrix, Matrix>(left_right + "matmul", {"ij", "jk"}, ops::matmul));
  result.push_back(
      tested_call<Matrix, LeftMatrix>(right_left + "subtract", {"ij", "i1"}, ops::subtract));
  result.push_back(
      tested_call<Matrix, LeftMatrix>(right_left + "matmul", {"ij", "jk"}, ops::matmul));
}

void add_floats(GradientTable& result) {
  TableOf<float> table;
  table.add<2>("exp", {"ij"}, ops::exp);
  table.add<2, 2>("multiply", {"ij", "j1"},
                  [](const auto& x, const auto& y) { return x * ops::sum(y); });
  table.add<2>("2-norm", {"ij"}, [](const auto& x) { return ops::norm(x); });
  table.add<2, 2>("matmul", {"ij", "jk"}, ops::matmul);
  table.add<2>("softmax", {"ij"}, [](const auto& x) { return ops::softmax(x, 0); });
  for (auto tested : table.table()) {
    tested.name = "float " + tested.name;
    tested.tolerance = 1e-5;
    tested.step = 1e-2;
    tested.slope_tolerance = 1e-2;
    result.push_back(tested);
  }
  auto mixed = tested_call<ViewOf<float, 2>, Matrix>("float times double: multiply", {"ij", "ij"},
                                                     ops::multiply);
  mixed.tolerance = 1e-5;
  mixed.step = 1e-2;
  mixed.slope_tolerance = 1e-2;
  result.push_back(mixed);
}

}  // namespace

GradientTable other_type_gradients() {
  GradientTable result;
  add_left(result);
  add_mixed(result);
  add_floats(result);
  return result;
}

}  // namespace tessera::test
