// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/grad/linear_algebra.hpp>

#include "gradient_table.hpp"

namespace tessera::test {
namespace {

void add_products(TableOf<double>& table) {
  table.add<1, 1>("matmul", {"j", "j"}, ops::matmul);
  table.add<1, 2>("matmul", {"i", "ij"}, ops::matmul);
  table.add<1, 3>("matmul", {"i", "kij"}, ops::matmul);
  table.add<2, 1>("matmul", {"ij", "j"}, ops::matmul);
  table.add<2, 2>("matmul", {"ij", "jk"}, ops::matmul);
  table.add<2, 3>("matmul", {"li", "kij"}, ops::matmul);
  table.add<3, 1>("matmul", {"kij", "j"}, ops::matmul);
  table.add<3, 2>("matmul", {"kij", "jl"}, ops::matmul);
  table.add<3, 3>("matmul", {"kij", "kjl"}, ops::matmul);
  table.add<1, 1>("outer", {"i", "j"}, ops::outer);
}

void add_diagonals(TableOf<double>& table) {
  for (const std::int64_t offset : {0, 1, -1}) {
    const auto by = " by " + std::to_string(offset);
    table.add<2>("diag" + by, {"ij"}, [=](const auto& x) { return ops::diag(x, offset); });
    table.add<2>("diag" + by, {"jj"}, [=](const auto& x) { return ops::diag(x, offset); });
    table.add<1>("diag" + by, {"j"}, [=](const auto& x) { return ops::diag(x, offset); });
    table.add<2>("tril" + by, {"ij"}, [=](const auto& x) { return ops::tril(x, offset); });
    table.add<2>("triu" + by, {"ij"}, [=](const auto& x) { return ops::triu(x, offset); });
    table.add<3>("tril" + by, {"kij"}, [=](const auto& x) { return ops::tril(x, offset); });
  }
  table.add<2>("trace", {"ij"}, ops::trace);
  table.add<2>("trace", {"jj"}, ops::trace);
}

/// Adds operators that go along one dim.
void add_along_dims(TableOf<double>& table) {
  for (const int dim : {0, 1}) {
    const auto along = " along dim " + std::to_string(dim);
    const auto softmax = [=](const auto& x) { return ops::softmax(x, dim); };
    const auto log_softmax = [=](const auto& x) { return ops::log_softmax(x, dim); };
    const auto logsumexp = [=](const auto& x) { return ops::logsumexp(x, dim); };
    const auto cumsum = [=](const auto& x) { return ops::cumsum(x, dim); };
    table.add<2>("softmax" + along, {"ij"}, softmax);
    table.add<2>("log_softmax" + along, {"ij"}, log_softmax);
    table.add<2>("logsumexp" + along, {"ij"}, logsumexp);
    table.add<2>("cumsum" + along, {"ij"}, cumsum);
    table.add<3>("softmax" + along, {"kij"}, softmax);
    table.add<3>("logsumexp" + along, {"kij"}, logsumexp);
    table.add<3>("cumsum" + along, {"kij"}, cumsum);
  }
}

}  // namespace

GradientTable matrix_gradients() {
  TableOf<double> table;
  add_products(table);
  add_diagonals(table);
  add_along_dims(table);
  // A layer: its weights, and an input that has several rows.
  table.add<2, 2>("tanh(x w) w", {"ij", "jj"}, [](const auto& x, const auto& w) {
    return ops::matmul(ops::tanh(ops::matmul(x, w)), w);
  });
  return table.table();
}

}  // namespace tessera::test
