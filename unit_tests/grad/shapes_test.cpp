// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Gradients of functions that give elements another shape, order or type.
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/grad/movement.hpp>
#include <tessera/grad/reductions.hpp>
#include <tessera/grad/shapes.hpp>
#include <tessera/grad/tape.hpp>

#include "../ops/named.hpp"

namespace tessera::test {
namespace {

using grad::Tape;
using testing::Each;
using Scalar = ScalarOf<double>;
using FloatMatrix = MatrixOf<float>;
using ComplexMatrix = MatrixOf<Complex>;

/// Gives integers between -6 and 6; complex ones where elements are complex.
template <class T>
struct SomeIntegers {
  std::int64_t seed;

  template <std::size_t N>
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, N>& index) const {
    std::int64_t number = seed;
    for (std::size_t d = 0; d < N; ++d) number = number * 31 + index[d] * 7 + 3;
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(number % 13 - 6);
    else
      return T(static_cast<double>(number % 13 - 6), static_cast<double>(number % 11 - 5));
  }
};

template <class V>
DTensor<V> some_tensor(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                       std::int64_t seed) {
  const auto whole =
      from_function<V>(mesh, all_replicate, shape, SomeIntegers<typename V::value_type>{seed});
  return redistribute(whole, target);
}

double real_product(double a, double b) {
  return a * b;
}
double real_product(const Complex& a, const Complex& b) {
  return a.real() * b.real() + a.imag() * b.imag();
}

/// Returns the scalar product of two tensors. Collective.
template <class V, class W>
double scalar_product(const DTensor<V>& a, const DTensor<W>& b) {
  const auto x = all_elements(a);
  const auto y = all_elements(b);
  EXPECT_EQ(x.size(), y.size());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += real_product(x[i], y[i]);
  return sum;
}

Placements without_partial(const Placements& placements) {
  std::vector<Placement> result;
  std::vector<int> positions;
  for (std::size_t m = 0; m < placements.size(); ++m) {
    const auto& placement = placements[m];
    result.push_back(placement.is_partial() ? Placement(Replicate()) : placement);
    positions.push_back(placement.is_shard() ? placements.split_position(static_cast<int>(m)) : 0);
  }
  return Placements(result, positions);
}

/// Lists placements under which a gradient of `dims` dims may arrive.
std::vector<Target> arriving(const DeviceMesh& mesh, int dims) {
  if (mesh.ndim() == 1) return {Replicate(), Partial(), Shard(0), Balanced(dims - 1)};
  return {{Partial(), Replicate()},
          {Shard(0), Shard(0)},
          {Shard(dims - 1), Partial()},
          {Replicate(), Cyclic(0, 1)}};
}

/// Checks that the scalar products of y and `dy`, and of the tensor and its gradient, are equal.
template <class X, class Y, class G>
void expect_identity(Tape& tape, const X& x, const Y& y, const DTensor<G>& dy,
                     const std::string& name) {
  tape.backward(y, dy, {.retain = true});
  const auto left = scalar_product(y.detach(), dy);
  const auto right = scalar_product(x.detach(), x.grad());
  EXPECT_EQ(left, right) << name << ", dy is " << to_string(dy.spec());
  EXPECT_EQ(x.grad().placements(), without_partial(x.placements())) << name;
  tape.zero_grad();
}

/// Checks the gradient of function(x), where the gradient of the result arrives under its
/// placements, and under others.
template <class V, class Function>
void expect_adjoint(const DTensor<V>& tensor, const std::string& function_name,
                    const Function& function) {
  const auto& mesh = tensor.device_mesh();
  const auto name = function_name + " of " + to_string(tensor.spec());
  Tape tape;
  const auto x = tape.watch(tensor);
  const auto y = function(x);
  using Y = redistributed_view_t<typename std::remove_cvref_t<decltype(y.detach())>::view_type>;
  const auto dims = static_cast<int>(Y::rank());
  const auto whole = some_tensor<Y>(mesh, all_replicate, y.shape(), 5);

  expect_identity(tape, x, y, redistribute(whole, without_partial(y.placements())), name);
  for (const auto& target : arriving(mesh, dims)) {
    const auto dy = redistribute(whole, target);
    expect_identity(tape, x, y, dy, name);
    expect_identity(tape, x, redistribute(y, target), dy, name + ", redistributed");
  }
}

/// Returns matrices of a shape under all kinds of placements, on a line and on a grid.
template <class V>
std::vector<DTensor<V>> matrices(const Extents& shape) {
  std::vector<DTensor<V>> result;
  for (const auto& mesh : line_and_grid()) {
    std::vector<Target> targets{Replicate(), Shard(0),     Shard(1),
                                Balanced(0), Cyclic(0, 2), Partial()};
    if (mesh.ndim() == 2)
      targets = {{Shard(0), Shard(1)},     {Shard(1), Shard(0)},     {Shard(0), Shard(0)},
                 {Balanced(0), Partial()}, {Cyclic(0, 2), Shard(1)}, {Partial(), Replicate()}};
    for (const auto& target : targets) result.push_back(some_tensor<V>(mesh, target, shape, 1));
  }
  return result;
}

/// Checks the gradient of a function of matrices.
template <class V = Matrix, class Function>
void expect_adjoints(const std::string& name, const Function& function) {
  for (const auto& shape : {Extents{6, 4}, Extents{5, 7}})
    for (const auto& x : matrices<V>(shape)) expect_adjoint(x, name, function);
}

/// Runs the backward pass of y from `dy`, and returns the number of its exchanges.
template <class Y, class G>
int exchanges_of_backward(Tape& tape, const Y& y, const G& dy) {
  const Traffic traffic;
  tape.backward(y, dy);
  return traffic.exchanges();
}

/// Returns a gradient with the spec of a variable without contributions.
template <class V>
auto gradient_like(const grad::Variable<V>& y) {
  return ones<redistributed_view_t<V>>(y.device_mesh(), Target(y.spec()), y.shape());
}

TEST(GradShapes, permute_and_transpose_are_undone) {
  expect_adjoints("permute", [](const auto& x) { return permute(x, {-1, 0}); });
  expect_adjoints("transpose", [](const auto& x) { return transpose(x); });
  expect_adjoints<LeftMatrix>("transpose", [](const auto& x) { return transpose(x, 0, 1); });
}

TEST(GradShapes, permute_of_three_dims_takes_the_inverse_order) {
  using Cube = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;
  for (const Target& target : {Target(Shard(0)), Target(Balanced(1)), Target(Cyclic(2, 1))})
    expect_adjoint(some_tensor<Cube>(line(), target, {3, 4, 5}, 2), "permute", [](const auto& x) {
      return permute(x, {2, 0, 1});
    });
}

TEST(GradShapes, slice_puts_the_gradient_among_zeros) {
  expect_adjoints("slice", [](const auto& x) { return slice(x, {1, 4}, tessera::all); });
  expect_adjoints("slice", [](const auto& x) { return slice(x, Range{-4, -1}, {1, 3}); });
  expect_adjoints<LeftMatrix>("slice", [](const auto& x) { return slice(x, {0, 1}, {2, 4}); });
}

TEST(GradShapes, slice_drops_dims) {
  for (const Target& target : {Target(Replicate()), Target(Shard(1)), Target(Partial())}) {
    Tape tape;
    const auto x = tape.watch(some_tensor<Matrix>(line(), target, {3, 4}, 1));
    const auto dy = listed<Vector>(line(), Replicate(), {2}, {5, 7});
    tape.backward(slice(x, -1, {1, 3}), dy);
    expect_elements(x.grad(), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 7, 0));
  }
}

