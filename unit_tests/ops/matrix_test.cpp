// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/ops/matrix.hpp>

#include "named.hpp"

namespace tessera::test {
namespace {

/// Gives an element for a number; most elements differ from 0.
template <class T>
KOKKOS_FUNCTION T element(std::int64_t number) {
  if constexpr (std::is_same_v<T, bool>)
    return number % 3 != 1;
  else if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(number + 1);
  else
    return T(static_cast<typename T::value_type>(number + 1),
             static_cast<typename T::value_type>(3 - number));
}

/// Gives the elements of a vector, a matrix or matrices by their row-major number.
template <class T>
struct Numbers {
  Kokkos::Array<std::int64_t, 3> strides{};

  explicit Numbers(const Extents& shape) {
    const auto row_major = row_major_strides(shape);
    for (std::size_t d = 0; d < shape.size(); ++d) strides[d] = row_major[d];
  }
  template <std::size_t N>
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, N>& index) const {
    std::int64_t number = 0;
    for (std::size_t d = 0; d != N; ++d) number += index[d] * strides[d];
    return element<T>(number);
  }
  T operator()(const Extents& index) const {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < index.size(); ++d) number += index[d] * strides[d];
    return element<T>(number);
  }
};

/// Returns a tensor of Numbers.
template <class V>
DTensor<V> numbers(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  return from_function<V>(mesh, target, shape, Numbers<typename V::value_type>(shape));
}

/// Names what elements_of() returns.
template <class T>
using Elements = std::vector<std::conditional_t<std::is_same_v<T, bool>, int, T>>;

/// Returns a diagonal of the matrix of Numbers, computed serially.
template <class T>
Elements<T> diagonal(const Extents& shape, std::int64_t offset) {
  const Numbers<T> number(shape);
  Elements<T> result;
  for (std::int64_t i = 0; i < shape[0]; ++i)
    for (std::int64_t j = 0; j < shape[1]; ++j)
      if (j - i == offset) result.push_back(number(Extents{i, j}));
  return result;
}

/// Returns a triangle of the last two dims of Numbers, as a function of the index.
template <class T>
auto triangle_of(const Extents& shape, std::int64_t offset, bool is_upper) {
  return [number = Numbers<T>(shape), offset, is_upper](const Extents& index) {
    const auto above = index[index.size() - 1] - index[index.size() - 2];
    return (is_upper ? above >= offset : above <= offset) ? number(index) : T(0);
  };
}

template <class V>
void expect_diagonal(const DTensor<V>& x, std::int64_t offset) {
  using T = typename V::value_type;
  const auto name = to_string(x.spec()) + " and offset " + std::to_string(offset);
  const Traffic traffic;
  const auto y = ops::diag(x, offset);
  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0) << name;
  const auto elements = all_elements(y);

  EXPECT_TRUE(elements == diagonal<T>(x.shape(), offset)) << name;
}

template <class V>
void expect_triangles(const DTensor<V>& x, std::int64_t offset) {
  using T = typename V::value_type;
  const auto name = to_string(x.spec()) + " and offset " + std::to_string(offset);
  const Traffic traffic;
  const auto lower = ops::tril(x, offset);
  const auto upper = ops::triu(x, offset);
  static_assert(std::is_same_v<decltype(lower), const DTensor<V>>);
  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0) << name;

  EXPECT_EQ(lower.spec(), x.spec()) << name;
  EXPECT_EQ(upper.spec(), x.spec()) << name;
  EXPECT_EQ(wrong_piece(lower, triangle_of<T>(x.shape(), offset, false)), "") << name;
  EXPECT_EQ(wrong_piece(upper, triangle_of<T>(x.shape(), offset, true)), "") << name;
}

/// Returns sizes of parts: 1 for the first one, the rest for the last one, and 0 between them.
std::vector<std::int64_t> uneven_sizes(std::int64_t extent) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(world_size()), 0);
  if (extent > 0) result.front() = 1;
  result.back() += extent - (extent > 0 ? 1 : 0);
  return result;
}

