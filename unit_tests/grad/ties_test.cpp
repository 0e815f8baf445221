// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Gradients where functions have none in the strict sense: ties, kinks, and zeros.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tessera/grad/linear_algebra.hpp>
#include <tessera/grad/tape.hpp>

#include "../ops/named.hpp"

namespace tessera::test {
namespace {

using grad::Tape;
using testing::ElementsAreArray;
using Doubles = std::vector<double>;
using Tensor = DTensor<Vector>;

/// Returns a tensor that is a sum over ranks: rank r > 0 contributes r to each element.
Tensor spread(const Doubles& elements) {
  const Extents shape{static_cast<std::int64_t>(elements.size())};
  const auto mine = detail::allocate<Vector>(shape, "spread");
  const double others = triangle() - world_size();
  change_on_host(mine, [&](const auto& host) {
    for (std::size_t i = 0; i < elements.size(); ++i)
      host(i) = world_rank() == 0 ? elements[i] - others : world_rank();
  });
  return from_local(mine, line(), Partial(), shape);
}

/// Returns tensors with these elements under all kinds of placements.
std::vector<Tensor> under_all_placements(const Doubles& elements) {
  const Extents shape{static_cast<std::int64_t>(elements.size())};
  std::vector<Tensor> result{spread(elements)};
  for (const Placement placement : {Placement(Replicate()), Placement(Shard(0)),
                                    Placement(Balanced(0)), Placement(Cyclic(0, 1))})
    result.push_back(listed<Vector>(line(), Target(Placements{placement}), shape, elements));
  return result;
}

/// Checks the gradient of function(x), which has 0 dims, for an x with these elements.
template <class Function>
void expect_gradient(const Doubles& elements, const Function& function, const Doubles& expected,
                     const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const testing::ScopedTrace here(file, line, "called here");
  for (const auto& tensor : under_all_placements(elements)) {
    const testing::ScopedTrace trace(file, line, "x is " + to_string(tensor.spec()));
    Tape tape;
    const auto x = tape.watch(tensor);
    tape.backward(function(x));
    expect_elements(x.grad(), ElementsAreArray(expected));
  }
}

/// Checks the gradients of function(x, y), which has 0 dims.
template <class Function>
void expect_gradients(const Doubles& of_x, const Doubles& of_y, const Function& function,
                      const Doubles& expected_x, const Doubles& expected_y,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const testing::ScopedTrace here(file, line, "called here");
  const auto first = under_all_placements(of_x), second = under_all_placements(of_y);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const testing::ScopedTrace trace(file, line, "x and y are " + to_string(first[i].spec()));
    Tape tape;
    const auto x = tape.watch(first[i]), y = tape.watch(second[i]);
    tape.backward(function(x, y));
    expect_elements(x.grad(), ElementsAreArray(expected_x));
    expect_elements(y.grad(), ElementsAreArray(expected_y));
  }
}

TEST(GradientAtKinks, of_relu_and_abs_is_0_at_0) {
  const Doubles x{-2, 0, 3, 0};
  expect_gradient(x, [](const auto& v) { return ops::sum(ops::relu(v)); }, {0, 0, 1, 0});
  expect_gradient(x, [](const auto& v) { return ops::sum(ops::abs(v)); }, {-1, 0, 1, 0});
}

TEST(GradientAtKinks, of_sign_is_0_everywhere) {
  expect_gradient({-2, 0, 3}, [](const auto& v) { return ops::sum(ops::sign(v)); }, {0, 0, 0});
}

TEST(GradientAtKinks, of_clamp_is_whole_at_its_limits) {
  expect_gradient({-2, -1, 0, 1, 2, 1},
                  [](const auto& v) { return ops::sum(ops::clamp(v, -1, 1)); }, {0, 1, 1, 1, 0, 1});
}

TEST(GradientAtKinks, of_clamp_to_one_number_goes_to_elements_equal_to_it) {
  expect_gradient({0, 1, 2}, [](const auto& v) { return ops::sum(ops::clamp(v, 1, 1)); },
                  {0, 1, 0});
}

TEST(GradientAtKinks, of_sqrt_is_0_at_0) {
  expect_gradient({0, 4, 0, 16}, [](const auto& v) { return ops::sum(ops::sqrt(v)); },
                  {0, 0.25, 0, 0.125});
}

TEST(GradientAtTies, is_shared_by_both_operands_of_maximum_and_minimum) {
  expect_gradients({1, 2, 3, 4}, {1, 5, 3, 2},
                   [](const auto& x, const auto& y) { return ops::sum(ops::maximum(x, y)); },
                   {0.5, 0, 0.5, 1}, {0.5, 1, 0.5, 0});
  expect_gradients({1, 2, 3, 4}, {1, 5, 3, 2},
                   [](const auto& x, const auto& y) { return ops::sum(ops::minimum(x, y)); },
                   {0.5, 1, 0.5, 0}, {0.5, 0, 0.5, 1});
}

TEST(GradientAtTies, of_a_maximum_of_a_variable_with_itself_is_whole) {
  expect_gradient({1, -2, 0}, [](const auto& x) { return ops::sum(ops::maximum(x, x)); },
                  {1, 1, 1});
}

TEST(GradientAtTies, is_half_where_an_element_equals_a_number) {
  expect_gradient({1, 2, 3}, [](const auto& x) { return ops::sum(ops::maximum(x, 2)); },
                  {0, 0.5, 1});
  expect_gradient({1, 2, 3}, [](const auto& x) { return ops::sum(ops::minimum(2, x)); },
                  {1, 0.5, 0});
}

TEST(GradientAtTies, is_shared_among_largest_elements_on_several_ranks) {
  const double third = 1.0 / 3;
  expect_gradient({5, 1, 5, 2, 0, -5, 3, 5}, [](const auto& x) { return ops::max(x); },
                  {third, 0, third, 0, 0, 0, 0, third});
  expect_gradient({-5, 1, 0, -5}, [](const auto& x) { return ops::min(x); }, {0.5, 0, 0, 0.5});
}

TEST(GradientAtTies, is_shared_among_all_elements_if_all_are_equal) {
  expect_gradient({7, 7, 7, 7}, [](const auto& x) { return ops::max(x); },
                  {0.25, 0.25, 0.25, 0.25});
}

TEST(GradientAtTies, is_shared_among_largest_sizes_with_their_signs) {
  expect_gradient({-3, 1, 3, 2, 3, -3}, [](const auto& x) { return ops::norm(x, Norm::inf); },
                  {-0.25, 0, 0.25, 0, 0.25, -0.25});
}

TEST(GradientAtTies, of_a_max_over_one_dim_is_shared_within_each_line) {
  for (const Placement placement : {Placement(Replicate()), Placement(Shard(0)),
                                    Placement(Shard(1)), Placement(Cyclic(1, 1))}) {
    const Target target(Placements{placement});
    const Doubles elements{4, 1, 4, 4, 0, 9, 9, 2};
    const Doubles expected{2, 0, 2, 2, 0, 6, 6, 0};
    const auto trace = "x is " + to_string(placement);
    SCOPED_TRACE(trace);
    Tape tape;
    const auto x = tape.watch(listed<Matrix>(line(), target, {2, 4}, elements));
    const auto dy = listed<Vector>(line(), Replicate(), {2}, {6, 12});
    tape.backward(ops::max(x, 1), dy);
    expect_elements(x.grad(), ElementsAreArray(expected));
    tape.zero_grad();
    const auto kept = listed<Matrix>(line(), Replicate(), {2, 1}, {6, 12});
    tape.backward(ops::max(x, KeepDims{1}), kept);
    expect_elements(x.grad(), ElementsAreArray(expected));
  }
}

TEST(GradientOfProduct, without_zeros_is_the_product_of_the_others) {
  expect_gradient({1, 2, -4, 8}, [](const auto& x) { return ops::product(x); }, {-64, -32, 16, -8});
}

TEST(GradientOfProduct, with_one_zero_goes_to_it_alone) {
  expect_gradient({2, 0, 4, -8}, [](const auto& x) { return ops::product(x); }, {0, -64, 0, 0});
}

TEST(GradientOfProduct, with_two_zeros_is_0) {
  expect_gradient({0, 2, 4, 0}, [](const auto& x) { return ops::product(x); }, {0, 0, 0, 0});
}

TEST(GradientOfProduct, of_lines_with_none_one_and_two_zeros) {
  for (const Placement placement :
       {Placement(Replicate()), Placement(Shard(0)), Placement(Shard(1))}) {
    const Doubles elements{1, 2, 4, 3, 0, 2, 0, 0, 5};
    const auto trace = "x is " + to_string(placement);
    SCOPED_TRACE(trace);
    Tape tape;
    const auto x =
        tape.watch(listed<Matrix>(line(), Target(Placements{placement}), {3, 3}, elements));
    tape.backward(ops::sum(ops::product(x, 1)));
    expect_elements(x.grad(), ElementsAreArray(Doubles{8, 4, 2, 0, 6, 0, 0, 0, 0}));
  }
}

TEST(GradientOfProduct, of_complex_numbers_with_one_zero) {
  using ComplexVector = VectorOf<Complex>;
  Tape tape;
  const std::vector<Complex> elements{Complex(0, 2), Complex(0, 0), Complex(3, 0)};
  const auto x = tape.watch(listed<ComplexVector>(line(), Shard(0), {3}, elements));
  tape.backward(ops::product(x));

  // The derivative with respect to the zero is 6 i, and the gradient its conjugate.
  const auto gradient = all_elements(x.grad());
  EXPECT_EQ(gradient[0], Complex(0, 0));
  EXPECT_EQ(gradient[1], Complex(0, -6));
  EXPECT_EQ(gradient[2], Complex(0, 0));
}

TEST(GradientOfNorms, of_zeros_is_0) {
  const Doubles zeros{0, 0, 0, 0};
  for (const auto norm : {Norm::one, Norm::two, Norm::inf})
    expect_gradient(
        zeros, [norm](const auto& x) { return ops::norm(x, norm); }, zeros);
}

TEST(GradientOfNorms, over_one_dim_is_0_for_lines_of_zeros_alone) {
  for (const Placement placement :
       {Placement(Replicate()), Placement(Shard(0)), Placement(Shard(1))}) {
    const auto trace = "x is " + to_string(placement);
    SCOPED_TRACE(trace);
    Tape tape;
    const auto x =
        tape.watch(listed<Matrix>(line(), Target(Placements{placement}), {2, 2}, {0, 0, 0, -4}));
    tape.backward(ops::sum(ops::norm(x, Norm::two, 1)));
    expect_elements(x.grad(), ElementsAre(0, 0, 0, -1));
  }
}

TEST(GradientOfNorms, of_complex_zeros_is_0) {
  using ComplexVector = VectorOf<Complex>;
  const std::vector<Complex> elements{Complex(0, 0), Complex(0, 0)};
  for (const auto norm : {Norm::one, Norm::two, Norm::inf}) {
    Tape tape;
    const auto x = tape.watch(listed<ComplexVector>(line(), Shard(0), {2}, elements));
    tape.backward(ops::norm(x, norm));
    EXPECT_EQ(all_elements(x.grad()), elements) << "norm " << static_cast<int>(norm);
  }
}

TEST(GradientOfNorms, of_the_deviation_of_equal_elements_is_0) {
  expect_gradient({3, 3, 3, 3}, [](const auto& x) { return ops::std(x); }, {0, 0, 0, 0});
}

TEST(GradientAtZero, of_abs_and_sqrt_of_complex_numbers_is_0) {
  using ComplexVector = VectorOf<Complex>;
  const std::vector<Complex> elements{Complex(0, 0), Complex(0, 0)};
  Tape tape;
  const auto x = tape.watch(listed<ComplexVector>(line(), Shard(0), {2}, elements));
  tape.backward(ops::sum(ops::abs(x)));
  EXPECT_EQ(all_elements(x.grad()), elements);
  tape.zero_grad();
  tape.backward(ops::sum(ops::real(ops::sqrt(x))));
  EXPECT_EQ(all_elements(x.grad()), elements);
}

TEST(GradientOfPow, with_exponent_0_is_0_also_of_base_0) {
  const Doubles x{0, 2, -3};
  expect_gradient(x, [](const auto& v) { return ops::sum(ops::pow(v, 0)); }, {0, 0, 0});
  expect_gradient(x, [](const auto& v) { return ops::sum(ops::pow(v, 0.0)); }, {0, 0, 0});
}

TEST(GradientOfPow, of_base_0_with_exponents_1_and_2) {
  const Doubles x{0, 2, -3};
  expect_gradient(x, [](const auto& v) { return ops::sum(ops::pow(v, 1)); }, {1, 1, 1});
  expect_gradient(x, [](const auto& v) { return ops::sum(ops::pow(v, 2)); }, {0, 4, -6});
}

TEST(GradientOfPow, of_base_0_with_a_tensor_of_exponents) {
  expect_gradients({0, 0, 0, 1}, {0, 1, 2, 0},
                   [](const auto& x, const auto& y) { return ops::sum(ops::pow(x, y)); },
                   {0, 1, 0, 0}, {0, 0, 0, 0});
}

TEST(GradientOfPow, of_the_number_0_is_0) {
  expect_gradient({0, 1, 2}, [](const auto& y) { return ops::sum(ops::pow(0.0, y)); }, {0, 0, 0});
}

TEST(GradientOfPow, of_the_number_1_is_0) {
  expect_gradient({0, 1, 2}, [](const auto& y) { return ops::sum(ops::pow(1.0, y)); }, {0, 0, 0});
}

}  // namespace
}  // namespace tessera::test
