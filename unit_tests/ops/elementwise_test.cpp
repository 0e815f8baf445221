// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

namespace tessera::test {
namespace {

// --- in place, map -------------------------------------------------------------------------------

TEST(InPlace, tensors_and_numbers_change_the_memory_of_the_tensor) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 3});
  const auto r = iota<Matrix>(line(), Replicate(), {5, 3});
  const auto* const data = x.to_local().data();
  x += r;
  x -= 1;
  x *= 2;
  x /= 4;
  x += x;

  EXPECT_EQ(x.to_local().data(), data);
  const auto expected = [&](const Extents& at) { return 2 * GlobalIndex(x.shape())(at) - 1; };
  EXPECT_EQ(wrong_piece(x, expected), "");
}

TEST(InPlace, contributions_are_changed_by_what_is_linear) {
  const auto p = contributions<Vector>(ReduceOp::sum, {4});
  const auto q = contributions<Vector>(ReduceOp::sum, {4});
  const Traffic traffic;
  p += q;
  p *= 2;
  p += 1;
  EXPECT_EQ(traffic.exchanges(), 0);
  const auto values = all_elements(p);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 4.0 * triangle() * static_cast<double>(i) + 1);
  if (world_size() > 1) {
    EXPECT_THAT(message_of<PlacementMismatch>([&] { p *= q; }),
                HasSubstr("operator*: expected a result with the placements of the tensor that is "
                          "changed"));
  }
}

TEST(InPlace, operands_are_reduced_and_sliced_as_operators_do) {
  const auto x = iota<Vector>(line(), Replicate(), {4});
  const auto p = contributions<Vector>(ReduceOp::sum, {4});
  const auto rows = iota<Vector>(line(), Shard(0), {4});
  if (world_size() > 1) {
    EXPECT_THAT(message_of<PlacementMismatch>([&] { x += p; }), HasSubstr("write x = x "));
    EXPECT_THAT(message_of<PlacementMismatch>([&] { x += rows; }), HasSubstr("operator+: "));
    EXPECT_EQ(wrong_iota(x), "");
  }
  const Traffic traffic;
  rows *= p;
  EXPECT_EQ(traffic.exchanges(), one());
  const auto expected = [&](const Extents& at) {
    return static_cast<double>(triangle() * at[0] * at[0]);
  };
  EXPECT_EQ(wrong_piece(rows, expected), "");
}

TEST(InPlace, a_result_of_another_shape_is_refused) {
  const auto row = iota<Matrix>(line(), Replicate(), {1, 4});
  const auto x = iota<Matrix>(line(), Replicate(), {3, 4});
  EXPECT_THAT(message_of<PlacementMismatch>([&] { row += x; }),
              HasSubstr("expected a result with the placements of the tensor that is changed"));
  x += row;
  EXPECT_EQ(wrong_piece(x, [](const Extents& at) { return 4 * at[0] + 2 * at[1]; }), "");
}

TEST(InPlace, operands_that_overlap_the_tensor_count_as_they_were) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 8});
  const auto left = slice(x, all, {0, 7});
  const auto right = slice(x, all, {1, 8});
  left += right;
  const auto expected = [](const Extents& at) {
    const auto index = 8 * at[0] + at[1];
    return at[1] == 7 ? index : 2 * index + 1;
  };
  EXPECT_EQ(wrong_piece(x, expected), "");
  right -= left;
  EXPECT_EQ(
      wrong_piece(x,
                  [&](const Extents& at) {
                    return at[1] == 0 ? expected(at) : expected(at) - expected({at[0], at[1] - 1});
                  }),
      "");

  const auto square = iota<Matrix>(line(), Replicate(), {4, 4});
  square += transpose(square);
  EXPECT_EQ(wrong_piece(square, [](const Extents& at) { return 5 * (at[0] + at[1]); }), "");
}

struct PlusIndex {
  template <std::size_t N>
  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, N>& index, double a) const {
    double result = a;
    for (std::size_t d = 0; d != N; ++d)
      result += static_cast<double>(index[d]) * (d == 0 ? 100 : 1);
    return result;
  }
};

