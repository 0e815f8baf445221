// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products by local_map: reductions inside, redistributed inputs, uneven rows.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

Matrix product_of(const Matrix& a, const Matrix& b) {
  const auto left = on_host(a);
  const auto right = on_host(b);
  const Matrix c("product", a.extent(0), b.extent(1));
  change_on_host(c, [&](const auto& host) {
    for (std::size_t i = 0; i < left.extent(0); ++i)
      for (std::size_t k = 0; k < left.extent(1); ++k)
        for (std::size_t j = 0; j < right.extent(1); ++j) host(i, j) += left(i, k) * right(k, j);
  });
  return c;
}

/// Element of the product of iota matrices of these shapes.
auto product_of_iotas(const Extents& a, const Extents& b) {
  const auto c = on_host(product_of(iota_view<Matrix>(a), iota_view<Matrix>(b)));
  return [c](const Extents& index) {
    return c(static_cast<std::size_t>(index[0]), static_cast<std::size_t>(index[1]));
  };
}

Matrix reduced_product(const DeviceMesh& mesh, const Matrix& w, const Matrix& x) {
  return all_reduce(product_of(w, x), ReduceOp::sum, mesh, 0);
}

const Extents w_shape{12, 8};
const Extents x_shape{8, 16};

TEST(LocalMapProduct, of_columns_and_rows_is_reduced_inside) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}, {8}})) {
    const auto w = iota<Matrix>(mesh, {Shard(1)}, w_shape);
    const auto x = iota<Matrix>(mesh, {Shard(0)}, x_shape);
    const auto f =
        local_map(reduced_product, {Replicate()}, {std::nullopt, {Shard(1)}, {Shard(0)}});

    Traffic traffic;
    const auto y = f(mesh, w, x);

    EXPECT_EQ(wrong_piece(y, product_of_iotas(w_shape, x_shape)), "");
    EXPECT_EQ(traffic.exchanges(), is_on(mesh) && mesh.size() > 1 ? 1 : 0);
    EXPECT_EQ(traffic.metadata(), 0);
    EXPECT_EQ(y.placements(), Placements{Replicate()});
    EXPECT_TRUE(!is_on(mesh) || y.shape() == Extents({12, 16})) << to_string(y.spec());
  }
}

TEST(LocalMapProduct, redistributes_inputs_where_asked) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}, {8}})) {
    const auto w = iota<Matrix>(mesh, {Shard(0)}, w_shape);
    const auto x = iota<Matrix>(mesh, {Shard(1)}, x_shape);
    const auto f = local_map(reduced_product, {Replicate()}, {std::nullopt, {Shard(1)}, {Shard(0)}},
                             {.redistribute_inputs = true});

    Traffic traffic;
    const auto y = f(mesh, w, x);

    EXPECT_EQ(wrong_piece(y, product_of_iotas(w_shape, x_shape)), "");
    EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 3 : 0);
    EXPECT_EQ(y.placements(), Placements{Replicate()});
    EXPECT_EQ(wrong_iota(w), "");
    EXPECT_EQ(wrong_iota(x), "");
  }
}

TEST(LocalMapProduct, of_inputs_with_other_placements_is_a_mismatch) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}, {8}})) {
    const auto w = iota<Matrix>(mesh, {Shard(0)}, w_shape);
    const auto x = iota<Matrix>(mesh, {Shard(1)}, x_shape);
    const InPlacements in{std::nullopt, {Shard(1)}, {Shard(0)}};
    const auto f = local_map(reduced_product, {Replicate()}, in);
    const auto g = local_map(reduced_product, {Replicate()}, in, {.redistribute_inputs = true});

    const auto message = message_of<PlacementMismatch>([&] { f(mesh, w, x); });
    const auto y = g(mesh, w, x);

    EXPECT_THAT(message, HasSubstr("local_map: expected argument 1 as S(1), got S(0)"));
    EXPECT_THAT(message, HasSubstr("set redistribute_inputs=true"));
    EXPECT_EQ(wrong_piece(y, product_of_iotas(w_shape, x_shape)), "");
  }
}

/// X and Y have the same elements on every rank.
bool are_equal(const DeviceMesh& mesh, const Matrix& x, const Matrix& y) {
  const auto first = on_host(x);
  const auto second = on_host(y);
  int are_same = 1;
  for (std::size_t i = 0; i < first.extent(0); ++i)
    for (std::size_t j = 0; j < first.extent(1); ++j)
      if (first(i, j) != second(i, j)) are_same = 0;
  const Kokkos::View<int, TestSpace> same("same");
  Kokkos::deep_copy(same, are_same);
  return on_host(all_reduce(same, ReduceOp::min, mesh, 0))() == 1;
}

TEST(LocalMapProduct, plain_output_passes_as_it_is) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}, {8}})) {
    const auto x = rand<Matrix>(mesh, {Shard(0)}, {16, 8}, {.seed = 1});
    const auto y = rand<Matrix>(mesh, {Shard(0)}, {16, 8}, {.seed = 2});
    const auto f = local_map(are_equal, none, {std::nullopt, {Shard(0)}, {Shard(0)}});

    Traffic traffic;
    const auto is_xy_equal = f(mesh, x, y);
    const int exchanges = traffic.exchanges();
    const bool is_xx_equal = f(mesh, x, x);

    static_assert(std::is_same_v<decltype(is_xy_equal), const bool>);
    EXPECT_FALSE(is_xy_equal);
    EXPECT_EQ(is_xx_equal, is_on(mesh));
    EXPECT_EQ(exchanges, is_on(mesh) ? 1 : 0);
  }
}

