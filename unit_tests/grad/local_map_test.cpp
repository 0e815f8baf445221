// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Functions on local Views with an adjoint of the program's own.
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/function.hpp>
#include <tessera/grad/local_map.hpp>
#include <tessera/grad/tape.hpp>

#include "../ops/named.hpp"

namespace tessera::test {
namespace {

using grad::Tape;

/// Returns the transposed matrix.
Matrix transposed(const Matrix& a) {
  const Matrix result("transposed", a.extent(1), a.extent(0));
  const auto from = on_host(a);
  change_on_host(result, [&](const auto& host) {
    for (std::size_t i = 0; i < from.extent(0); ++i)
      for (std::size_t j = 0; j < from.extent(1); ++j) host(j, i) = from(i, j);
  });
  return result;
}

Matrix product(const Matrix& a, const Matrix& b) {
  const Matrix result("product", a.extent(0), b.extent(1));
  const auto left = on_host(a), right = on_host(b);
  change_on_host(result, [&](const auto& host) {
    for (std::size_t i = 0; i < left.extent(0); ++i)
      for (std::size_t k = 0; k < left.extent(1); ++k)
        for (std::size_t j = 0; j < right.extent(1); ++j) host(i, j) += left(i, k) * right(k, j);
  });
  return result;
}

std::pair<Matrix, Matrix> adjoint_of_product(const Matrix& x, const Matrix& w, const Matrix&,
                                             const Matrix& dy) {
  return {product(dy, transposed(w)), product(transposed(x), dy)};
}

Matrix times(const Matrix& a, double factor) {
  const Matrix result("times", a.extent(0), a.extent(1));
  const auto from = on_host(a);
  change_on_host(result, [&](const auto& host) {
    for (std::size_t i = 0; i < from.extent(0); ++i)
      for (std::size_t j = 0; j < from.extent(1); ++j) host(i, j) = factor * from(i, j);
  });
  return result;
}

Matrix sum(const Matrix& a, const Matrix& b) {
  const auto result = times(a, 1);
  const auto added = on_host(b);
  change_on_host(result, [&](const auto& host) {
    for (std::size_t i = 0; i < added.extent(0); ++i)
      for (std::size_t j = 0; j < added.extent(1); ++j) host(i, j) += added(i, j);
  });
  return result;
}

const Extents x_shape{8, 4}, w_shape{4, 4}, y_shape{8, 4};

Matrix serial(const Extents& shape) {
  return iota_view<Matrix>(shape);
}

/// Returns a variable whose gradient writes down its placements when it arrives.
template <class X>
auto observed(const X& x, std::optional<Placements>& arrived) {
  return grad::function([](const auto& value) { return value; },
                        [&arrived](const auto&, const auto&, const auto& dy) {
                          arrived = dy.placements();
                          return dy;
                        })(x);
}

auto rows_product(const LocalMapOptions& options = {}) {
  return grad::local_map(product, adjoint_of_product, {Shard(0)}, {{Shard(0)}, {Replicate()}},
                         {{Shard(0)}, {Partial()}}, options);
}

TEST(GradLocalMap, g9_weight_of_split_rows_gets_contributions_that_are_reduced_once) {
  Tape tape;
  std::optional<Placements> arrived;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(0), x_shape));
  const auto w = tape.watch(iota<Matrix>(line(), Replicate(), w_shape));
  const auto y = rows_product()(x, observed(w, arrived));
  const Traffic traffic;
  tape.backward(y, iota<Matrix>(line(), Shard(0), y_shape));

  static_assert(std::is_same_v<decltype(y), const grad::Variable<Matrix>>);
  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(arrived, Placements{Partial()});
  EXPECT_EQ(w.grad().placements(), Placements{Replicate()});
  EXPECT_EQ(x.grad().placements(), Placements{Shard(0)});
  const auto [dx, dw] = adjoint_of_product(serial(x_shape), serial(w_shape), {}, serial(y_shape));
  EXPECT_EQ(all_elements(y.detach()), elements_of(product(serial(x_shape), serial(w_shape))));
  EXPECT_EQ(all_elements(x.grad()), elements_of(dx));
  EXPECT_EQ(all_elements(w.grad()), elements_of(dw));
}