template <class V>
void expect_map_with_index() {
  for (const auto& mesh : line_and_grid()) {
    std::vector<Placements> all_placements{
        {Shard(0)}, {Cyclic(0, 2)}, {Shard(1)}, {HeadTail(1)}, {Replicate()}};
    if (mesh.ndim() == 2)
      all_placements = {
          {Shard(0), Cyclic(1, 2)}, {Shard(0), Shard(0)}, {Replicate(), Cyclic(0, 1)}};
    for (const auto& placements : all_placements) {
      const auto x = iota<V>(mesh, placements, {7, 5});
      const auto y = map_with_index(PlusIndex(), x);
      EXPECT_EQ(y.placements(), placements);
      EXPECT_EQ(wrong_piece(y, [](const Extents& at) { return 105 * at[0] + 2 * at[1]; }), "")
          << to_string(x.spec());
    }
  }
}

TEST(Map, gives_the_global_index_under_all_rules_and_layouts) {
  expect_map_with_index<Matrix>();
  expect_map_with_index<LeftMatrix>();
}

struct IsLarge {
  KOKKOS_FUNCTION bool operator()(double a, float b) const { return a > static_cast<double>(b); }
};

TEST(Map, takes_tensors_of_several_types_and_shapes) {
  const auto x = iota<Matrix>(line(), Shard(0), {4, 3});
  const auto limits = listed<VectorOf<float>>(line(), Replicate(), {3}, {4, 5, 6});
  const auto large = map(IsLarge(), x, limits);
  const auto numbers = map<std::int32_t>(IsLarge(), x, limits);
  static_assert(std::is_same_v<decltype(large)::view_type::value_type, bool>);
  static_assert(std::is_same_v<decltype(numbers)::view_type::value_type, std::int32_t>);
  const auto expected = [](const Extents& at) { return 3 * at[0] + at[1] > 4 + at[1] ? 1 : 0; };

  EXPECT_EQ(wrong_piece(large, expected), "");
  EXPECT_EQ(wrong_piece(numbers, expected), "");
}

struct Twice {
  KOKKOS_FUNCTION double operator()(double a) const { return 2 * a; }
};

TEST(Map, into_writes_to_a_tensor) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 4});
  const auto r = iota<LeftMatrix>(line(), Replicate(), {5, 4});
  const auto result = zeros<LeftMatrix>(line(), Shard(0), {5, 4});
  const Traffic traffic;
  map_into(result, Twice(), r);
  EXPECT_EQ(wrong_iota(result, 2), "");
  map_into(x, MultiplyAdd(), x, result, r);
  EXPECT_EQ(traffic.exchanges(), 0);
  const auto expected = [&](const Extents& at) {
    const auto index = GlobalIndex(x.shape())(at);
    return index + 2 * index * index;
  };
  EXPECT_EQ(wrong_piece(x, expected), "");
  if (world_size() > 1) {
    EXPECT_THAT(message_of<PlacementMismatch>([&] { map_into(r, Twice(), x); }),
                HasSubstr("map_into: "));
  }
}

TEST(Map, into_a_tensor_that_overlaps_an_operand_reads_what_was_there_before) {
  const auto x = iota<Matrix>(line(), Replicate(), {3, 8});
  const auto before = all_elements(clone(x));
  map_into(slice(x, all, {0, 7}), Twice(), slice(x, all, {1, 8}));
  const auto values = all_elements(x);

  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], i % 8 == 7 ? before[i] : 2 * before[i + 1]);
}

TEST(Map, reduces_contributions_first) {
  const auto p = contributions<Vector>(ReduceOp::sum, {4});
  const Traffic traffic;
  const auto y = map(Twice(), p);
  EXPECT_EQ(traffic.exchanges(), one());
  const auto values = all_elements(y);

  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 2.0 * triangle() * static_cast<double>(i));
}

TEST(Elementwise, where_and_clamp_take_numbers) {
  const auto x = iota<Vector>(line(), Shard(0), {6});
  const auto chosen = all_elements(ops::where(x < 3, x, -1.0));
  const auto other = all_elements(ops::where(x < 3, 7, x));
  const auto limited = all_elements(ops::clamp(x, 1, 4.5));

  EXPECT_THAT(chosen, ElementsAre(0, 1, 2, -1, -1, -1));
  EXPECT_THAT(other, ElementsAre(7, 7, 7, 3, 4, 5));
  EXPECT_THAT(limited, ElementsAre(1, 1, 2, 3, 4, 4.5));
}

