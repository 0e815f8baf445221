// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// What a tape records, and how gradients are placed.
#include <string>
#include <vector>

#include <tessera/grad/linear_algebra.hpp>
#include <tessera/grad/movement.hpp>
#include <tessera/grad/tape.hpp>

#include "../ops/named.hpp"

namespace tessera::test {
namespace {

using grad::Tape;
using testing::Each;
using FloatMatrix = MatrixOf<float>;

/// Runs the backward pass of y from `dy`, and returns the number of its exchanges.
template <class Y, class G>
int exchanges_of_backward(Tape& tape, const Y& y, const G& dy) {
  const Traffic traffic;
  tape.backward(y, dy);
  return traffic.exchanges();
}

DTensor<Matrix> ones_of(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  return ones<Matrix>(mesh, target, shape);
}

TEST(Gradient, g1_of_gathering_is_a_slice) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {8, 3}));
  const auto y = redistribute(x);
  EXPECT_EQ(exchanges_of_backward(tape, y, ones_of(line(), Replicate(), {8, 3})), 0);
  EXPECT_EQ(x.grad().placements(), Placements{Shard(0)});
  expect_elements(x.grad(), Each(1));
}

TEST(Gradient, g2_of_slicing_is_gathered) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Replicate(), {8, 3}));
  const auto y = redistribute(x, Shard(0));
  EXPECT_EQ(exchanges_of_backward(tape, y, ones_of(line(), Shard(0), {8, 3})), one());
  EXPECT_EQ(x.grad().placements(), Placements{Replicate()});
  expect_elements(x.grad(), Each(1));
}

TEST(Gradient, g3_of_a_sum_of_contributions_goes_to_each_of_them) {
  Tape tape;
  const auto part = detail::allocate<Matrix>({12, 3}, "part");
  Kokkos::deep_copy(part, 1);
  const auto x = tape.watch(from_local(part, line(), Partial(), {12, 3}));
  const auto y = redistribute(x);
  expect_elements(y.detach(), Each(world_size()));
  EXPECT_EQ(exchanges_of_backward(tape, y, ones_of(line(), Replicate(), {12, 3})), 0);
  EXPECT_EQ(x.grad().placements(), Placements{Replicate()});
  expect_elements(x.grad(), Each(1));
}

TEST(Gradient, g4_of_another_sharding_moves_back) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {8, 8}));
  const auto y = redistribute(x, Shard(1));
  EXPECT_EQ(exchanges_of_backward(tape, y, ones_of(line(), Shard(1), {8, 8})), one());
  EXPECT_EQ(x.grad().placements(), Placements{Shard(0)});
}

TEST(Gradient, g5_of_a_gathered_tensor_with_different_contributions_is_scattered) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {8, 3}));
  const auto y = grad::to_local(redistribute(x), {.grad_placements = Placements{Partial()}});
  EXPECT_EQ(exchanges_of_backward(tape, y, y.value()), one());
  EXPECT_EQ(x.grad().placements(), Placements{Shard(0)});
  expect_elements(x.grad(), Each(world_size()));
}

TEST(Gradient, g6_of_replicas_with_different_contributions_is_reduced) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Replicate(), {8, 3}));
  const auto y = grad::to_local(x, {.grad_placements = Placements{Partial()}});
  EXPECT_EQ(exchanges_of_backward(tape, y, y.value()), one());
  expect_elements(x.grad(), Each(world_size()));
}

TEST(Gradient, g7_of_from_local_of_replicas_is_reduced_unless_it_may_be_partial) {
  for (const bool may_be_partial : {false, true}) {
    Tape tape;
    const auto mine = detail::allocate<Matrix>({4, 3}, "mine");
    Kokkos::deep_copy(mine, 1);
    const auto x = tape.watch_local(mine);
    const auto options = may_be_partial
                             ? grad::LocalOptions{.grad_placements = Placements{Partial()}}
                             : grad::LocalOptions{};
    const auto y = grad::from_local(x, line(), Replicate(), {4, 3}, options);
    const auto dy = from_local(mine, line(), Partial(), {4, 3});
    EXPECT_EQ(exchanges_of_backward(tape, y, dy), may_be_partial ? 0 : one());
    EXPECT_THAT(elements_of(x.grad()), Each(may_be_partial ? 1 : world_size()));
  }
}

TEST(Gradient, g8_of_full_tensor_with_different_contributions_is_scattered) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {8, 3}));
  const auto y = full_tensor(x, {.grad_placements = Placements{Partial()}});
  EXPECT_EQ(exchanges_of_backward(tape, y, y.value()), one());
  expect_elements(x.grad(), Each(world_size()));
}

TEST(Gradient, g11_of_a_conversion_has_the_type_of_the_source) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {8, 3}));
  const auto y = redistribute<FloatMatrix>(x);
  tape.backward(y, ones<FloatMatrix>(line(), Replicate(), {8, 3}));
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(x.grad())>, DTensor<Matrix::const_type>>);
  EXPECT_EQ(x.grad().placements(), Placements{Shard(0)});
  expect_elements(x.grad(), Each(1));
}