TEST(GradLocalMap, g10_gradient_of_a_redistributed_input_has_its_own_placements) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(1), x_shape));
  const auto w = tape.watch(iota<Matrix>(line(), Replicate(), w_shape));
  const auto f = rows_product({.redistribute_inputs = true});
  const Traffic forward;
  const auto y = f(x, w);
  EXPECT_EQ(forward.exchanges(), one());
  const Traffic backward;
  tape.backward(y, iota<Matrix>(line(), Shard(0), y_shape));

  // One gradient moves, the other one is summed up; the input does not travel again.
  EXPECT_EQ(backward.exchanges(), 2 * one());
  EXPECT_EQ(x.grad().placements(), Placements{Shard(1)});
  const auto [dx, dw] = adjoint_of_product(serial(x_shape), serial(w_shape), {}, serial(y_shape));
  EXPECT_EQ(all_elements(x.grad()), elements_of(dx));
  EXPECT_EQ(all_elements(w.grad()), elements_of(dw));
}

TEST(GradLocalMap, inputs_that_are_placed_otherwise_are_a_mismatch) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(1), x_shape));
  const auto w = tape.watch(iota<Matrix>(line(), Replicate(), w_shape));

  EXPECT_THAT(message_of<PlacementMismatch>([&] { rows_product()(x, w); }),
              HasSubstr("local_map: expected argument 0 as S(0), got S(1)"));
}

/// Returns the product of a replicated X and columns of W.
auto columns_product() {
  return grad::local_map(product, adjoint_of_product, {Shard(1)}, {{Replicate()}, {Shard(1)}},
                         {{Partial()}, {Shard(1)}});
}

/// Returns the product of columns of X and rows of W.
auto inner_product() {
  return grad::local_map(product, adjoint_of_product, {Partial()}, {{Shard(1)}, {Shard(0)}},
                         {{Shard(1)}, {Shard(0)}});
}

TEST(GradLocalMap, of_a_column_parallel_weight_gives_contributions_to_a_replicated_input) {
  Tape tape;
  std::optional<Placements> arrived;
  const auto x = tape.watch(iota<Matrix>(line(), Replicate(), x_shape));
  const auto w = tape.watch(iota<Matrix>(line(), Shard(1), w_shape));
  const auto y = columns_product()(observed(x, arrived), w);
  const Traffic traffic;
  tape.backward(y, iota<Matrix>(line(), Shard(1), y_shape));

  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(y.placements(), Placements{Shard(1)});
  EXPECT_EQ(arrived, Placements{Partial()});
  EXPECT_EQ(x.grad().placements(), Placements{Replicate()});
  EXPECT_EQ(w.grad().placements(), Placements{Shard(1)});
  const auto [dx, dw] = adjoint_of_product(serial(x_shape), serial(w_shape), {}, serial(y_shape));
  EXPECT_EQ(all_elements(y.detach()), elements_of(product(serial(x_shape), serial(w_shape))));
  EXPECT_EQ(all_elements(x.grad()), elements_of(dx));
  EXPECT_EQ(all_elements(w.grad()), elements_of(dw));
}

TEST(GradLocalMap, of_a_row_parallel_weight_takes_a_replicated_gradient) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(1), x_shape));
  const auto w = tape.watch(iota<Matrix>(line(), Shard(0), w_shape));
  const auto y = inner_product()(x, w);
  const Traffic traffic;
  tape.backward(y, iota<Matrix>(line(), Replicate(), y_shape));

  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(y.placements(), Placements{Partial()});
  EXPECT_EQ(x.grad().placements(), Placements{Shard(1)});
  EXPECT_EQ(w.grad().placements(), Placements{Shard(0)});
  const auto [dx, dw] = adjoint_of_product(serial(x_shape), serial(w_shape), {}, serial(y_shape));
  EXPECT_EQ(all_elements(y.detach()), elements_of(product(serial(x_shape), serial(w_shape))));
  EXPECT_EQ(all_elements(x.grad()), elements_of(dx));
  EXPECT_EQ(all_elements(w.grad()), elements_of(dw));
}