TEST(Elementwise, functions_of_real_numbers) {
  const auto x = listed<Vector>(line(), Shard(0), {3}, {-1.5, 0, 0.25});
  const auto check = [&](const auto& y, double (*function)(double)) {
    const auto values = all_elements(y);
    EXPECT_DOUBLE_EQ(values[0], function(-1.5));
    EXPECT_DOUBLE_EQ(values[1], function(0));
    EXPECT_DOUBLE_EQ(values[2], function(0.25));
  };
  check(-x, [](double a) { return -a; });
  check(ops::abs(x), [](double a) { return std::fabs(a); });
  check(ops::sign(x), [](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0; });
  check(ops::square(x), [](double a) { return a * a; });
  check(ops::exp(x), [](double a) { return std::exp(a); });
  check(ops::sin(x), [](double a) { return std::sin(a); });
  check(ops::cos(x), [](double a) { return std::cos(a); });
  check(ops::tanh(x), [](double a) { return std::tanh(a); });
  check(ops::sigmoid(x), [](double a) { return 1 / (1 + std::exp(-a)); });
  check(ops::relu(x), [](double a) { return a > 0 ? a : 0; });
  check(ops::sqrt(ops::square(x)), [](double a) { return std::fabs(a); });
  check(ops::log(ops::exp(x)), [](double a) { return a; });
  check(ops::pow(x, 3), [](double a) { return a * a * a; });
  check(2 / (x + 2), [](double a) { return 2 / (a + 2); });
  check(1 - x, [](double a) { return 1 - a; });
  check(ops::maximum(x, -1.0), [](double a) { return std::fmax(a, -1.0); });
  check(ops::minimum(x, 0.125), [](double a) { return std::fmin(a, 0.125); });
}

TEST(Elementwise, parts_of_complex_numbers) {
  const auto z = listed<VectorOf<Complex>>(line(), Shard(0), {2}, {{3, -4}, {0, 1}});
  const auto sizes = ops::abs(z);
  static_assert(std::is_same_v<decltype(sizes)::view_type::value_type, double>);
  expect_elements(sizes, ElementsAre(5, 1));
  expect_elements(ops::real(z), ElementsAre(3, 0));
  expect_elements(ops::imag(z), ElementsAre(-4, 1));
  expect_elements(ops::conj(z), ElementsAre(Complex(3, 4), Complex(0, -1)));
  expect_elements(z * Complex(0, 1), ElementsAre(Complex(4, 3), Complex(-1, 0)));
}

TEST(Elementwise, comparisons_and_logic) {
  const auto x = iota<Vector>(line(), Shard(0), {4});
  expect_elements(x < 2, ElementsAre(1, 1, 0, 0));
  expect_elements(x <= 2, ElementsAre(1, 1, 1, 0));
  expect_elements(x > 2, ElementsAre(0, 0, 0, 1));
  expect_elements(x >= 2, ElementsAre(0, 0, 1, 1));
  expect_elements(2 < x, ElementsAre(0, 0, 0, 1));
  expect_elements(ops::equal_to(x, 2), ElementsAre(0, 0, 1, 0));
  expect_elements(ops::not_equal_to(x, x), ElementsAre(0, 0, 0, 0));
  expect_elements((x < 3) && (x > 1), ElementsAre(0, 0, 1, 0));
  expect_elements((x < 1) || (x > 2), ElementsAre(1, 0, 0, 1));
  expect_elements(!(x < 1), ElementsAre(0, 1, 1, 1));
  const auto [any, all, count] = items(ops::any(x > 2), ops::all(x > 2), ops::count_nonzero(x));
  EXPECT_TRUE(any);
  EXPECT_FALSE(all);
  EXPECT_EQ(count, 3);
}

TEST(Elementwise, integers_wrap_around_and_are_divided_by_zero) {
  const auto x = listed<VectorOf<std::int8_t>>(line(), Shard(0), {4}, {100, -128, 7, 0});
  const auto zero = zeros<VectorOf<std::int8_t>>(line(), Replicate(), {4});
  expect_elements(x + x, ElementsAre(-56, 0, 14, 0));
  expect_elements(x / zero, ElementsAre(0, 0, 0, 0));
  expect_elements(x / -1, ElementsAre(-100, -128, -7, 0));
  expect_elements(ops::pow(x, 2), ElementsAre(16, 0, 49, 0));
  EXPECT_EQ(invalid_argument_of([&] { x + 200; }),
            "operator+: expected a number that elements of int8 can hold, got 200");
  EXPECT_EQ(invalid_argument_of([&] { x *= -129; }),
            "operator*: expected a number that elements of int8 can hold, got -129");
}

