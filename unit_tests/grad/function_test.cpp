// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Functions of whole tensors with an adjoint of the program's own.
#include <type_traits>
#include <utility>

#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/function.hpp>
#include <tessera/grad/tape.hpp>

#include "../ops/named.hpp"

namespace tessera::test {
namespace {

using grad::Tape;

/// Returns x^3, whose gradient it takes to be -dy, so that one sees who computed it.
auto marked() {
  return grad::function([](const auto& x) { return ops::multiply(ops::multiply(x, x), x); },
                        [](const auto&, const auto&, const auto& dy) { return ops::negate(dy); });
}

DTensor<Vector> one_two_three() {
  return listed<Vector>(line(), Shard(0), {3}, {1, 2, 3});
}

TEST(GradFunction, has_the_value_of_forward_and_the_gradient_of_vjp) {
  Tape tape;
  const auto x = tape.watch(one_two_three());
  const auto y = marked()(x);
  tape.backward(y, one_two_three());

  expect_elements(y.detach(), ElementsAre(1, 8, 27));
  EXPECT_EQ(x.grad().placements(), Placements{Shard(0)});
  expect_elements(x.grad(), ElementsAre(-1, -2, -3));
}

TEST(GradFunction, vjp_gets_inputs_the_result_and_its_gradient) {
  Tape tape;
  const auto x = tape.watch(one_two_three()), z = tape.watch(one_two_three());
  const auto f = grad::function(
      [](const auto& a, double factor, const auto& b) {
        return ops::multiply(ops::multiply(a, b), factor);
      },
      [](const auto& a, double factor, const auto& b, const auto& y, const auto& dy) {
        expect_elements(y, ElementsAre(2, 8, 18));
        return std::pair(ops::multiply(ops::multiply(b, dy), factor),
                         ops::multiply(ops::multiply(a, dy), -factor));
      });
  tape.backward(f(x, 2.0, z), one_two_three());

  expect_elements(x.grad(), ElementsAre(2, 8, 18));
  expect_elements(z.grad(), ElementsAre(-2, -8, -18));
}

TEST(GradFunction, tensors_that_are_no_variables_have_no_gradient) {
  Tape tape;
  const auto x = tape.watch(one_two_three());
  const auto f = grad::function(
      [](const auto& a, const auto& b) { return ops::multiply(a, b); },
      [](const auto& a, const auto&, const auto&, const auto& dy) { return ops::multiply(a, dy); });
  tape.backward(f(one_two_three(), x), one_two_three());

  expect_elements(x.grad(), ElementsAre(1, 4, 9));
}

TEST(GradFunction, without_a_variable_is_forward) {
  const auto y = marked()(one_two_three());

  static_assert(std::is_same_v<decltype(y), const DTensor<Vector>>);
  expect_elements(y, ElementsAre(1, 8, 27));
}

TEST(GradFunction, of_local_variables_gives_a_local_variable) {
  Tape tape;
  const auto x = tape.watch_local(iota_view<Vector>({3}));
  const auto y = marked()(x);
  tape.backward(y, iota_view<Vector>({3}));

  static_assert(std::is_same_v<decltype(y), const grad::LocalVariable<Vector>>);
  EXPECT_THAT(elements_of(x.grad()), ElementsAre(0, -1, -2));
}

TEST(GradFunction, gradient_may_have_any_placements) {
  Tape tape;
  const auto x = tape.watch(one_two_three());
  const auto f = grad::function([](const auto& a) { return a; },
                                [](const auto&, const auto&, const auto&) {
                                  return contributions<Vector>(ReduceOp::sum, {3});
                                });
  const Traffic traffic;
  tape.backward(f(x), one_two_three());

  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(x.grad().placements(), Placements{Shard(0)});
  expect_elements(x.grad(), ElementsAre(0, triangle(), 2 * triangle()));
}

TEST(GradFunction, gradient_has_the_shape_of_its_argument) {
  Tape tape;
  const auto x = tape.watch(one_two_three());
  const auto f = grad::function(
      [](const auto& a) { return a; },
      [](const auto&, const auto&, const auto&) { return zeros<Vector>(line(), Shard(0), {4}); });
  const auto y = f(x);

  EXPECT_THAT(invalid_argument_of([&] { tape.backward(y, one_two_three()); }),
              HasSubstr("function: expected a gradient of shape (3)"));
}

TEST(GradFunction, is_not_recorded_in_a_no_record_scope) {
  Tape tape;
  const auto x = tape.watch(one_two_three());
  const grad::NoRecordScope plain;
  const auto y = marked()(x);

  expect_elements(y.detach(), ElementsAre(1, 8, 27));
  EXPECT_THROW(tape.backward(y, one_two_three()), InvalidArgument);
}

}  // namespace
}  // namespace tessera::test
