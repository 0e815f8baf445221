// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "named.hpp"

namespace tessera::test {
namespace {

/// Gives small integers, whose products and sums are exact in every type.
template <class T, std::size_t N>
struct Small {
  std::int64_t seed = 1;
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, N>& index) const {
    std::int64_t mixed = seed;
    for (const auto i : index) mixed = (mixed * 31 + i * 7 + 3) % 1009;
    return T(mixed % 7 - 3);
  }
};

/// Returns the elements of a product of matrices, row-major, computed serially.
template <class Sum, class T>
std::vector<Sum> product_of(const std::vector<T>& a, const std::vector<T>& b, std::int64_t m,
                            std::int64_t k, std::int64_t n) {
  std::vector<Sum> result;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      Sum sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += Sum(a[static_cast<std::size_t>(i * k + l)]) *
               Sum(b[static_cast<std::size_t>(l * n + j)]);
      result.push_back(sum);
    }
  return result;
}

struct Shape {
  std::int64_t m, k, n;
};

/// Checks the product of two matrices, and returns the placements of both and of the product.
template <class V, class W = V>
std::array<Placements, 3> expect_product(const DeviceMesh& mesh, const Target& left,
                                         const Target& right, const Shape& shape) {
  using T = typename V::value_type;
  const auto a = from_function<V>(mesh, left, {shape.m, shape.k}, Small<T, 2>{1});
  const auto b = from_function<W>(mesh, right, {shape.k, shape.n}, Small<T, 2>{2});
  const auto c = ops::matmul(a, b);
  using Sum = typename std::remove_cvref_t<decltype(c.to_local())>::value_type;

  const auto wanted = product_of<Sum>(all_elements(a), all_elements(b), shape.m, shape.k, shape.n);
  EXPECT_EQ(all_elements(c), wanted) << to_string(a.spec()) << " by " << to_string(b.spec());
  return {a.placements(), b.placements(), c.placements()};
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> result{{5, 4, 3}, {1, 7, 1}, {8, 8, 8}, {2, 1, 9},
                                         {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {19, 33, 6}};
  return result;
}

TEST(Matmul, splits_rows_columns_or_what_is_summed_up) {
  const std::vector<Target> all{Shard(0),     Shard(1),    Balanced(0), Balanced(1), Cyclic(0, 1),
                                Cyclic(1, 2), HeadTail(0), HeadTail(1), Replicate()};
  for (const auto& shape : shapes())
    for (const auto& left : all)
      for (const auto& right : all) {
        const RedistributionScope any(Redistribution::any);
        expect_product<Matrix>(line(), left, right, shape);
        expect_product<LeftMatrix>(line(), left, right, shape);
        expect_product<Matrix, LeftMatrix>(line(), left, right, shape);
      }
}

TEST(Matmul, o2_gives_these_placements_without_exchanges) {
  const Traffic traffic;
  const auto check = [&](const DeviceMesh& mesh, const Target& left, const Target& right) {
    const auto a = from_function<Matrix>(mesh, left, {6, 8}, Small<double, 2>{1});
    const auto b = from_function<Matrix>(mesh, right, {8, 4}, Small<double, 2>{2});
    return ops::matmul(a, b).placements();
  };
  EXPECT_EQ(check(line(), Shard(0), Replicate()), Placements{Shard(0)});
  EXPECT_EQ(check(line(), Shard(1), Shard(0)), Placements{Partial()});
  EXPECT_EQ(check(line(), Replicate(), Shard(1)), Placements{Shard(1)});
  if (world_size() % 2 == 0) {
    const auto grid = mesh_of({2, world_size() / 2});
    EXPECT_EQ(check(grid, {Shard(0), Replicate()}, {Replicate(), Shard(1)}),
              (Placements{Shard(0), Shard(1)}));
  }
  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
}

TEST(Matmul, o3_takes_one_reduction_for_two_layers) {
  const auto x = from_function<Matrix>(line(), Replicate(), {4, 6}, Small<double, 2>{1});
  const auto first = from_function<Matrix>(line(), Shard(1), {6, 8}, Small<double, 2>{2});
  const auto second = from_function<Matrix>(line(), Shard(0), {8, 3}, Small<double, 2>{3});
  const Traffic traffic;
  const auto hidden = ops::relu(ops::matmul(x, first));
  const auto y = redistribute(ops::matmul(hidden, second), {Replicate()});

  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(hidden.placements(), Placements{Shard(1)});
  const auto inner = product_of<double>(all_elements(x), all_elements(first), 4, 6, 8);
  std::vector<double> rectified;
  for (const auto value : inner) rectified.push_back(value > 0 ? value : 0);
  EXPECT_EQ(all_elements(y), product_of<double>(rectified, all_elements(second), 4, 8, 3));
}

/// Returns the meshes of two dims that all ranks form.
std::vector<DeviceMesh> grids() {
  std::vector<DeviceMesh> result;
  for (int rows = 1; rows <= world_size(); ++rows)
    if (world_size() % rows == 0) result.push_back(mesh_of({rows, world_size() / rows}));
  return result;
}

TEST(Matmul, of_matrices_on_a_grid_goes_by_panels) {
  for (const auto& grid : grids())
    for (const auto& shape : {Shape{7, 600, 5}, Shape{12, 256, 9}, Shape{1, 257, 1},
                              Shape{3, 5, 40}, Shape{0, 3, 2}, Shape{3, 0, 2}, Shape{3, 2, 0}}) {
      const auto rules = std::vector<Target>{{Shard(0), Shard(1)},
                                             {Balanced(0), Balanced(1)},
                                             {Cyclic(0, 2), Cyclic(1, 3)},
                                             {HeadTail(0), Balanced(1)}};
      for (const auto& left : rules)
        for (const auto& right : rules) {
          const auto [of_a, of_b, of_c] = expect_product<Matrix>(grid, left, right, shape);
          EXPECT_EQ(of_c, (Placements{of_a[0], of_b[1]}));
          expect_product<LeftMatrix>(grid, left, right, shape);
        }
    }
}

TEST(Matmul, on_a_grid_takes_one_exchange_for_each_panel) {
  if (world_size() != 4) GTEST_SKIP() << "needs 4 ranks";
  const auto grid = mesh_of({2, 2});
  const auto a = from_function<Matrix>(grid, {Shard(0), Shard(1)}, {8, 512}, Small<double, 2>{1});
  const auto b = from_function<Matrix>(grid, {Shard(0), Shard(1)}, {512, 6}, Small<double, 2>{2});
  const auto text = explain(ops::matmul, a, b);
  const CommDebugMode mode;
  ops::matmul(a, b);

  // Each rank lacks half of 4 rows of 512, and half of 3 columns.
  EXPECT_THAT(text, HasSubstr("the operator itself: 2 exchanges, about 14336 B received per rank"));
  std::int64_t received = 0;
  for (const auto& record : mode.records())
    if (record.kind == TraceKind::exchange) received += record.bytes_received;
  EXPECT_EQ(received, 14336);
  EXPECT_EQ(mode.get_total_counts(), 2);
  ASSERT_EQ(operators_in(mode).size(), 1U);
  EXPECT_FALSE(operators_in(mode).front().is_implicit);
}

TEST(Matmul, repeated_on_a_grid_gives_the_same_bits) {
  if (world_size() % 2 != 0) GTEST_SKIP() << "needs a grid";
  const auto grid = mesh_of({2, world_size() / 2});
  const auto a = rand<Matrix>(grid, {Shard(0), Shard(1)}, {40, 700});
  const auto b = rand<Matrix>(grid, {Shard(0), Shard(1)}, {700, 30});
  const auto first = all_elements(ops::matmul(a, b));
  for (int round = 0; round < 3; ++round) EXPECT_EQ(all_elements(ops::matmul(a, b)), first);
}

TEST(Matmul, of_element_types) {
  const Shape shape{5, 6, 7};
  for (const auto& [left, right] : {std::pair<Target, Target>{Shard(0), Replicate()},
                                    std::pair<Target, Target>{Shard(1), Shard(0)}}) {
    expect_product<MatrixOf<float>>(line(), left, right, shape);
    expect_product<MatrixOf<Complex>>(line(), left, right, shape);
    expect_product<MatrixOf<Kokkos::complex<float>>>(line(), left, right, shape);
    expect_product<MatrixOf<std::int8_t>>(line(), left, right, shape);
    expect_product<MatrixOf<std::int32_t>>(line(), left, right, shape);
    expect_product<MatrixOf<std::int64_t>>(line(), left, right, shape);
  }
}

TEST(Matmul, of_small_integers_is_64_bit) {
  const auto a = full<MatrixOf<std::int8_t>>(line(), Replicate(), {1, 4}, 100);
  const auto b = full<MatrixOf<std::int8_t>>(line(), Replicate(), {4, 1}, 100);
  const auto c = ops::matmul(a, b);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(c.to_local())>::value_type,
                               std::int64_t>);
  EXPECT_EQ(all_elements(c), std::vector<std::int64_t>{40000});
}