// --- shapes, types, layouts, meshes --------------------------------------------------------------

TEST(Broadcasting, aligns_shapes_at_the_last_dim) {
  const auto x = iota<Matrix>(line(), Shard(0), {4, 6});
  const auto row = iota<Vector>(line(), Replicate(), {6});
  const auto column = iota<Matrix>(line(), Shard(0), {4, 1});
  const auto wide = iota<Matrix>(line(), Replicate(), {1, 6});
  const auto narrow = iota<Matrix>(line(), Shard(1), {4, 6});
  const auto short_row = iota<Vector>(line(), Shard(0), {6});
  const auto number = full<ScalarOf<double>>(line(), Replicate(), {}, 3.0);
  const Traffic traffic;
  const auto with_row = x + row;
  const auto outer = column + wide;
  const auto columns = narrow + short_row;
  const auto with_number = number + x;
  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(outer.shape(), (Extents{4, 6}));
  EXPECT_EQ(columns.placements(), Placements{Shard(1)});
  EXPECT_EQ(wrong_piece(with_row, [](const Extents& at) { return 6 * at[0] + 2 * at[1]; }), "");
  EXPECT_EQ(wrong_piece(outer, [](const Extents& at) { return at[0] + at[1]; }), "");
  EXPECT_EQ(wrong_piece(columns, [](const Extents& at) { return 6 * at[0] + 2 * at[1]; }), "");
  EXPECT_EQ(wrong_piece(with_number, [](const Extents& at) { return 3 + 6 * at[0] + at[1]; }), "");
  EXPECT_EQ(invalid_argument_of([&] { x + iota<Vector>(line(), Replicate(), {4}); }),
            "operator+: expected shapes that broadcast: equal extents, or 1, from the last dim on; "
            "got (4, 6) and (4)");
}

TEST(Broadcasting, a_sharded_dim_of_extent_1_moves_or_is_refused) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(line(), Shard(0), {4, 6});
  const auto row = iota<Matrix>(line(), Shard(0), {1, 6});
  EXPECT_THAT(message_of<PlacementMismatch>([&] { x + row; }),
              HasSubstr("operator+: expected placements that fit: x is S(0), y is S(0)"));
  const RedistributionScope scope(Redistribution::any);
  const Traffic traffic;
  const auto sum = x + row;
  EXPECT_EQ(traffic.exchanges(), 1);
  EXPECT_EQ(wrong_piece(sum, [](const Extents& at) { return 6 * at[0] + 2 * at[1]; }), "");
}

TEST(ElementTypes, floating_and_complex_numbers_meet_in_the_common_type) {
  const auto f = iota<MatrixOf<float>>(line(), Shard(0), {5, 2});
  const auto d = iota<Matrix>(line(), Shard(0), {5, 2});
  const auto c = iota<MatrixOf<Kokkos::complex<float>>>(line(), Shard(0), {5, 2});
  const auto fd = f + d;
  const auto dc = d * c;
  static_assert(std::is_same_v<decltype(fd)::view_type::value_type, double>);
  static_assert(std::is_same_v<decltype(dc)::view_type::value_type, Complex>);
  static_assert(std::is_same_v<decltype(f + 2.5)::view_type::value_type, float>);
  EXPECT_EQ(wrong_iota(fd, 2), "");
  EXPECT_EQ(wrong_piece(dc,
                        [&](const Extents& at) {
                          const auto index = GlobalIndex(d.shape())(at);
                          return index * index;
                        }),
            "");
}