std::vector<Target> targets_of_line(const Extents& shape) {
  return {Shard(0),
          Shard(1),
          Balanced(0),
          Balanced(1),
          Cyclic(0, 1),
          Cyclic(1, 2),
          HeadTail(0),
          HeadTail(1),
          Sizes(0, uneven_sizes(shape[0])),
          Sizes(1, uneven_sizes(shape[1])),
          Replicate()};
}

/// Returns all pairs of placements that go together.
std::vector<Target> targets_of_grid() {
  const std::vector<Placement> all{Shard(0),    Shard(1),     Balanced(0),
                                   Balanced(1), Cyclic(0, 1), Cyclic(1, 2),
                                   HeadTail(0), HeadTail(1),  Replicate()};
  std::vector<Target> result{
      Target(std::vector<Placement>{Shard(0), Shard(0)}, std::vector<int>{1, 0})};
  for (const auto& a : all)
    for (const auto& b : all) {
      const bool share_dim = a.is_shard() && b.is_shard(a.dim());
      if (share_dim && !(detail::can_share_dim(a.rule()) && detail::can_share_dim(b.rule())))
        continue;
      result.push_back(Target(std::vector<Placement>{a, b}));
    }
  return result;
}

// --- diag ----------------------------------------------------------------------------------------

TEST(Matrix, diagonals_under_all_rules) {
  for (const std::int64_t rows : {0, 1, 4, 5, 7})
    for (const std::int64_t columns : {0, 1, 4, 5, 7}) {
      const Extents shape{rows, columns};
      for (const auto& target : targets_of_line(shape)) {
        const auto x = numbers<Matrix>(line(), target, shape);
        for (std::int64_t offset = -3; offset <= 3; ++offset) expect_diagonal(x, offset);
      }
    }
}

TEST(Matrix, diagonals_on_a_grid_under_all_pairs_of_rules) {
  if (world_size() % 2 != 0) GTEST_SKIP() << "needs 2 or 4 ranks";
  const auto mesh = line_and_grid().back();
  for (const auto& shape : {Extents{5, 5}, Extents{4, 7}, Extents{7, 3}})
    for (const auto& target : targets_of_grid()) {
      const auto x = numbers<Matrix>(mesh, target, shape);
      for (const std::int64_t offset : {-2, 0, 1}) expect_diagonal(x, offset);
    }
}

TEST(Matrix, diagonals_of_other_layouts_and_types) {
  const auto expect = [&]<class T>(std::type_identity<T>) {
    for (const auto& shape : {Extents{5, 5}, Extents{3, 7}})
      for (const Target& target :
           {Target(Shard(0)), Target(Cyclic(1, 1)), Target(HeadTail(1)), Target(Replicate())})
        for (const std::int64_t offset : {-2, 0, 1}) {
          expect_diagonal(numbers<MatrixOf<T>>(line(), target, shape), offset);
          expect_diagonal(numbers<MatrixOf<T, Kokkos::LayoutLeft>>(line(), target, shape), offset);
        }
  };
  expect(std::type_identity<double>{});
  expect(std::type_identity<float>{});
  expect(std::type_identity<std::int8_t>{});
  expect(std::type_identity<std::uint16_t>{});
  expect(std::type_identity<std::int32_t>{});
  expect(std::type_identity<bool>{});
  expect(std::type_identity<Complex>{});
  expect(std::type_identity<Kokkos::complex<float>>{});
}

TEST(Matrix, diagonals_keep_the_split_where_it_is_theirs) {
  const auto placements = [](const Target& target, const Extents& shape, std::int64_t offset = 0) {
    return ops::diag(numbers<Matrix>(line(), target, shape), offset).placements();
  };
  EXPECT_EQ(placements(Shard(0), {4, 4}), Placements{Shard(0)});
  EXPECT_EQ(placements(Shard(1), {4, 4}), Placements{Shard(0)});
  EXPECT_EQ(placements(Cyclic(1, 2), {4, 4}), (Placements{Cyclic(0, 2)}));
  EXPECT_EQ(placements(Shard(0), {4, 7}), Placements{Shard(0)});
  EXPECT_EQ(placements(Shard(1), {4, 7}), Placements{Partial()});
  EXPECT_EQ(placements(Shard(0), {7, 4}), Placements{Partial()});
  EXPECT_EQ(placements(HeadTail(1), {7, 4}), Placements{HeadTail(0)});
  EXPECT_EQ(placements(Shard(0), {4, 4}, 1), Placements{Partial()});
  EXPECT_EQ(placements(Replicate(), {4, 7}, 1), Placements{Replicate()});
  const auto flags = ops::diag(numbers<MatrixOf<bool>>(line(), Shard(1), {4, 7}));
  EXPECT_EQ(flags.placements(), Placements{Partial(ReduceOp::bor)});
}

