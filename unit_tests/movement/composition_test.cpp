// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Random compositions of five moves of a matrix, beside the same on a serial array.
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "../support/generator.hpp"
#include "../support/tensors.hpp"
#include "cases.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

/// A matrix of a serial program.
struct Serial {
  std::int64_t rows;
  std::int64_t columns;
  std::vector<double> data;

  Serial(std::int64_t m, std::int64_t n)
      : rows(m), columns(n), data(static_cast<std::size_t>(m * n)) {}
  double& operator()(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
  double operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
  /// Makes a matrix whose element (i, j) is element(i, j).
  template <class Element>
  static Serial of(std::int64_t m, std::int64_t n, const Element& element) {
    Serial result(m, n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) result(i, j) = element(i, j);
    return result;
  }
};

using Permuted = permuted_view_t<Matrix>;
using Sliced = sliced_view_t<Matrix, Range, Range>;
using Tensor = std::variant<DTensor<Matrix>, DTensor<Permuted>, DTensor<Sliced>>;

/// A tensor, and what it shall be.
struct State {
  Tensor tensor;
  Serial serial;
  std::string words;
};

Placement drawn_rule(Generator& generator) {
  const int dim = draw(generator, 0, 1);
  switch (draw(generator, 0, 4)) {
    case 0:
      return Shard(dim);
    case 1:
      return Balanced(dim);
    case 2:
      return Cyclic(dim, draw(generator, 1, 3));
    case 3:
      return HeadTail(dim);
    default:
      return Replicate();
  }
}

State transposed(const State& state) {
  const auto tensor = std::visit(
      [](const auto& x) -> Tensor { return DTensor<Permuted>(transpose(x)); }, state.tensor);
  const auto& old = state.serial;
  return {tensor, Serial::of(old.columns, old.rows, [&](auto i, auto j) { return old(j, i); }),
          state.words + " transpose"};
}

State sliced(Generator& generator, const State& state) {
  const auto& old = state.serial;
  const auto range = [&](std::int64_t extent) {
    const int first = draw(generator, 0, static_cast<int>(extent) - 1);
    return Range{first, draw(generator, first + 1, static_cast<int>(extent))};
  };
  const auto rows = range(old.rows);
  const auto columns = range(old.columns);
  const auto tensor =
      std::visit([&](const auto& x) -> Tensor { return slice(x, rows, columns); }, state.tensor);
  return {tensor,
          Serial::of(rows.end - rows.begin, columns.end - columns.begin,
                     [&](auto i, auto j) { return old(rows.begin + i, columns.begin + j); }),
          state.words + " slice"};
}

State rolled(Generator& generator, const State& state) {
  const auto& old = state.serial;
  const int by = draw(generator, -9, 9);
  const int dim = draw(generator, 0, 1);
  const auto tensor = std::visit(
      [&](const auto& x) -> Tensor {
        return DTensor<Matrix>(redistribute<Matrix>(roll(x, by, dim), x.placements()));
      },
      state.tensor);
  const auto from = [&](std::int64_t i, std::int64_t extent) {
    return ((i - by) % extent + extent) % extent;
  };
  return {tensor,
          Serial::of(old.rows, old.columns,
                     [&](auto i, auto j) {
                       return dim == 0 ? old(from(i, old.rows), j) : old(i, from(j, old.columns));
                     }),
          state.words + " roll"};
}

State reshaped(Generator& generator, const State& state) {
  const auto& old = state.serial;
  const auto size = old.rows * old.columns;
  std::int64_t rows = draw(generator, 1, static_cast<int>(size));
  while (size % rows != 0) --rows;
  const auto tensor = std::visit(
      [&](const auto& x) -> Tensor {
        return DTensor<Matrix>(redistribute<Matrix>(reshape(x, {rows, std::int64_t{-1}})));
      },
      state.tensor);
  Serial serial(rows, size / rows);
  serial.data = old.data;
  return {tensor, serial, state.words + " reshape"};
}

State joined(Generator& generator, const State& state) {
  const auto& old = state.serial;
  const int dim = draw(generator, 0, 1);
  const Target target = drawn_rule(generator);
  const auto tensor = std::visit(
      [&](const auto& x) -> Tensor {
        return DTensor<Matrix>(
            redistribute<Matrix>(concatenate(std::vector{x, x}, dim, target), target));
      },
      state.tensor);
  return {tensor,
          Serial::of(dim == 0 ? 2 * old.rows : old.rows, dim == 1 ? 2 * old.columns : old.columns,
                     [&](auto i, auto j) { return old(i % old.rows, j % old.columns); }),
          state.words + " concatenate"};
}

State moved(Generator& generator, const State& state) {
  const auto rule = drawn_rule(generator);
  const auto tensor = std::visit(
      [&](const auto& x) -> Tensor { return DTensor<Matrix>(redistribute<Matrix>(x, rule)); },
      state.tensor);
  return {tensor, state.serial, state.words + " to " + to_string(rule)};
}

State next(Generator& generator, const State& state) {
  const bool is_large = state.serial.data.size() > 400;
  switch (draw(generator, 0, 5)) {
    case 0:
      return transposed(state);
    case 1:
      return sliced(generator, state);
    case 2:
      return rolled(generator, state);
    case 3:
      return reshaped(generator, state);
    case 4:
      return is_large ? sliced(generator, state) : joined(generator, state);
    default:
      return moved(generator, state);
  }
}

void expect_right(const State& state) {
  const auto& serial = state.serial;
  const auto expected = [&](const Extents& i) { return serial(i[0], i[1]); };
  std::visit(
      [&](const auto& x) {
        ASSERT_EQ(x.shape(), (Extents{serial.rows, serial.columns})) << state.words;
        EXPECT_EQ(wrong_piece(x, expected), "") << to_string(x.spec()) << state.words;
      },
      state.tensor);
}

TEST(Composition, of_five_random_moves_is_that_of_a_serial_array) {
  const auto mesh = mesh_of({world_size()});
  Generator generator(seed());
  for (int i = cases(world_size() == 2 ? 10000 : 1000); i > 0; --i) {
    const std::int64_t rows = draw(generator, 1, 9);
    const std::int64_t columns = draw(generator, 1, 9);
    const auto rule = drawn_rule(generator);
    State state{iota<Matrix>(mesh, rule, {rows, columns}),
                Serial::of(rows, columns,
                           [&](auto r, auto c) { return static_cast<double>(r * columns + c); }),
                to_string(rule) + ':'};
    for (int step = 0; step < 5; ++step) state = next(generator, state);
    expect_right(state);
    if (HasFailure()) return;
  }
}

}  // namespace