TEST(GradShapes, slice_of_one_element) {
  Tape tape;
  const auto x = tape.watch(some_tensor<Matrix>(line(), Replicate(), {2, 2}, 1));
  const auto y = slice(x, 1, 0);
  tape.backward(ops::multiply(redistribute(y), 3));
  expect_elements(x.grad(), ElementsAre(0, 0, 3, 0));
}

TEST(GradShapes, slices_of_one_variable_add_up) {
  for (const Target& target : {Target(Replicate()), Target(Shard(0)), Target(Cyclic(1, 1))}) {
    Tape tape;
    const auto x = tape.watch(some_tensor<Matrix>(line(), target, {2, 4}, 1));
    const auto y = ops::sum(slice(x, tessera::all, {0, 3})) +
                   ops::multiply(ops::sum(slice(x, tessera::all, {2, 4})), 10);
    tape.backward(redistribute(y));
    expect_elements(x.grad(), ElementsAre(1, 1, 11, 10, 1, 1, 11, 10));
  }
}

TEST(GradShapes, reshape_gives_the_old_shape) {
  expect_adjoints("reshape", [](const auto& x) { return reshape(x, {-1}); });
  expect_adjoints("reshape", [](const auto& x) { return reshape(x, {x.extent(1), x.extent(0)}); });
  expect_adjoints<LeftMatrix>("reshape", [](const auto& x) {
    return reshape(x, {1, x.extent(0), -1});
  });
}