TEST(Gradient, g12_of_two_consumers_is_added_before_the_one_reduction) {
  Tape tape;
  const auto w = tape.watch(ones_of(line(), Replicate(), {4, 4}));
  const auto x = ones_of(line(), Shard(0), {8, 4});
  const auto y = ops::add(ops::matmul(x, w), ops::matmul(ops::multiply(x, 2), w));
  EXPECT_EQ(exchanges_of_backward(tape, y, ones_of(line(), Shard(0), {8, 4})), one());
  EXPECT_EQ(w.grad().placements(), Placements{Replicate()});
  expect_elements(w.grad(), Each(24));
}

TEST(Gradient, g13_of_contributions_that_are_split_is_gathered) {
  Tape tape;
  const auto part = detail::allocate<Matrix>({8, 3}, "part");
  Kokkos::deep_copy(part, 1);
  const auto x = tape.watch(from_local(part, line(), Partial(), {8, 3}));
  const auto y = redistribute(x, Shard(0));
  EXPECT_EQ(exchanges_of_backward(tape, y, ones_of(line(), Shard(0), {8, 3})), one());
  EXPECT_EQ(x.grad().placements(), Placements{Replicate()});
  expect_elements(x.grad(), Each(1));
}

TEST(Gradient, g14_of_an_average_is_divided_by_the_number_of_ranks) {
  Tape tape;
  const VectorOf<double> mine("mine", 1);
  Kokkos::deep_copy(mine, 8);
  const auto x = tape.watch_local(mine);
  const auto y = ops::sum(redistribute(grad::from_local(x, line(), Partial(ReduceOp::avg), {1})));
  EXPECT_EQ(item(y.detach()), 8);
  tape.backward(y);
  EXPECT_THAT(elements_of(x.grad()), ElementsAre(1.0 / world_size()));
}

TEST(Gradient, g15_of_a_product_with_the_inner_dim_split_needs_no_exchange) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(1), {2, 4}));
  const auto w = tape.watch(iota<Matrix>(line(), Shard(0), {4, 3}));
  const auto y = ops::sum(redistribute(ops::matmul(x, w)));
  EXPECT_EQ(item(y.detach()), 552);
  const Traffic traffic;
  tape.backward(y);
  EXPECT_EQ(traffic.exchanges(), 0);
  expect_elements(x.grad(), ElementsAre(3, 12, 21, 30, 3, 12, 21, 30));
  expect_elements(w.grad(), ElementsAre(4, 4, 4, 6, 6, 6, 8, 8, 8, 10, 10, 10));
  EXPECT_EQ(x.grad().placements(), Placements{Shard(1)});
  EXPECT_EQ(w.grad().placements(), Placements{Shard(0)});
}

TEST(Gradient, of_several_weights_is_reduced_in_one_exchange) {
  Tape tape;
  const auto x = iota<Matrix>(line(), Shard(0), {8, 4});
  const auto w = tape.watch(ones_of(line(), Replicate(), {4, 5}));
  const auto v = tape.watch(ones_of(line(), Replicate(), {5, 2}));
  const auto loss = ops::mean(ops::square(ops::matmul(ops::relu(ops::matmul(x, w)), v)));
  const Traffic traffic;
  tape.backward(loss);
  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(w.grad().placements(), Placements{Replicate()});
  EXPECT_EQ(v.grad().placements(), Placements{Replicate()});
}

TEST(Gradient, takes_the_placements_that_watch_names) {
  Tape tape;
  const auto x = iota<Matrix>(line(), Shard(0), {8, 4});
  const auto w =
      tape.watch(ones_of(line(), Replicate(), {4, 4}), {.grad_placements = Placements{Shard(0)}});
  const auto v =
      tape.watch(ones_of(line(), Replicate(), {4, 4}), {.grad_placements = Placements{Partial()}});
  const auto y = ops::add(ops::matmul(x, w), ops::matmul(x, v));
  EXPECT_EQ(exchanges_of_backward(tape, y, ones_of(line(), Shard(0), {8, 4})), one());
  EXPECT_EQ(w.grad().placements(), Placements{Shard(0)});
  EXPECT_EQ(v.grad().placements(), Placements{Partial()});
  EXPECT_EQ(all_elements(w.grad()), all_elements(v.grad()));
}

TEST(TapeOfGradients, adds_up_over_backward_passes_until_it_is_told_to_forget) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {4, 2}));
  for (const double expected : {2.0, 4.0}) {
    tape.backward(ops::sum(ops::square(x)));
    expect_elements(x.grad(), Each(expected));
  }
  tape.zero_grad();
  EXPECT_FALSE(x.has_grad());
  tape.backward(ops::sum(ops::multiply(x, 3)));
  expect_elements(x.grad(), Each(3));
}