/// All rows of X, which are gathered, times W.
Matrix gathered_product(const DeviceMesh& mesh, const Matrix& x, const Matrix& w) {
  return product_of(all_gather(x, 0, mesh, 0), w);
}

/// This rank's two rows of iota(2n, 4), on n ranks.
Matrix two_rows(const DeviceMesh& mesh) {
  const Matrix rows("rows", 2, 4);
  fill_iota(rows, {2 * mesh.rank(), 0}, {2 * mesh.size(), 4});
  return rows;
}

TEST(LocalMapProduct, without_a_tensor_argument_gives_a_plain_view) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}, {8}})) {
    if (!is_on(mesh)) continue;
    const auto f = local_map(gathered_product, {Shard(0)});

    const auto y = f(mesh, two_rows(mesh), iota_view<Matrix>({4, 4}));

    static_assert(std::is_same_v<decltype(y), const Matrix>);
    const Extents rows{2 * mesh.size(), 4};
    EXPECT_EQ(wrong_view(y, rows, product_of_iotas(rows, {4, 4})), "");
  }
}

TEST(LocalMapProduct, placements_are_not_looked_at_without_a_tensor_argument) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const auto f =
        local_map(gathered_product, {Shard(0)}, {std::nullopt, {Shard(0)}, {Replicate()}});

    const CommDebugMode mode;
    const auto y = f(mesh, two_rows(mesh), iota_view<Matrix>({4, 4}));
    const auto exchanges = mode.get_total_counts();
    const auto counts = mode.get_comm_counts();

    static_assert(std::is_same_v<decltype(y), const Matrix>);
    const Extents rows{2 * mesh.size(), 4};
    EXPECT_EQ(wrong_view(y, rows, product_of_iotas(rows, {4, 4})), "");
    EXPECT_EQ(exchanges, 1);
    EXPECT_EQ(counts.at("collective"), 1);
  }
}

TEST(LocalMapProduct, with_a_mesh_first_gives_a_tensor_without_a_tensor_argument) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}, {8}})) {
    const auto f = local_map(mesh, gathered_product, {Shard(0)});

    const auto y = f(mesh, two_rows(mesh), iota_view<Matrix>({4, 4}));

    static_assert(std::is_same_v<decltype(y), const DTensor<Matrix>>);
    EXPECT_EQ(y.placements(), Placements{Shard(0)});
    EXPECT_EQ(y.device_mesh(), mesh);
    const std::int64_t rows = 2 * mesh.size();
    const auto expected = product_of_iotas({rows, 4}, {4, 4});
    EXPECT_EQ(wrong_piece(y, [&](const Extents& i) { return expected({i[0] % rows, i[1]}); }), "");
    EXPECT_TRUE(!is_on(mesh) || y.extent(0) == rows * mesh.size()) << to_string(y.spec());
  }
}

TEST(LocalMapProduct, of_uneven_rows_has_the_right_global_shape_without_a_hint) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}, {8}})) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, {5, 4});
    const auto w = iota<Matrix>(mesh, {Replicate()}, {4, 8});
    const auto f = local_map(product_of, {Shard(0)}, {{Shard(0)}, {Replicate()}});

    Traffic traffic;
    const auto y = f(x, w);

    EXPECT_EQ(wrong_piece(y, product_of_iotas({5, 4}, {4, 8})), "");
    EXPECT_EQ(traffic.exchanges(), 0);
    EXPECT_EQ(traffic.metadata(), is_on(mesh) && mesh.size() > 1 ? 1 : 0);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(y.shape(), (Extents{5, 8}));
    EXPECT_EQ(y.local_shape()[0], x.local_shape()[0]);
    EXPECT_EQ(y.spec(), DTensorSpec(mesh.layout(), {Shard(0)}, {5, 8}));
  }
}

TEST(LocalMapProduct, of_five_rows_on_two_ranks_has_three_and_two) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null()) return;
  const auto x = iota<Matrix>(mesh, {Shard(0)}, {5, 4});
  const auto f = local_map([](const Matrix& piece) { return piece; }, {Shard(0)});

  const auto y = f(x);

  if (!is_on(mesh)) return;
  EXPECT_EQ(y.local_shape(), (Extents{mesh.rank() == 0 ? 3 : 2, 4}));
}

TEST(LocalMapProduct, function_sees_all_rows_of_a_gathered_input) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}, {8}})) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, {4, 2});
    std::string wrong;
    const auto look = [&wrong](const Matrix& view) {
      wrong = wrong_view(view, {4, 2}, GlobalIndex({4, 2}));
    };

    local_map(look, none, {{Replicate()}}, {.redistribute_inputs = true})(x);

    EXPECT_EQ(wrong, "");
  }
}

}  // namespace
}  // namespace tessera::test