TEST(GradLocalMap, of_a_column_parallel_and_a_row_parallel_weight_in_turn) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Replicate(), x_shape));
  const auto first = tape.watch(iota<Matrix>(line(), Shard(1), w_shape));
  const auto second = tape.watch(iota<Matrix>(line(), Shard(0), w_shape));
  const auto y = inner_product()(columns_product()(x, first), second);
  const Traffic traffic;
  tape.backward(y, iota<Matrix>(line(), Replicate(), y_shape));

  EXPECT_EQ(traffic.exchanges(), one());
  const auto hidden = product(serial(x_shape), serial(w_shape));
  const auto [dhidden, dsecond] = adjoint_of_product(hidden, serial(w_shape), {}, serial(y_shape));
  const auto [dx, dfirst] = adjoint_of_product(serial(x_shape), serial(w_shape), {}, dhidden);
  EXPECT_EQ(all_elements(x.grad()), elements_of(dx));
  EXPECT_EQ(all_elements(first.grad()), elements_of(dfirst));
  EXPECT_EQ(all_elements(second.grad()), elements_of(dsecond));
}

TEST(GradLocalMap, placements_of_gradients_are_those_of_the_inputs_if_they_are_left_out) {
  Tape tape;
  const auto x = tape.watch(contributions<Matrix>(ReduceOp::sum, x_shape));
  std::optional<Placements> arrived;
  const auto f = grad::local_map(
      [](const Matrix& view) { return times(view, 2); },
      [](const Matrix&, const Matrix&, const Matrix& dy) { return times(dy, 2); }, like_input(0));
  const auto y = f(observed(x, arrived));
  tape.backward(y, iota<Matrix>(line(), Shard(0), x_shape));

  EXPECT_EQ(arrived, Placements{Replicate()});
  EXPECT_EQ(all_elements(x.grad()), elements_of(times(serial(x_shape), 2)));
}

TEST(GradLocalMap, each_of_several_outputs_has_a_gradient) {
  Tape tape;
  int runs = 0;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(0), x_shape));
  const auto f = grad::local_map(
      [](const Matrix& view, double factor) {
        return std::tuple(times(view, factor), 2.5, times(view, 3));
      },
      [&runs](const Matrix&, double factor, const Matrix&, double passed, const Matrix&,
              const Matrix& first, const Matrix& second) {
        ++runs;
        EXPECT_EQ(passed, 2.5);
        return sum(times(first, factor), times(second, 3));
      },
      std::tuple(Placements{Shard(0)}, none, like_input(0)), {{Shard(0)}, std::nullopt});
  const auto [first, number, second] = f(x, 2.0);
  tape.backward(ops::add(first, second), ones_like(x.detach()), {.retain = true});

  static_assert(std::is_same_v<decltype(first), const grad::Variable<Matrix>>);
  static_assert(std::is_same_v<decltype(number), const double>);
  EXPECT_EQ(runs, 1);
  expect_elements(x.grad(), testing::Each(5));

  tape.zero_grad();
  tape.backward(second, ones_like(x.detach()));
  EXPECT_EQ(runs, 2);
  expect_elements(x.grad(), testing::Each(3));
}

TEST(GradLocalMap, vjp_gets_gradients_of_outputs_as_the_outputs_are_placed) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(0), x_shape));
  const auto f = grad::local_map([](const Matrix& view) { return times(view, 1); },
                                 [](const Matrix&, const Matrix& y, const Matrix& dy) {
                                   EXPECT_EQ(detail::extents_of(dy), detail::extents_of(y));
                                   return dy;
                                 },
                                 {Shard(0)}, {{Shard(0)}});
  tape.backward(f(x), contributions<Matrix>(ReduceOp::sum, x_shape));

  EXPECT_EQ(all_elements(x.grad()), elements_of(times(serial(x_shape), triangle())));
}