TEST(TapeOfGradients, runs_twice_over_what_is_retained) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {4, 2}));
  const auto y = ops::sum(ops::square(x));
  tape.backward(y, {.retain = true});
  tape.backward(y);
  expect_elements(x.grad(), Each(4));
  const auto message = message_of<InvalidArgument>([&] { tape.backward(y); });
  EXPECT_THAT(message, HasSubstr("backward: expected a value that was computed since the last"));
  EXPECT_THAT(message, HasSubstr("retain"));
}

TEST(TapeOfGradients, refuses_old_values_as_operands) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {4, 2}));
  const auto y = ops::square(x);
  tape.backward(ops::sum(y));
  const auto message = message_of<InvalidArgument>([&] { ops::add(y, x); });
  EXPECT_THAT(message, HasSubstr("used up what was recorded"));
}

TEST(TapeOfGradients, does_not_mix_with_another_one) {
  Tape tape, other;
  const auto x = tape.watch(ones_of(line(), Shard(0), {4, 2}));
  const auto y = other.watch(ones_of(line(), Shard(0), {4, 2}));
  EXPECT_THAT(message_of<InvalidArgument>([&] { x + y; }), HasSubstr("one tape"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { tape.backward(ops::sum(y)); }),
              HasSubstr("this tape has recorded"));
}

TEST(TapeOfGradients, names_a_gradient_that_is_missing) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {4, 2}));
  const auto unused = tape.watch(ones_of(line(), Shard(0), {4, 2}));
  const auto y = ops::square(x);
  tape.backward(ops::sum(y));
  EXPECT_THAT(message_of<InvalidArgument>([&] { unused.grad(); }),
              HasSubstr("no backward() has reached this variable"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { y.grad(); }), HasSubstr("Tape::watch()"));
}

TEST(TapeOfGradients, wants_a_gradient_for_values_with_dims) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {4, 2}));
  const auto y = ops::square(x);
  EXPECT_THAT(message_of<InvalidArgument>([&] { tape.backward(y); }),
              HasSubstr("expected a value of 0 dims"));
  EXPECT_THAT(message_of<InvalidArgument>([&] {
                tape.backward(y, ones_of(line(), Shard(0), {4, 3}));
              }),
              HasSubstr("expected a gradient of shape (4, 2)"));
}

TEST(TapeOfGradients, records_nothing_within_a_scope) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {4, 2}));
  grad::Variable<Matrix> y;
  {
    const grad::NoRecordScope plain;
    y = ops::square(x);
  }
  expect_elements(y.detach(), Each(1));
  EXPECT_THROW(tape.backward(ops::sum(y)), InvalidArgument);
}

TEST(TapeOfGradients, finds_saved_tensors_that_changed) {
  for (const bool checks : {false, true}) {
    Tape tape({.check_saved = checks});
    const auto data = ones_of(line(), Shard(0), {4, 2});
    const auto x = tape.watch(data);
    const auto y = ops::sum(ops::square(x));
    Kokkos::deep_copy(data.to_local(), 2);
    if (checks)
      EXPECT_THAT(message_of<InvalidArgument>([&] { tape.backward(y); }),
                  HasSubstr("an operand of square was changed"));
    else
      tape.backward(y);
  }
}

TEST(TapeOfGradients, does_not_mind_changes_of_what_it_does_not_need) {
  Tape tape({.check_saved = true});
  const auto data = ones_of(line(), Shard(0), {4, 2});
  const auto x = tape.watch(data);
  const auto y = ops::sum(ops::add(x, x));
  Kokkos::deep_copy(data.to_local(), 2);
  tape.backward(y);
  expect_elements(x.grad(), Each(2));
}

TEST(TapeOfGradients, works_on_views_of_one_rank) {
  Tape tape;
  const VectorOf<double> mine("mine", 3);
  Kokkos::deep_copy(mine, world_rank() + 1);
  const auto x = tape.watch_local(mine);
  const auto y = ops::sum(ops::square(x));
  const Traffic traffic;
  tape.backward(y);
  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
  EXPECT_THAT(elements_of(x.grad()), Each(2 * (world_rank() + 1)));
}

TEST(TapeOfGradients, gives_the_shape_of_a_stretched_operand) {
  Tape tape;
  const auto x = tape.watch(ones_of(line(), Shard(0), {4, 3}));
  const auto row = tape.watch(ones<VectorOf<double>>(line(), Replicate(), {3}));
  const auto column = tape.watch(ones_of(line(), Shard(0), {4, 1}));
  tape.backward(ops::sum(x * row * column));
  expect_elements(row.grad(), Each(4));
  expect_elements(column.grad(), Each(3));
  EXPECT_EQ(column.grad().shape(), (Extents{4, 1}));
}

}  // namespace
}  // namespace tessera::test