TEST(Matmul, of_integers_wraps_around) {
  using Unsigned = MatrixOf<std::uint64_t>;
  const auto a = full<Unsigned>(line(), Replicate(), {1, 3}, std::uint64_t{1} << 63);
  const auto b = full<Unsigned>(line(), Replicate(), {3, 1}, 1);
  EXPECT_EQ(all_elements(ops::matmul(a, b)), std::vector<std::uint64_t>{std::uint64_t{1} << 63});
}

TEST(Matmul, on_a_grid_of_element_types) {
  for (const auto& grid : grids()) {
    const Target target{Shard(0), Shard(1)};
    const Shape shape{6, 300, 5};
    expect_product<MatrixOf<float>>(grid, target, target, shape);
    expect_product<MatrixOf<Complex>>(grid, target, target, shape);
    expect_product<MatrixOf<std::int32_t>>(grid, target, target, shape);
  }
}

/// Makes a product of this shape that is all NaN, and leaves its memory to later results.
void leave_nan(const Extents& a, const Extents& b) {
  const auto x = full<Matrix>(line(), Replicate(), a, nan);
  const auto y = full<Matrix>(line(), Replicate(), b, nan);
  ops::matmul(x, y);
}

TEST(Matmul, does_not_read_what_its_memory_held) {
  for (const auto& shape : {Shape{4, 3, 5}, Shape{4, 3, 1}, Shape{1, 3, 4}}) {
    leave_nan({shape.m, shape.k}, {shape.k, shape.n});
    expect_product<Matrix>(line(), Replicate(), Replicate(), shape);
  }
  leave_nan({4, 3}, {3, 5});
  expect_product<Matrix>(line(), Replicate(), Replicate(), {4, 0, 5});
}