TEST(GradShapes, reshape_of_a_number) {
  Tape tape;
  const auto x = tape.watch(full<Scalar>(line(), Replicate(), {}, 3.0));
  const auto dy = listed<Matrix>(line(), Replicate(), {1, 1}, {4});
  tape.backward(reshape(x, {1, 1}), dy);
  expect_elements(x.grad(), ElementsAre(4));
}

TEST(GradShapes, roll_goes_back) {
  for (const std::int64_t shift : {std::int64_t{2}, std::int64_t{-9}})
    for (const int dim : {0, -1})
      expect_adjoints("roll", [&](const auto& x) { return roll(x, shift, dim); });
}

TEST(GradShapes, roll_goes_back_from_any_distance) {
  expect_adjoint(some_tensor<Matrix>(line(), Shard(0), {7, 2}, 1), "roll", [](const auto& x) {
    return roll(x, std::numeric_limits<std::int64_t>::min(), 0);
  });
}

TEST(GradShapes, concatenate_deals_out_the_gradient) {
  for (const int dim : {0, -1})
    expect_adjoints("concatenate", [&](const auto& x) {
      return concatenate(std::array{x, ops::multiply(x, 2), x}, dim);
    });
  expect_adjoints<LeftMatrix>("concatenate", [](const auto& x) {
    const auto mesh_dims = static_cast<std::size_t>(x.device_mesh().ndim());
    const Target target(Placements(std::vector<Placement>(mesh_dims, Shard(1))));
    return concatenate(std::vector{x, x}, 0, target);
  });
}

TEST(GradShapes, concatenate_gives_each_operand_its_part) {
  Tape tape;
  const auto a = tape.watch(some_tensor<Matrix>(line(), Shard(0), {3, 2}, 1));
  const auto b = tape.watch(some_tensor<Matrix>(line(), Replicate(), {0, 2}, 1));
  const auto c = tape.watch(some_tensor<Matrix>(line(), Shard(1), {2, 2}, 1));
  const auto y = concatenate(std::vector{a, b, c}, 0);
  EXPECT_LE(exchanges_of_backward(tape, y, iota<Matrix>(line(), Shard(0), {5, 2})), one());
  expect_elements(a.grad(), ElementsAre(0, 1, 2, 3, 4, 5));
  expect_elements(b.grad(), IsEmpty());
  expect_elements(c.grad(), ElementsAre(6, 7, 8, 9));
  EXPECT_EQ(c.grad().placements(), Placements{Shard(1)});
}

TEST(GradShapes, concatenate_names_its_mistakes) {
  Tape tape, other;
  const auto tensor = some_tensor<Matrix>(line(), Shard(0), {3, 2}, 1);
  const auto a = tape.watch(tensor), b = other.watch(tensor);
  EXPECT_EQ(invalid_argument_of([] { concatenate(std::vector<grad::Variable<Matrix>>(), 0); }),
            "concatenate: expected at least 1 tensor, got none");
  EXPECT_THAT(invalid_argument_of([&] {
                concatenate(std::vector{a, b}, 0);
              }),
              HasSubstr("one tape"));
}