TEST(Matrix, diagonals_of_blocks_are_partial_along_one_mesh_dim) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) GTEST_SKIP() << "needs 4 ranks";
  const auto placements = [&](const Target& target, std::int64_t offset = 0) {
    return ops::diag(numbers<Matrix>(mesh, target, {4, 4}), offset).placements();
  };
  EXPECT_EQ(placements({Shard(0), Shard(1)}), (Placements{Shard(0), Partial()}));
  EXPECT_EQ(placements({Shard(1), Shard(0)}), (Placements{Partial(), Shard(0)}));
  EXPECT_EQ(placements({Shard(0), Shard(0)}), (Placements{Shard(0), Shard(0)}));
  EXPECT_EQ(placements({Shard(1), Shard(1)}), (Placements{Shard(0), Shard(0)}));
  EXPECT_EQ(placements({Replicate(), Shard(1)}), (Placements{Replicate(), Shard(0)}));
  EXPECT_EQ(placements({Shard(0), Shard(1)}, 1), (Placements{Partial(), Partial()}));
}

TEST(Matrix, a_vector_becomes_a_diagonal) {
  for (const auto& mesh : line_and_grid())
    for (const std::int64_t size : {0, 1, 4, 7}) {
      std::vector<Target> targets{Shard(0),    Balanced(0), Cyclic(0, 2),
                                  HeadTail(0), Replicate(), Sizes(0, uneven_sizes(size))};
      if (mesh.ndim() == 2)
        targets = {{Shard(0), Shard(0)}, {Replicate(), Cyclic(0, 1)}, {Shard(0), Replicate()}};
      for (const auto& target : targets)
        for (std::int64_t offset = -3; offset <= 3; ++offset) {
          const auto x = numbers<Vector>(mesh, target, {size});
          const auto name = to_string(x.spec()) + " and offset " + std::to_string(offset);
          const Traffic traffic;
          const auto y = ops::diag(x, offset);
          EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0) << name;
          const auto full = full_tensor(y);

          const auto rows = size + std::max(offset, -offset);
          const auto right = [&](const Extents& index) {
            return index[1] - index[0] == offset ? element<double>(std::min(index[0], index[1]))
                                                 : 0;
          };
          EXPECT_EQ(wrong_view(full, {rows, rows}, right), "") << name;
        }
    }
}

TEST(Matrix, a_vector_on_the_main_diagonal_splits_the_rows) {
  const auto placements = [](const Target& target, std::int64_t offset) {
    return ops::diag(numbers<VectorOf<bool>>(line(), target, {5}), offset).placements();
  };
  EXPECT_EQ(placements(Cyclic(0, 1), 0), (Placements{Cyclic(0, 1)}));
  EXPECT_EQ(placements(Shard(0), -1), Placements{Partial(ReduceOp::bor)});
  EXPECT_EQ(placements(Replicate(), -1), Placements{Replicate()});
}

TEST(Matrix, a_diagonal_becomes_a_vector_again) {
  const auto x = numbers<VectorOf<Complex>>(line(), Balanced(0), {6});
  const auto again = all_elements(ops::diag(ops::diag(x, -2), -2));
  const auto flags = numbers<VectorOf<bool>>(line(), Shard(0), {6});
  const auto flags_again = all_elements(ops::diag(ops::diag(flags, 1), 1));
  const auto elements = all_elements(x);
  const auto flag_elements = all_elements(flags);

  EXPECT_TRUE(again == elements);
  EXPECT_EQ(flags_again, flag_elements);
}