TEST(Matmul, complex_numbers_are_not_conjugated) {
  const auto a = listed<MatrixOf<Complex>>(line(), Replicate(), {1, 2}, {{0, 1}, {2, 0}});
  const auto b = listed<MatrixOf<Complex>>(line(), Replicate(), {2, 1}, {{0, 1}, {0, 3}});
  EXPECT_EQ(all_elements(ops::matmul(a, b)), std::vector<Complex>{Complex(-1, 6)});
}

TEST(Matmul, of_vectors) {
  for (const auto& target : std::vector<Target>{Shard(0), Replicate()}) {
    const auto x = from_function<Vector>(line(), target, {9}, Small<double, 1>{4});
    for (const auto& of_matrix : std::vector<Target>{Shard(0), Shard(1), Replicate()}) {
      const RedistributionScope any(Redistribution::any);
      const auto a = from_function<Matrix>(line(), of_matrix, {5, 9}, Small<double, 2>{1});
      const auto b = from_function<LeftMatrix>(line(), of_matrix, {9, 4}, Small<double, 2>{2});
      EXPECT_EQ(all_elements(ops::matmul(a, x)),
                product_of<double>(all_elements(a), all_elements(x), 5, 9, 1));
      EXPECT_EQ(all_elements(ops::matmul(x, b)),
                product_of<double>(all_elements(x), all_elements(b), 1, 9, 4));
    }
    EXPECT_EQ(all_elements(ops::matmul(x, x)),
              product_of<double>(all_elements(x), all_elements(x), 1, 9, 1));
  }
}