TEST(GradShapes, lists_of_tensors_are_concatenated_as_before) {
  const auto tensor = some_tensor<Matrix>(line(), Shard(0), {3, 2}, 1);
  const auto y = concatenate(std::array{tensor, tensor}, 1);
  static_assert(std::is_same_v<decltype(y), const DTensor<Matrix>>);
  EXPECT_EQ(y.shape(), (Extents{3, 4}));
}

TEST(GradShapes, conversions_are_undone) {
  expect_adjoints("to<View>", [](const auto& x) { return to<LeftMatrix>(x); });
  expect_adjoints("to<double>", [](const auto& x) { return to<double>(x); });
  Tape tape;
  const auto x = tape.watch(some_tensor<Matrix>(line(), Shard(0), {3, 2}, 1));
  const auto y = to<float>(x);
  static_assert(std::is_same_v<decltype(y), const grad::Variable<converted_view_t<Matrix, float>>>);
  EXPECT_EQ(exchanges_of_backward(tape, y, ones<FloatMatrix>(line(), Shard(0), {3, 2})), 0);
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(x.grad())>, DTensor<Matrix::const_type>>);
  expect_elements(x.grad(), Each(1));
}

TEST(GradShapes, real_numbers_that_become_complex_have_a_real_gradient) {
  Tape tape;
  const auto x = tape.watch(some_tensor<Matrix>(line(), Shard(0), {2, 2}, 1));
  const auto dy = full<ComplexMatrix>(line(), Shard(0), {2, 2}, Complex(3, 4));
  tape.backward(to<Complex>(x), dy);
  expect_elements(x.grad(), Each(3));
}

TEST(GradShapes, copies_and_sums_of_contributions_pass_the_gradient_on) {
  expect_adjoints("clone", [](const auto& x) { return clone(x); });
  expect_adjoints("reduce_partial", [](const auto& x) { return reduce_partial(x); });
}

TEST(GradShapes, of_complex_numbers) {
  const auto function = [](const auto& x) {
    const auto part = slice(transpose(roll(x, 2, 0)), {1, 3}, {0, 4});
    return concatenate(std::vector{reshape(part, {8}), reshape(part, {8})}, 0);
  };
  for (const Target& target : {Target(Replicate()), Target(Shard(0)), Target(Partial())})
    expect_adjoint(some_tensor<ComplexMatrix>(line(), target, {6, 4}, 1), "complex", function);
}

TEST(GradShapes, of_functions_one_after_another) {
  expect_adjoints("slice of transpose of roll", [](const auto& x) {
    return slice(transpose(roll(x, 2, 0)), {1, 3}, {0, 4});
  });
  expect_adjoints("transpose of slice of transpose", [](const auto& x) {
    return transpose(slice(transpose(x), {1, 4}, {0, 2}));
  });
  expect_adjoints("to of reshape of clone", [](const auto& x) {
    return to<LeftMatrix>(reshape(clone(x), {x.extent(1), x.extent(0)}));
  });
}

TEST(GradShapes, of_views_that_do_not_own_their_memory) {
  for (const Target& target : {Target(Replicate()), Target(Shard(0)), Target(Cyclic(1, 1))}) {
    const auto weights = some_tensor<Matrix>(line(), target, {6, 4}, 3);
    const auto x = some_tensor<Matrix>(line(), target, {6, 4}, 1);
    expect_adjoint(x, "multiply",
                   [&](const auto& v) { return ops::multiply(transpose(v), transpose(weights)); });
    expect_adjoint(x, "sum", [](const auto& v) { return ops::sum(transpose(v), 0); });
    expect_adjoint(x, "sum of a slice", [](const auto& v) {
      return ops::sum(slice(transpose(v), {1, 3}, {2, 6}), 1);
    });
    expect_adjoint(x, "redistribute",
                   [](const auto& v) { return grad::redistribute(transpose(v)); });
  }
}