TEST(Matrix, contributions_pass_through_diagonals) {
  const Extents shape{5, 4};
  const auto sum = contributions<Matrix>(ReduceOp::sum, shape);
  const auto most = contributions<Matrix>(ReduceOp::max, shape);
  const auto wrapping = contributions<MatrixOf<std::int32_t>>(ReduceOp::sum, shape);
  const auto average = contributions<Vector>(ReduceOp::avg, {3});
  const Traffic traffic;
  const auto of_sum = ops::diag(sum, -1), of_most = ops::diag(most, -1);
  const auto of_wrapping = ops::diag(wrapping, -1);
  const auto of_average = ops::diag(average, 1);
  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(of_sum.placements(), Placements{Partial()});
  EXPECT_EQ(of_most.placements(), Placements{Partial(ReduceOp::max)});
  EXPECT_EQ(of_wrapping.placements(), Placements{Partial()});
  EXPECT_EQ(of_average.placements(), Placements{Partial(ReduceOp::avg)});

  const auto sums = all_elements(of_sum), largest = all_elements(of_most);
  const auto integers = all_elements(of_wrapping);
  const auto averages = all_elements(of_average);
  for (std::size_t i = 0; i < 4; ++i) {
    const int index = static_cast<int>(i * 5 + 4);
    EXPECT_EQ(sums[i], triangle() * index);
    EXPECT_EQ(largest[i], world_size() * index);
    EXPECT_EQ(integers[i], triangle() * index);
  }
  ASSERT_EQ(averages.size(), 16);
  EXPECT_DOUBLE_EQ(averages[6], (world_size() + 1) / 2.0);
  EXPECT_EQ(averages[5], 0);
}

TEST(Matrix, what_is_not_linear_is_reduced_before_zeros_are_added) {
  const auto least = contributions<Vector>(ReduceOp::min, {4});
  const Traffic traffic;
  const auto y = ops::diag(least, 1);
  EXPECT_EQ(traffic.exchanges(), one());
  const auto elements = all_elements(y);

  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(elements[i * 5 + i + 1], static_cast<double>(i));
  const RedistributionScope scope(Redistribution::none);
  const auto refused = message_of<PlacementMismatch>([&] { ops::diag(least, 1); });
  if (world_size() > 1) {
    EXPECT_THAT(refused, HasSubstr("diag: expected placements that fit"));
  }
}

TEST(Matrix, contributions_of_blocks_add_up) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) GTEST_SKIP() << "needs 4 ranks";
  const Extents shape{6, 6};
  const auto rows = numbers<Matrix>(mesh, {Replicate(), Shard(0)}, shape);
  for (const auto op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::max}) {
    const auto x = from_local(rows.to_local(), mesh, {Partial(op), Shard(0)}, shape);
    for (const std::int64_t offset : {-2, 0, 1}) {
      const auto elements = all_elements(ops::diag(x, offset));
      auto wanted = diagonal<double>(shape, offset);
      for (auto& value : wanted) value *= op == ReduceOp::sum ? 2 : 1;
      EXPECT_EQ(elements, wanted) << to_string(x.spec()) << " and offset " << offset;
    }
  }
}

// --- trace ---------------------------------------------------------------------------------------

TEST(Matrix, trace_sums_up_the_diagonal) {
  for (const auto& mesh : line_and_grid())
    for (const auto& shape : {Extents{5, 5}, Extents{3, 7}, Extents{7, 3}, Extents{0, 4}})
      for (const auto& target : mesh.ndim() == 2 ? targets_of_grid() : targets_of_line(shape)) {
        const auto x = numbers<Matrix>(mesh, target, shape);
        const Traffic traffic;
        const auto trace = ops::trace(x);
        EXPECT_EQ(traffic.exchanges(), 0) << to_string(x.spec());
        const auto value = item(trace);

        double wanted = 0;
        for (const auto part : diagonal<double>(shape, 0)) wanted += part;
        EXPECT_EQ(value, wanted) << to_string(x.spec());
      }
}