TEST(GradLocalMap, without_a_variable_is_a_local_map) {
  const auto x = iota<Matrix>(line(), Shard(0), x_shape);
  const auto y = rows_product()(x, iota<Matrix>(line(), Replicate(), w_shape));

  static_assert(std::is_same_v<decltype(y), const DTensor<Matrix>>);
  EXPECT_EQ(all_elements(y), elements_of(product(serial(x_shape), serial(w_shape))));
}

TEST(GradLocalMap, takes_tensors_beside_variables) {
  Tape tape;
  const auto w = tape.watch(iota<Matrix>(line(), Replicate(), w_shape));
  const auto f = grad::local_map(product,
                                 [](const Matrix& x, const Matrix&, const Matrix&,
                                    const Matrix& dy) { return product(transposed(x), dy); },
                                 {Shard(0)}, {{Shard(0)}, {Replicate()}}, {none, {Partial()}});
  const auto y = f(iota<Matrix>(line(), Shard(0), x_shape), w);
  tape.backward(y, iota<Matrix>(line(), Shard(0), y_shape));

  EXPECT_EQ(all_elements(w.grad()),
            elements_of(product(transposed(serial(x_shape)), serial(y_shape))));
}

TEST(GradLocalMap, of_local_variables_gives_a_local_variable) {
  Tape tape;
  const auto x = tape.watch_local(serial(x_shape)), w = tape.watch_local(serial(w_shape));
  const auto y = grad::local_map(product, adjoint_of_product, {Shard(0)})(x, w);
  tape.backward(y, serial(y_shape));

  static_assert(std::is_same_v<decltype(y), const grad::LocalVariable<Matrix>>);
  const auto [dx, dw] = adjoint_of_product(serial(x_shape), serial(w_shape), {}, serial(y_shape));
  EXPECT_EQ(elements_of(x.grad()), elements_of(dx));
  EXPECT_EQ(elements_of(w.grad()), elements_of(dw));
}

TEST(GradLocalMap, on_a_part_of_the_ranks) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null()) GTEST_SKIP() << "2 ranks are needed";
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(mesh, Shard(0), x_shape));
  const auto w = tape.watch(iota<Matrix>(mesh, Replicate(), w_shape));
  const auto f = grad::local_map(product, adjoint_of_product, shaped({Shard(0)}, y_shape),
                                 {{Shard(0)}, {Replicate()}}, {{Shard(0)}, {Partial()}});
  tape.backward(f(x, w), iota<Matrix>(mesh, Shard(0), y_shape));

  const auto dw = all_elements(w.grad());
  if (!is_on(mesh)) return;
  EXPECT_EQ(dw, elements_of(product(transposed(serial(x_shape)), serial(y_shape))));
}

TEST(GradLocalMap, keeps_boundaries_of_uneven_shards) {
  Tape tape;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(world_size()), 0);
  rows.back() = x_shape[0];
  const auto x = tape.watch(iota<Matrix>(line(), Sizes(0, rows), x_shape));
  const auto w = tape.watch(iota<Matrix>(line(), Replicate(), w_shape));
  const auto y = rows_product()(x, w);
  tape.backward(y, iota<Matrix>(line(), Shard(0), y_shape));

  EXPECT_EQ(x.grad().spec(), x.spec());
  const auto [dx, dw] = adjoint_of_product(serial(x_shape), serial(w_shape), {}, serial(y_shape));
  EXPECT_EQ(all_elements(x.grad()), elements_of(dx));
  EXPECT_EQ(all_elements(w.grad()), elements_of(dw));
}

TEST(GradLocalMap, takes_local_variables_beside_variables) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(0), x_shape));
  const auto w = tape.watch_local(serial(w_shape));
  const auto f = grad::local_map(product, adjoint_of_product, {Shard(0)});
  tape.backward(f(x, w), iota<Matrix>(line(), Shard(0), y_shape));

  const auto dy = iota<Matrix>(line(), Shard(0), y_shape).to_local();
  const auto [dx, dw] = adjoint_of_product(serial(x_shape), serial(w_shape), {}, serial(y_shape));
  EXPECT_EQ(all_elements(x.grad()), elements_of(dx));
  EXPECT_EQ(elements_of(w.grad()), elements_of(product(transposed(x.detach().to_local()), dy)));
}