TEST(GradShapes, squares_of_transposed_and_sliced_variables) {
  for (const bool checks : {false, true}) {
    Tape tape({.check_saved = checks});
    const auto x = tape.watch(iota<Matrix>(line(), Shard(0), {4, 3}));
    const auto y = ops::sum(ops::square(transpose(x))) +
                   ops::multiply(ops::sum(ops::square(slice(x, {1, 3}, tessera::all))), 5);
    tape.backward(redistribute(y));
    expect_elements(x.grad(), ElementsAre(0, 2, 4, 36, 48, 60, 72, 84, 96, 18, 20, 22));
  }
}

TEST(GradShapes, to_local_of_permuted_and_sliced_variables) {
  Tape tape;
  const auto x = tape.watch(iota<Matrix>(line(), Shard(0), {4, 3}));
  const auto turned = transpose(x);
  const auto rows = slice(x, {1, 4}, {0, 2});
  const auto loss = ops::sum(grad::to_local(turned)) + ops::sum(grad::to_local(rows));
  const Traffic traffic;
  tape.backward(loss);
  EXPECT_EQ(traffic.exchanges(), 0);
  expect_elements(x.grad(), ElementsAre(1, 1, 1, 2, 2, 1, 2, 2, 1, 2, 2, 1));
}

TEST(GradShapes, nothing_travels_where_the_gradient_is_placed_as_the_result) {
  const auto expect_local = [](const std::string& name, const Target& target,
                               const auto& function) {
    Tape tape;
    const auto x = tape.watch(some_tensor<Matrix>(line(), target, {8, 4}, 1));
    const auto y = function(x);
    EXPECT_EQ(exchanges_of_backward(tape, y, gradient_like(y)), 0) << name;
  };
  for (const Target& target : {Target(Shard(0)), Target(Cyclic(0, 2)), Target(Replicate())}) {
    expect_local("transpose", target, [](const auto& x) { return transpose(x); });
    expect_local("slice", target, [](const auto& x) { return slice(x, {1, 7}, {1, 3}); });
    expect_local("roll", target, [](const auto& x) { return roll(x, 1, 1); });
    expect_local("concatenate", target, [](const auto& x) {
      return concatenate(std::vector{x, x}, 1);
    });
    expect_local("to", target, [](const auto& x) { return to<float>(x); });
    expect_local("clone", target, [](const auto& x) { return clone(x); });
    expect_local("reduce_partial", target, [](const auto& x) { return reduce_partial(x); });
  }
  expect_local("reshape", Shard(0), [](const auto& x) { return reshape(x, {32}); });
  expect_local("reduce_partial", Partial(), [](const auto& x) { return reduce_partial(x); });
}

TEST(GradShapes, a_roll_along_a_sharded_dim_takes_one_exchange_back) {
  Tape tape;
  const auto x = tape.watch(some_tensor<Matrix>(line(), Shard(0), {8, 4}, 1));
  const auto y = roll(x, 1, 0);
  EXPECT_EQ(exchanges_of_backward(tape, y, gradient_like(y)), one());
}

TEST(GradShapes, of_nothing) {
  for (const Target& target : {Target(Shard(0)), Target(Shard(1)), Target(Replicate())}) {
    Tape tape;
    const auto x = tape.watch(zeros<Matrix>(line(), target, {0, 4}));
    const auto y = concatenate(std::vector{x, roll(x, 3, 0)}, 1);
    const auto z = reshape(slice(transpose(y), {1, 3}, tessera::all), {0, 5});
    tape.backward(ops::sum(z));
    EXPECT_EQ(x.grad().shape(), (Extents{0, 4}));
  }
}

TEST(GradShapes, nothing_is_recorded_within_a_scope) {
  Tape tape;
  const auto x = tape.watch(some_tensor<Matrix>(line(), Shard(0), {4, 2}, 1));
  const grad::NoRecordScope plain;
  const auto y = concatenate(std::vector{transpose(x), transpose(x)}, 0);
  EXPECT_EQ(y.shape(), (Extents{4, 4}));
  EXPECT_THAT(invalid_argument_of([&] { tape.backward(y, gradient_like(y)); }),
              HasSubstr("this tape has recorded"));
}

}  // namespace
}  // namespace tessera::test