TEST(Matrix, trace_of_integers_complex_numbers_and_bool) {
  const Extents shape{4, 7};
  for (const Target& target : {Target(Shard(0)), Target(Shard(1)), Target(Replicate())}) {
    const auto integers = numbers<MatrixOf<std::int32_t>>(line(), target, shape);
    const auto complexes = numbers<MatrixOf<Complex, Kokkos::LayoutLeft>>(line(), target, shape);
    const auto flags = numbers<MatrixOf<bool>>(line(), target, shape);
    const auto sum = item(ops::trace(integers));
    const auto complex_sum = item(ops::trace(complexes));
    const auto count = item(ops::trace(flags));
    static_assert(std::is_same_v<decltype(sum), const std::int64_t>);

    EXPECT_EQ(sum, 1 + 9 + 17 + 25);
    EXPECT_EQ(complex_sum, Complex(52, 3 * 4 - 48));
    EXPECT_EQ(count, 3);  // of 0, 8, 16 and 24, 16 leaves 1
  }
}

// --- tril, triu ----------------------------------------------------------------------------------

TEST(Matrix, triangles_under_all_rules_and_layouts) {
  for (const std::int64_t rows : {0, 1, 4, 5, 7})
    for (const std::int64_t columns : {0, 1, 4, 5, 7})
      for (const auto& target : targets_of_line({rows, columns})) {
        const auto x = numbers<Matrix>(line(), target, {rows, columns});
        const auto y = numbers<LeftMatrix>(line(), target, {rows, columns});
        for (std::int64_t offset = -3; offset <= 3; ++offset) {
          expect_triangles(x, offset);
          expect_triangles(y, offset);
        }
      }
}

TEST(Matrix, triangles_on_a_grid_under_all_pairs_of_rules) {
  if (world_size() % 2 != 0) GTEST_SKIP() << "needs 2 or 4 ranks";
  const auto mesh = line_and_grid().back();
  for (const auto& shape : {Extents{5, 5}, Extents{4, 7}, Extents{7, 3}})
    for (const auto& target : targets_of_grid())
      for (const std::int64_t offset : {-2, 0, 1}) {
        expect_triangles(numbers<Matrix>(mesh, target, shape), offset);
        expect_triangles(numbers<LeftMatrix>(mesh, target, shape), offset);
      }
}

TEST(Matrix, triangles_of_the_last_two_dims) {
  using Cube = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;
  using LeftCube = Kokkos::View<double***, Kokkos::LayoutLeft, TestSpace>;
  for (const auto& shape : {Extents{3, 5, 4}, Extents{1, 2, 6}})
    for (const Target& target : {Target(Shard(0)), Target(Cyclic(1, 1)), Target(Balanced(2)),
                                 Target(HeadTail(2)), Target(Replicate())})
      for (const std::int64_t offset : {-1, 0, 2}) {
        expect_triangles(numbers<Cube>(line(), target, shape), offset);
        expect_triangles(numbers<LeftCube>(line(), target, shape), offset);
      }
}

TEST(Matrix, triangles_of_all_types) {
  const auto expect = [&]<class T>(std::type_identity<T>) {
    for (const Target& target : {Target(Shard(0)), Target(Cyclic(1, 1))}) {
      expect_triangles(numbers<MatrixOf<T>>(line(), target, {5, 6}), 1);
      expect_triangles(numbers<MatrixOf<T, Kokkos::LayoutLeft>>(line(), target, {5, 6}), -1);
    }
  };
  expect(std::type_identity<float>{});
  expect(std::type_identity<std::int8_t>{});
  expect(std::type_identity<std::uint16_t>{});
  expect(std::type_identity<std::int32_t>{});
  expect(std::type_identity<std::int64_t>{});
  expect(std::type_identity<bool>{});
  expect(std::type_identity<Complex>{});
  expect(std::type_identity<Kokkos::complex<float>>{});
}

TEST(Matrix, triangles_of_long_rows_are_computed_in_parts) {
  for (const Target& target : {Target(Shard(0)), Target(Cyclic(1, 64)), Target(Replicate())}) {
    expect_triangles(numbers<Matrix>(line(), target, {2, 40000}), 20000);
    expect_triangles(numbers<LeftMatrix>(line(), target, {40000, 2}), -20000);
  }
}