TEST(Layouts, all_of_them_meet) {
  const auto right = iota<Matrix>(line(), Shard(0), {6, 4});
  const auto left = iota<LeftMatrix>(line(), Shard(0), {6, 4});
  const auto first = right + left;
  const auto second = left + right;
  using First = decltype(first)::view_type;
  using Second = decltype(second)::view_type;
  static_assert(std::is_same_v<First::array_layout, Kokkos::LayoutRight>);
  static_assert(std::is_same_v<Second::array_layout, Kokkos::LayoutLeft>);
  EXPECT_EQ(wrong_iota(first, 2), "");
  EXPECT_EQ(wrong_iota(second, 2), "");

  const auto turned = transpose(iota<Matrix>(line(), Shard(1), {4, 6}));
  const auto expected = [](const Extents& at) { return 5 * at[0] + 7 * at[1]; };
  EXPECT_EQ(wrong_piece(turned + right, expected), "");
  EXPECT_EQ(wrong_piece(left + turned, expected), "");
  const auto total = item(ops::sum(turned));
  EXPECT_EQ(total, 276);

  const auto part = slice(iota<Matrix>(line(), Shard(0), {6, 9}), all, {2, 7});
  const auto sums = all_elements(ops::sum(part, 0));
  EXPECT_THAT(sums, ElementsAre(147, 153, 159, 165, 171));
}

TEST(Layouts, const_views_are_read) {
  using ConstMatrix = Kokkos::View<const double**, Kokkos::LayoutRight, TestSpace>;
  const auto x = iota<Matrix>(line(), Shard(0), {5, 3});
  const auto constant = from_local(ConstMatrix(x.to_local()), line(), x.spec(), x.shape());
  const auto sum = constant + constant;
  const auto total = item(ops::sum(constant));
  static_assert(std::is_same_v<decltype(sum)::view_type::value_type, double>);

  EXPECT_EQ(wrong_iota(sum, 2), "");
  EXPECT_EQ(total, 105);
}

TEST(Shapes, tensors_without_dims_and_without_elements) {
  const auto number = full<ScalarOf<double>>(line(), Replicate(), {}, 3.0);
  const auto [twice, sum, position] =
      items(number * 2 + number, ops::sum(number), ops::argmax(number));
  EXPECT_EQ(twice, 9);
  EXPECT_EQ(sum, 3);
  EXPECT_EQ(position, 0);

  const auto nothing = zeros<Matrix>(line(), Shard(1), {4, 0});
  const auto more = nothing + 1.0;
  const auto rows = all_elements(ops::sum(nothing, 1));
  EXPECT_EQ(more.shape(), (Extents{4, 0}));
  EXPECT_EQ(rows, std::vector<double>(4, 0));
}

TEST(Meshes, ranks_off_the_mesh_take_part_in_calls) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null()) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(mesh, Shard(0), {5, 3});
  const auto y = iota<Matrix>(mesh, Shard(1), {5, 3});
  const RedistributionScope scope(Redistribution::any);
  const auto sum = x + y;
  const auto position = ops::argmax(x);
  const auto variance = ops::var(x, 0);
  const auto user = call_operator(ScaledSum{2}, x, x);
  const auto [total, at] = items(ops::sum(x), position);
  const bool is_equal = equal(x, y);
  x += 1;

  EXPECT_EQ(wrong_iota(sum, 2), "");
  EXPECT_EQ(wrong_iota(user, 4), "");
  EXPECT_EQ(variance.shape(), Extents{3});
  EXPECT_EQ(total, is_on(mesh) ? 105 : 0);
  EXPECT_EQ(at, is_on(mesh) ? 14 : 0);
  EXPECT_EQ(is_equal, is_on(mesh));
}

TEST(Instances, work_is_ordered_on_the_instance_given_first) {
  const Kokkos::DefaultExecutionSpace exec;
  const auto x = iota<Matrix>(line(), Shard(0), {5, 3});
  const auto y = ops::add(exec, ops::multiply(exec, x, 2), x);
  const auto z = map(exec, Twice(), axpby(exec, 1, x, 1, y));
  map_into(exec, x, Twice(), x);
  const auto sum = ops::sum(exec, x);
  const auto deviation = ops::std(exec, x, 1, 0);
  const auto dot = ops::vdot(exec, x, x);
  const auto [total, square] = items(exec, sum, dot);
  exec.fence();

  EXPECT_EQ(wrong_iota(z, 8), "");
  EXPECT_EQ(total, 210);
  EXPECT_EQ(square, 4 * 1015);
  expect_elements(deviation, testing::Each(testing::DoubleEq(2 * std::sqrt(2.0 / 3))));
}

}  // namespace
}  // namespace tessera::test