TEST(Matmul, splits_leading_dims) {
  using Batch = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;
  using LeftBatch = Kokkos::View<double***, Kokkos::LayoutLeft, TestSpace>;
  const auto x = from_function<Vector>(line(), Replicate(), {4}, Small<double, 1>{4});
  const auto m = from_function<Matrix>(line(), Replicate(), {4, 2}, Small<double, 2>{5});
  for (const auto& target : std::vector<Target>{Shard(0), Shard(1), Balanced(0), Replicate()}) {
    const auto a = from_function<Batch>(line(), target, {5, 3, 4}, Small<double, 3>{1});
    const auto placement = a.placements()[0];
    const auto b =
        from_function<LeftBatch>(line(), placement.is_shard(1) ? Target(Replicate()) : target,
                                 {5, 4, 2}, Small<double, 3>{2});
    const auto of_a = all_elements(a), of_b = all_elements(b);
    std::vector<double> both, by_matrix, by_vector;
    for (std::int64_t batch = 0; batch < 5; ++batch) {
      const std::vector<double> left(of_a.begin() + batch * 12, of_a.begin() + (batch + 1) * 12);
      const std::vector<double> right(of_b.begin() + batch * 8, of_b.begin() + (batch + 1) * 8);
      const auto add = [](auto& list, const auto& more) {
        list.insert(list.end(), more.begin(), more.end());
      };
      add(both, product_of<double>(left, right, 3, 4, 2));
      add(by_matrix, product_of<double>(left, all_elements(m), 3, 4, 2));
      add(by_vector, product_of<double>(left, all_elements(x), 3, 4, 1));
    }
    EXPECT_EQ(all_elements(ops::matmul(a, b)), both);
    EXPECT_EQ(all_elements(ops::matmul(a, m)), by_matrix);
    EXPECT_EQ(all_elements(ops::matmul(a, x)), by_vector);
    EXPECT_EQ(ops::matmul(a, m).placements(), a.placements());
  }
}

TEST(Matmul, reads_strided_pieces) {
  using Batch = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;
  const auto whole = from_function<Batch>(line(), Shard(0), {8, 6, 3}, Small<double, 3>{1});
  const auto part = slice(whole, all, {1, 5}, 2);
  const auto b = from_function<Matrix>(line(), Replicate(), {4, 5}, Small<double, 2>{2});
  EXPECT_EQ(all_elements(ops::matmul(part, b)),
            product_of<double>(all_elements(part), all_elements(b), 8, 4, 5));
  EXPECT_EQ(all_elements(ops::matmul(transpose(b), transpose(part))),
            product_of<double>(all_elements(transpose(b)), all_elements(transpose(part)), 5, 4, 8));
}

TEST(Matmul, reduces_contributions_first) {
  const auto a = contributions<Matrix>(ReduceOp::sum, {3, 3});
  const Traffic traffic;
  const auto c = ops::matmul(a, a);

  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(all_elements(c), product_of<double>(all_elements(a), all_elements(a), 3, 3, 3));
}

TEST(Matmul, multiplies_views) {
  const auto a = from_function<Matrix>(line(), Replicate(), {3, 4}, Small<double, 2>{1});
  const auto b = from_function<LeftMatrix>(line(), Replicate(), {4, 2}, Small<double, 2>{2});
  EXPECT_EQ(elements_of(ops::matmul(a.to_local(), b.to_local())),
            product_of<double>(all_elements(a), all_elements(b), 3, 4, 2));
  EXPECT_THAT(invalid_argument_of([&] { ops::matmul(a.to_local(), a.to_local()); }),
              HasSubstr("matmul: expected shapes (…, m, k) and (…, k, n)"));
}

TEST(Matmul, names_what_does_not_fit) {
  const auto a = iota<Matrix>(line(), Shard(0), {4, 4});
  const auto b = iota<Matrix>(line(), Shard(0), {5, 4});
  EXPECT_THAT(invalid_argument_of([&] { ops::matmul(a, b); }),
              HasSubstr("matmul: expected shapes (…, m, k) and (…, k, n) with equal leading dims, "
                        "or none in one of them, got (4, 4) and (5, 4)"));
  if (world_size() == 1) return;
  const auto text = message_of<PlacementMismatch>([&] { ops::matmul(a, a); });
  EXPECT_THAT(text, HasSubstr("matmul: expected placements that fit: x is S(0), y is S(0) on"));
  EXPECT_THAT(text, HasSubstr("write redistribute("));
}

}  // namespace
}  // namespace tessera::test