TEST(Matrix, triangles_of_extreme_offsets_have_all_elements_or_none) {
  const auto x = numbers<Matrix>(line(), Shard(0), {4, 4});
  for (const auto offset :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    expect_triangles(x, offset);
    const auto diagonal = ops::diag(x, offset);
    EXPECT_EQ(diagonal.shape(), Extents{0});
  }
}

TEST(Matrix, contributions_pass_through_triangles_where_they_are_linear) {
  const Extents shape{4, 5};
  const auto sum = contributions<Matrix>(ReduceOp::sum, shape);
  const auto integers = contributions<MatrixOf<std::int32_t>>(ReduceOp::sum, shape);
  const auto most = contributions<Matrix>(ReduceOp::max, shape);
  const Traffic linear;
  const auto lower = ops::tril(sum);
  const auto upper = ops::triu(integers, 1);
  EXPECT_EQ(linear.exchanges(), 0);
  EXPECT_EQ(lower.placements(), Placements{Partial()});
  EXPECT_EQ(upper.placements(), Placements{Partial()});
  const Traffic reduced;
  const auto of_most = ops::triu(most);
  EXPECT_EQ(reduced.exchanges(), one());

  const auto lowers = all_elements(lower), mosts = all_elements(of_most);
  const auto uppers = all_elements(upper);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 5; ++j) {
      const int index = i * 5 + j;
      const auto at = static_cast<std::size_t>(index);
      EXPECT_EQ(lowers[at], j <= i ? triangle() * index : 0);
      EXPECT_EQ(uppers[at], j > i ? triangle() * index : 0);
      EXPECT_EQ(mosts[at], j >= i ? world_size() * index : 0);
    }
}

TEST(Matrix, triangles_take_the_rules_of_a_program) {
  register_sharding(ops::tril, [](const OperatorCall&) {
    return std::vector<OperatorRule>{{Replicate(), {Replicate()}}};
  });
  const auto x = iota<Matrix>(line(), Shard(1), {4, 4});
  const RedistributionScope any(Redistribution::any);
  const auto y = ops::tril(x);
  unregister_sharding(ops::tril);

  EXPECT_EQ(y.placements(), Placements{Replicate()});
}

// --- outer ---------------------------------------------------------------------------------------

/// Checks outer() of two vectors of Numbers.
template <class V, class W>
void expect_outer(const DTensor<V>& x, const DTensor<W>& y) {
  using T = detail::outer_element_t<V, W>;
  const auto name = to_string(x.spec()) + " and " + to_string(y.spec());
  const Traffic traffic;
  const auto product = ops::outer(x, y);
  static_assert(std::is_same_v<typename decltype(product)::view_type::value_type, T>);
  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0) << name;

  const Extents shape{x.shape()[0], y.shape()[0]};
  EXPECT_EQ(product.shape(), shape) << name;
  const auto right = [](const Extents& index) {
    return static_cast<T>(T(element<typename V::value_type>(index[0])) *
                          T(element<typename W::value_type>(index[1])));
  };
  EXPECT_EQ(wrong_piece(product, right), "") << name;
}

TEST(Matrix, outer_products_under_all_rules) {
  for (const std::int64_t rows : {0, 1, 4, 7})
    for (const std::int64_t columns : {0, 1, 5}) {
      const auto expect = [&](const Target& left, const Target& right) {
        expect_outer(numbers<Vector>(line(), left, {rows}),
                     numbers<Vector>(line(), right, {columns}));
      };
      for (const Target& target : {Target(Shard(0)), Target(Balanced(0)), Target(Cyclic(0, 2)),
                                   Target(HeadTail(0)), Target(Replicate())}) {
        expect(target, Replicate());
        expect(Replicate(), target);
      }
      expect(Sizes(0, uneven_sizes(rows)), Replicate());
      expect(Replicate(), Sizes(0, uneven_sizes(columns)));
    }
}