TEST(GradLocalMap, placements_of_inputs_are_checked) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(0), x_shape));
  const auto call = [&](const InPlacements& in) {
    const auto f = grad::local_map(product, adjoint_of_product, like_input(0), in);
    return invalid_argument_of([&] { f(x, x); });
  };

  EXPECT_THAT(call({{Shard(0)}}), HasSubstr("local_map: expected 2 in_placements, one per"));
  EXPECT_THAT(call({keep, std::nullopt}),
              HasSubstr("local_map: expected placements or keep for argument 1"));
}

TEST(GradLocalMap, placements_of_gradients_are_checked) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(0), x_shape));
  const auto call = [&](const InPlacements& in_grad) {
    const auto f = grad::local_map(
        times,
        [](const Matrix&, double factor, const Matrix&, const Matrix& dy) {
          return times(dy, factor);
        },
        like_input(0), {}, in_grad);
    return invalid_argument_of([&] { f(x, 2.0); });
  };

  EXPECT_THAT(call({{Shard(0)}}), HasSubstr("local_map: expected 2 in_grad_placements, one per"));
  EXPECT_THAT(call({std::nullopt, std::nullopt}),
              HasSubstr("local_map: expected placements or keep for the gradient of argument 0"));
  EXPECT_THAT(call({keep, {Shard(0)}}),
              HasSubstr("local_map: expected nullopt for the gradient of argument 1"));
  EXPECT_THAT(call({{Shard(2)}, std::nullopt}),
              HasSubstr("local_map: expected Shard dims of a 2-d tensor, got S(2)"));
}

TEST(GradLocalMap, views_that_vjp_returns_are_pieces_of_the_gradient) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(0), x_shape));
  const auto f = grad::local_map(
      [](const Matrix& view) { return times(view, 1); },
      [](const Matrix&, const Matrix&, const Matrix&) { return Matrix("other", 3, 7); },
      like_input(0));
  const auto y = f(x);

  EXPECT_THAT(invalid_argument_of([&] { tape.backward(y, x.detach()); }),
              HasSubstr("local_map: expected a local View of shape"));
}

TEST(GradLocalMap, gradients_of_local_variables_have_their_shapes) {
  Tape tape;
  const auto x = tape.watch_local(serial(x_shape));
  const auto f = grad::local_map(
      [](const Matrix& view) { return times(view, 1); },
      [](const Matrix&, const Matrix&, const Matrix&) { return Matrix("other", 3, 7); },
      {Shard(0)});
  const auto y = f(x);

  EXPECT_THAT(invalid_argument_of([&] { tape.backward(y, serial(x_shape)); }),
              HasSubstr("local_map: expected a gradient of shape (8, 4)"));
}

TEST(GradLocalMap, what_vjp_throws_ends_the_backward_pass) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(0), x_shape));
  bool throws = true;
  const auto f = grad::local_map([](const Matrix& view) { return times(view, 1); },
                                 [&throws](const Matrix&, const Matrix&, const Matrix& dy) {
                                   if (throws) throw InvalidArgument("no gradient today");
                                   return dy;
                                 },
                                 like_input(0));
  const auto y = f(x);

  EXPECT_THAT(invalid_argument_of([&] { tape.backward(y, x.detach(), {.retain = true}); }),
              HasSubstr("no gradient today"));
  EXPECT_FALSE(x.has_grad());
  throws = false;
  tape.backward(y, x.detach());
  EXPECT_EQ(all_elements(x.grad()), elements_of(serial(x_shape)));
}

TEST(GradLocalMap, is_not_recorded_in_a_no_record_scope) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(0), x_shape));
  const auto w = tape.watch(iota<Matrix>(line(), Replicate(), w_shape));
  const grad::NoRecordScope plain;
  const auto y = rows_product()(x, w);

  static_assert(std::is_same_v<decltype(y), const grad::Variable<Matrix>>);
  EXPECT_EQ(all_elements(y.detach()), elements_of(product(serial(x_shape), serial(w_shape))));
  EXPECT_THROW(tape.backward(y, y.detach()), InvalidArgument);
}

}  // namespace
}  // namespace tessera::test
