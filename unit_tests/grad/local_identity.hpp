// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Views of integers, and their scalar products over all ranks, which are exact.
#pragma once

#include <cstdint>

#include <tessera/grad/tape.hpp>

#include "../ops/named.hpp"

namespace tessera::test {

/// Returns a View of these extents with small integers, other ones on each rank, times the number
/// of ranks: averages stay integers.
template <class V = Matrix>
V rank_integers(const Extents& shape, int salt) {
  const auto view = detail::allocate<V>(shape, "integers");
  const auto none = Extents::filled(shape.size(), 0);
  change_on_host(view, [&](const auto& host) {
    std::int64_t flat = 0;
    for_each_index_in({none, shape}, [&](const Extents& index) {
      const auto mixed = (flat++ * 29 + world_rank() * 17 + salt * 11) % 23 - 11;
      element_of(host, none, index) =
          static_cast<typename V::value_type>(static_cast<double>(mixed * world_size()));
    });
  });
  return view;
}

/// Returns the scalar product of two Views of the same extents.
template <class V, class W>
double dot_of(const V& a, const W& b) {
  const auto shape = detail::extents_of(a);
  EXPECT_EQ(detail::extents_of(b), shape);
  if (detail::extents_of(b) != shape) return nan;
  const auto x = on_host(a);
  const auto y = on_host(b);
  const auto none = Extents::filled(shape.size(), 0);
  double result = 0;
  for_each_index_in({none, shape}, [&](const Extents& index) {
    result += element_of(x, none, index) * element_of(y, none, index);
  });
  return result;
}

/// Returns the sum of a number over all ranks.
inline double sum_over_ranks(double mine) {
  return all_reduce(mine, ReduceOp::sum, line());
}

/// Returns the scalar product of two tensors. Collective.
template <class V, class W>
double dot_of(const DTensor<V>& a, const DTensor<W>& b) {
  return dot_of(full_tensor(a), full_tensor(b));
}

/// Checks that sum over ranks of <A(x)_r, y_r> = sum over ranks of <x_r, (Aᵀ y)_r>, where each rank
/// has an x_r and a y_r of its own. Returns the number of exchanges of the backward pass.
/// Collective over all ranks.
template <class V, class Function>
int expect_adjoint(const V& x, const Function& function, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
  const testing::ScopedTrace trace(file, line, "called here");
  grad::Tape tape;
  const auto variable = tape.watch_local(x);
  const auto result = function(variable);
  const auto value = result.detach();
  const auto y = rank_integers<V>(detail::extents_of(value), 5);
  const Traffic traffic;
  tape.backward(result, y);
  const auto exchanges = traffic.exchanges();

  EXPECT_TRUE(variable.has_grad());
  const auto before = sum_over_ranks(dot_of(value, y));
  const auto after = sum_over_ranks(variable.has_grad() ? dot_of(x, variable.grad()) : 0);
  EXPECT_EQ(before, after);
  return exchanges;
}

}  // namespace tessera::test