TEST(Matrix, outer_products_of_types_that_multiply) {
  using LeftVector = Kokkos::View<float*, Kokkos::LayoutLeft, TestSpace>;
  const auto expect = [&]<class V, class W>(std::type_identity<V>, std::type_identity<W>) {
    expect_outer(numbers<V>(line(), Shard(0), {5}), numbers<W>(line(), Replicate(), {4}));
    expect_outer(numbers<V>(line(), Replicate(), {5}), numbers<W>(line(), Cyclic(0, 1), {4}));
  };
  expect(std::type_identity<VectorOf<std::int32_t>>{},
         std::type_identity<VectorOf<std::int32_t>>{});
  expect(std::type_identity<VectorOf<Complex>>{}, std::type_identity<VectorOf<Complex>>{});
  expect(std::type_identity<VectorOf<bool>>{}, std::type_identity<VectorOf<bool>>{});
  expect(std::type_identity<LeftVector>{}, std::type_identity<Vector>{});
  expect(std::type_identity<Vector>{}, std::type_identity<VectorOf<Complex>>{});
  using Result = decltype(ops::outer(DTensor<LeftVector>(), DTensor<Vector>()))::view_type;
  static_assert(std::is_same_v<Result::array_layout, Kokkos::LayoutLeft>);
}

TEST(Matrix, outer_products_split_rows_as_one_vector_and_columns_as_the_other) {
  EXPECT_EQ(ops::outer(numbers<Vector>(line(), Cyclic(0, 1), {5}),
                       numbers<Vector>(line(), Replicate(), {5}))
                .placements(),
            (Placements{Cyclic(0, 1)}));
  EXPECT_EQ(
      ops::outer(numbers<Vector>(line(), Replicate(), {5}), numbers<Vector>(line(), Shard(0), {5}))
          .placements(),
      Placements{Shard(1)});
  EXPECT_EQ(ops::outer(numbers<Vector>(line(), Replicate(), {5}),
                       numbers<Vector>(line(), Replicate(), {5}))
                .placements(),
            Placements{Replicate()});
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) return;
  const auto x = numbers<Vector>(mesh, {Shard(0), Replicate()}, {5});
  const auto y = numbers<Vector>(mesh, {Replicate(), Balanced(0)}, {7});
  expect_outer(x, y);
  EXPECT_EQ(ops::outer(x, y).placements(), (Placements{Shard(0), Balanced(1)}));
  EXPECT_EQ(ops::outer(y, x).placements(), (Placements{Shard(1), Balanced(0)}));
}

TEST(Matrix, outer_products_reduce_contributions_first) {
  const auto x = contributions<Vector>(ReduceOp::sum, {4});
  const auto y = iota<Vector>(line(), Replicate(), {3});
  const Traffic traffic;
  const auto product = ops::outer(x, y);
  EXPECT_EQ(traffic.exchanges(), one());
  const auto elements = all_elements(product);

  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_EQ(elements[static_cast<std::size_t>(i * 3 + j)], triangle() * i * j);
}

TEST(Matrix, outer_products_of_vectors_that_one_mesh_dim_splits_are_refused) {
  const auto x = numbers<Vector>(line(), Shard(0), {4}), y = numbers<Vector>(line(), Shard(0), {6});
  const auto refused = message_of<PlacementMismatch>([&] { ops::outer(x, y); });
  if (world_size() > 1) {
    EXPECT_THAT(refused, HasSubstr("outer: expected placements that fit: x is S(0), y is S(0) on"));
  }

  const RedistributionScope any(Redistribution::any);
  const auto elements = all_elements(ops::outer(x, y));
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 6; ++j)
      EXPECT_EQ(elements[static_cast<std::size_t>(i * 6 + j)],
                element<double>(i) * element<double>(j));
}

// --- all of them ---------------------------------------------------------------------------------

TEST(Matrix, views_of_this_rank) {
  const auto view = iota_view<Matrix>({4, 6});
  const auto part = Kokkos::subview(view, Kokkos::ALL, std::pair<int, int>(1, 4));
  const Kokkos::View<const double**, Kokkos::LayoutRight, TestSpace> readable = view;
  const auto row = Kokkos::subview(view, 1, std::pair<int, int>(0, 2));
  const auto column = Kokkos::subview(view, std::pair<int, int>(0, 3), 2);
  static_assert(std::is_same_v<decltype(ops::tril(view)), Matrix>);
  static_assert(std::is_same_v<decltype(ops::triu(LeftMatrix())), LeftMatrix>);
  static_assert(
      std::is_same_v<decltype(ops::diag(LeftMatrix()))::array_layout, Kokkos::LayoutLeft>);

  EXPECT_THAT(elements_of(ops::diag(view, 1)), ElementsAre(1, 8, 15, 22));
  EXPECT_THAT(elements_of(ops::diag(part)), ElementsAre(1, 8, 15));
  EXPECT_THAT(elements_of(ops::diag(readable, -2)), ElementsAre(12, 19));
  EXPECT_THAT(elements_of(ops::tril(part, -1)),
              ElementsAre(0, 0, 0, 7, 0, 0, 13, 14, 0, 19, 20, 21));
  EXPECT_THAT(elements_of(ops::triu(readable, 4)),
              ElementsAre(0, 0, 0, 0, 4, 5, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(elements_of(ops::diag(column, -1)),
              ElementsAre(0, 0, 0, 0, 2, 0, 0, 0, 0, 8, 0, 0, 0, 0, 14, 0));
  EXPECT_THAT(elements_of(ops::outer(column, row)), ElementsAre(12, 14, 48, 56, 84, 98));
  EXPECT_THAT(elements_of(ops::trace(view)), ElementsAre(42));
}

TEST(Matrix, strided_pieces_of_tensors) {
  using Strided = Kokkos::View<double**, Kokkos::LayoutStride, TestSpace>;
  const auto view = iota_view<Matrix>({4, 6});
  const Strided part = Kokkos::subview(view, Kokkos::ALL, std::pair<int, int>(1, 4));
  const auto x = from_local(part, line(), Replicate(), {4, 3});

  expect_elements(ops::diag(x, -1), ElementsAre(7, 14, 21));
  expect_elements(ops::tril(x, -1), ElementsAre(0, 0, 0, 7, 0, 0, 13, 14, 0, 19, 20, 21));
}

TEST(Matrix, work_is_ordered_on_an_instance) {
  const Kokkos::DefaultExecutionSpace exec;
  const auto x = iota<Matrix>(line(), Shard(0), {3, 3});
  const auto v = iota<Vector>(line(), Replicate(), {2});

  expect_elements(ops::diag(exec, x), ElementsAre(0, 4, 8));
  expect_elements(ops::diag(exec, x, 1), ElementsAre(1, 5));
  expect_elements(ops::tril(exec, x), ElementsAre(0, 0, 0, 3, 4, 0, 6, 7, 8));
  expect_elements(ops::triu(exec, x, 1), ElementsAre(0, 1, 2, 0, 0, 5, 0, 0, 0));
  expect_elements(ops::outer(exec, v, v), ElementsAre(0, 0, 0, 1));
  const auto trace = item(ops::trace(exec, x));
  EXPECT_EQ(trace, 12);
}

TEST(Matrix, errors_name_the_operator) {
  const auto x = iota<Vector>(line(), Shard(0), {3});
  EXPECT_THAT(invalid_argument_of([&] { ops::diag(x, std::int64_t{1} << 40); }),
              HasSubstr("diag: expected a matrix of at most 3037000499 rows, got 3 elements and "
                        "offset 1099511627776"));
  EXPECT_THAT(invalid_argument_of([&] { ops::diag(x, std::numeric_limits<std::int64_t>::min()); }),
              HasSubstr("diag: expected a matrix of at most"));
  EXPECT_THAT(invalid_argument_of([&] { ops::diag(x.to_local(), std::int64_t{1} << 40); }),
              HasSubstr("diag: expected a matrix of at most"));
  EXPECT_THAT(invalid_argument_of([] { ops::triu(DTensor<Matrix>()); }),
              HasSubstr("triu: expected tensors, got an empty DTensor"));
  EXPECT_THAT(invalid_argument_of([&] { ops::outer(x, DTensor<Vector>()); }),
              HasSubstr("outer: expected tensors, got an empty DTensor"));
}

}  // namespace
}  // namespace tessera::test
