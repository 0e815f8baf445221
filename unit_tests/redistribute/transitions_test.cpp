// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Transitions between Shard, Replicate and Partial on one mesh: values, exchanges, bytes.
#include <complex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

const std::vector<Extents> matrix_shapes = {{12, 3}, {13, 3}, {14, 3}, {3, 12}, {3, 13}, {3, 14}};

/// Elements of the largest piece that `to` asks for beyond what the same rank has of `from`.
template <class V>
std::int64_t missing_elements(const DTensor<V>& from, const DTensorSpec& to) {
  if (!is_on(from.device_mesh())) return 0;
  const auto need = to.piece(*from.device_mesh().coordinate());
  return need.size() - intersect(need, from.spec().piece(*from.device_mesh().coordinate())).size();
}

template <class Value>
class Gather : public testing::Test {};
using Values = testing::Types<float, double, Kokkos::complex<float>>;
TYPED_TEST_SUITE(Gather, Values);

TYPED_TEST(Gather, from_shard_to_replicate_gives_the_global_values_in_one_exchange) {
  using View = Kokkos::View<TypeParam**, Kokkos::LayoutRight, TestSpace>;
  const auto mesh = mesh_of({4});
  if (mesh.is_null()) return;
  for (const auto& shape : matrix_shapes) {
    const auto full = iota_view<View>(shape);
    const int dim = shape[0] > shape[1] ? 0 : 1;
    const auto sharded = distribute_tensor(full, mesh, {Shard(dim)}, {.each_rank = true});

    const Traffic traffic;
    const auto gathered = redistribute(sharded, {Replicate()});

    EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 1 : 0);
    if (!is_on(mesh)) continue;
    const auto values = on_host(gathered.to_local());
    const auto expected = on_host(full);
    for (std::size_t i = 0; i < full.size(); ++i) EXPECT_EQ(values.data()[i], expected.data()[i]);
  }
}

TEST(Redistribute, to_the_same_spec_is_the_same_view_without_exchange) {
  const auto mesh = mesh_of({world_size()});
  const auto replicated = iota<Matrix>(mesh, {Replicate()}, {5, 3});
  const auto partial =
      from_local(iota_view<Matrix>({5, 3}), mesh, {Partial(ReduceOp::max)}, {5, 3});

  const Traffic traffic;
  const auto same = redistribute(replicated, {Replicate()});
  const auto still_partial = redistribute(partial, {Partial(ReduceOp::max)});

  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(same.to_local().data(), replicated.to_local().data());
  EXPECT_EQ(still_partial.to_local().data(), partial.to_local().data());
}

TEST(Redistribute, from_replicate_to_shard_each_rank_takes_its_chunk_without_exchange) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}, {8}})) {
    for (const auto& shape : matrix_shapes) {
      for (const int dim : {0, 1}) {
        const auto replicated = iota<Matrix>(mesh, {Replicate()}, shape);

        const Traffic traffic;
        const auto sharded = redistribute(replicated, {Shard(dim)});

        EXPECT_EQ(traffic.exchanges(), 0);
        EXPECT_EQ(wrong_iota(sharded), "");
      }
    }
  }
}

TEST(Redistribute, from_partial_each_rank_gets_the_reduced_values_in_one_reduction) {
  const auto mesh = mesh_of({4});
  if (mesh.is_null()) return;
  for (const auto& shape : matrix_shapes) {
    Matrix ones;
    if (is_on(mesh)) ones = full<Matrix>(mesh, {Replicate()}, shape, 1.0).to_local();
    const auto partial = from_local(ones, mesh, {Partial()}, shape);
    for (const Placements& target :
         {Placements{Replicate()}, Placements{Shard(0)}, Placements{Shard(1)}}) {
      const Traffic traffic;
      const auto reduced = redistribute(partial, target);

      EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 1 : 0);
      EXPECT_EQ(wrong_piece(reduced, [](const Extents&) { return 4.0; }), "");
    }
  }
}

template <class View>
void expect_back_through_partial(ReduceOp op) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}})) {
    const Extents shape{5, 7};
    const auto full = iota_view<View>(shape);
    for (const Placements& start :
         {Placements{Replicate()}, Placements{Shard(0)}, Placements{Shard(1)}}) {
      const auto source = distribute_tensor(full, mesh, start, {.each_rank = true});

      const Traffic into;
      const auto partial = redistribute(source, {Partial(op)});
      EXPECT_EQ(into.exchanges(), 0);
      const Traffic back;
      const auto reduced = redistribute(partial, {Replicate()});

      EXPECT_EQ(back.exchanges(), is_on(mesh) && mesh.size() > 1 ? 1 : 0);
      if (!is_on(mesh)) continue;
      const auto values = on_host(reduced.to_local());
      const auto all_expected = on_host(full);
      for (std::size_t i = 0; i < full.size(); ++i) {
        const auto value = static_cast<double>(values.data()[i]);
        const auto expected = static_cast<double>(all_expected.data()[i]);
        EXPECT_NEAR(value, expected, op == ReduceOp::avg ? 5e-16 * expected : 0.0) << to_string(op);
      }
    }
  }
}

TEST(Redistribute, through_every_partial_and_back_is_the_identity_for_doubles) {
  for (const auto op :
       {ReduceOp::sum, ReduceOp::avg, ReduceOp::product, ReduceOp::min, ReduceOp::max})
    expect_back_through_partial<Matrix>(op);
}

TEST(Redistribute, through_every_partial_and_back_is_the_identity_for_integers) {
  using IntMatrix = Kokkos::View<int**, Kokkos::LayoutRight, TestSpace>;
  for (const auto op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max,
                        ReduceOp::band, ReduceOp::bor, ReduceOp::bxor})
    expect_back_through_partial<IntMatrix>(op);
}

TEST(Redistribute, a_negative_shard_dim_is_stored_as_the_last_dim) {
  const auto mesh = mesh_of({world_size()});
  const auto tensor = redistribute(iota<Matrix>(mesh, {Replicate()}, {5, 6}), {Shard(-1)});

  EXPECT_EQ(tensor.placements(), Placements{Shard(1)});
  EXPECT_EQ(wrong_iota(tensor), "");
}

TEST(Redistribute, nested_and_crossed_shards_gather_to_the_input) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) return;
  for (const Extents& shape : {Extents{10, 5}, Extents{9, 5}, Extents{3, 5}, Extents{1, 3}})
    for (const Placements& source :
         {Placements{Shard(0), Shard(0)}, Placements{Shard(0), Shard(1)}})
      EXPECT_EQ(
          wrong_iota(redistribute(iota<Matrix>(mesh, source, shape), {Replicate(), Replicate()})),
          "");
}

TEST(Redistribute, rows_to_columns_equals_direct_distribution_in_one_exchange) {
  using Cube = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;
  const auto mesh = mesh_of({4});
  if (mesh.is_null()) return;
  for (const Extents& shape : {Extents{8, 8}, Extents{8, 5}, Extents{5, 8}, Extents{5, 5}}) {
    const Traffic traffic;
    const auto columns = redistribute(iota<Matrix>(mesh, {Shard(0)}, shape), {Shard(1)});
    const auto rows = redistribute(columns, {Shard(0)});

    EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 2 : 0);
    EXPECT_EQ(wrong_iota(columns), "");
    EXPECT_EQ(wrong_iota(rows), "");
  }
  EXPECT_EQ(wrong_iota(redistribute(iota<Cube>(mesh, {Shard(0)}, {8, 8, 8}), {Shard(1)})), "");
}

TEST(Redistribute, between_2d_layouts_moves_the_lower_bound_in_one_exchange) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) return;
  const std::vector<std::pair<Placements, Placements>> pairs = {
      {{Shard(0), Shard(1)}, {Shard(0), Shard(0)}},
      {{Shard(0), Shard(1)}, {Shard(1), Shard(0)}},
      {{Shard(0), Shard(0)}, {Shard(1), Shard(1)}}};
  for (const auto& [from, to] : pairs) {
    const auto source = iota<Matrix>(mesh, from, {8, 12});

    const Traffic traffic;
    const auto result = redistribute(source, to);

    EXPECT_LE(traffic.exchanges(), 1);
    EXPECT_EQ(traffic.bytes_received(), missing_elements(source, result.spec()) * 8);
    EXPECT_EQ(wrong_iota(result), "");
  }
}

TEST(Redistribute, any_change_on_a_mesh_dim_of_size_one_is_local) {
  const auto mesh = mesh_of({4, 1});
  if (mesh.is_null()) return;
  const std::vector<Placement> changes = {Replicate(), Shard(0), Shard(1)};
  for (const auto& before : changes) {
    for (const auto& after : changes) {
      const auto source = iota<Matrix>(mesh, {Shard(0), before}, {16, 8});

      const Traffic traffic;
      const auto result = redistribute(source, {Shard(0), after});

      EXPECT_EQ(traffic.exchanges(), 0);
      EXPECT_EQ(wrong_iota(result), "");
    }
  }
}

TEST(Redistribute, more_ranks_than_rows_leaves_the_last_ranks_empty) {
  const auto mesh = mesh_of({4});
  if (mesh.is_null()) return;
  const auto rows = iota<Matrix>(mesh, {Shard(0)}, {2, 8});

  const auto gathered = redistribute(rows, {Replicate()});
  const auto columns = redistribute(rows, {Shard(1)});

  EXPECT_EQ(wrong_iota(gathered), "");
  EXPECT_EQ(wrong_iota(columns), "");
  if (!is_on(mesh)) return;
  EXPECT_EQ(rows.local_shape(), (Extents{mesh.rank() < 2 ? 1 : 0, 8}));
  EXPECT_EQ(gathered.local_shape(), (Extents{2, 8}));
  EXPECT_EQ(columns.local_shape(), (Extents{2, 2}));
}

TEST(Redistribute, every_pair_on_a_4x2_mesh_gives_the_input_times_the_partial_mesh_dims) {
  const auto mesh = mesh_of({4, 2});
  if (mesh.is_null()) return;
  const std::vector<Placement> sources = {Replicate(), Shard(0), Shard(1), Partial()};
  const std::vector<Placement> targets = {Replicate(), Shard(0), Shard(1)};
  for (const auto& a : sources) {
    for (const auto& b : sources) {
      Placements stored{a.is_partial() ? Replicate() : a, b.is_partial() ? Replicate() : b};
      const double factor = (a.is_partial() ? 4 : 1) * (b.is_partial() ? 2 : 1);
      const auto view = iota<Matrix>(mesh, stored, {16, 24}).to_local();
      const auto source = from_local(view, mesh, {a, b}, {16, 24});
      for (const auto& c : targets)
        for (const auto& d : targets)
          EXPECT_EQ(wrong_iota(redistribute(source, {c, d}), factor), "")
              << to_string(source.spec()) << " -> " << to_string(Placements{c, d});
    }
  }
}

TEST(Redistribute, a_change_of_the_split_order_equals_direct_distribution_in_one_exchange) {
  const Placements first_dim_first{Shard(0), Shard(0)};
  const Placements last_dim_first({Shard(0), Shard(0)}, {1, 0});
  for (const auto& mesh : meshes_of({{2, 2}, {4, 2}})) {
    for (const Extents& shape : {Extents{8, 4}, Extents{9, 4}}) {
      const Traffic traffic;
      const auto result = redistribute(iota<Matrix>(mesh, first_dim_first, shape), last_dim_first);

      EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 1 : 0);
      EXPECT_EQ(result.placements(), last_dim_first);
      EXPECT_EQ(wrong_iota(result), "");
    }
  }
}

TEST(Redistribute, from_sum_to_avg_reduces_first) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}})) {
    Matrix view;
    if (is_on(mesh)) view = iota<Matrix>(mesh, {Replicate()}, {4, 3}).to_local();
    const auto sum = from_local(view, mesh, {Partial()}, {4, 3});

    const Traffic traffic;
    const auto average = redistribute(sum, {Partial(ReduceOp::avg)});

    EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 1 : 0);
    EXPECT_EQ(wrong_iota(redistribute(average, {Replicate()}), mesh.size()), "");
  }
}

TEST(Redistribute, partials_on_two_mesh_dims_are_one_merged_reduction) {
  const auto mesh = mesh_of({2, 3});
  if (mesh.is_null()) return;
  Matrix view;
  if (is_on(mesh)) view = iota<Matrix>(mesh, {Replicate(), Replicate()}, {7, 5}).to_local();
  const auto partial = from_local(view, mesh, {Partial(), Partial()}, {7, 5});

  const Traffic traffic;
  const auto reduced = reduce_partial(partial);

  EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 1 : 0);
  EXPECT_EQ(wrong_iota(reduced, 6), "");
}

TEST(Redistribute, averages_and_sums_reduce_together_and_divide_once) {
  const auto mesh = mesh_of({2, 2, 2});
  if (mesh.is_null()) return;
  const Placements replicated{Replicate(), Replicate(), Replicate()};
  const auto view = iota<Vector>(mesh, replicated, {16}).to_local();
  const auto partial =
      from_local(view, mesh, {Partial(ReduceOp::avg), Partial(ReduceOp::avg), Partial()}, {16});

  const Traffic traffic;
  const auto reduced = redistribute(partial, replicated);

  EXPECT_EQ(traffic.exchanges(), 1);
  EXPECT_EQ(wrong_iota(reduced, 2), "");
}

TEST(Redistribute, thousands_of_calls_give_the_same) {
  const auto mesh = mesh_of({world_size()});
  auto rows = iota<Matrix>(mesh, {Shard(0)}, {9, 7});
  const auto columns = empty<Matrix>(mesh, {Shard(1)}, {9, 7});

  for (int repeat = 0; repeat < 300; ++repeat) {
    redistribute_into(columns, rows);
    redistribute_into(rows, columns);
  }

  EXPECT_EQ(wrong_iota(rows), "");
  EXPECT_EQ(wrong_iota(columns), "");
}

TEST(Redistribute, gather_to_gives_the_full_tensor_to_one_rank) {
  for (const auto& mesh : meshes_of({{1}, {3}, {2, 2}})) {
    const Placements start =
        mesh.ndim() == 1 ? Placements{Shard(1)} : Placements{Partial(), Shard(0)};
    const auto stored = mesh.ndim() == 1 ? start : Placements{Replicate(), Shard(0)};
    const auto source =
        from_local(iota<Matrix>(mesh, stored, {5, 4}).to_local(), mesh, start, {5, 4});
    for (int root = 0; root < mesh.size(); ++root) {
      const Traffic traffic;
      const auto full = gather_to(source, root);

      EXPECT_LE(traffic.exchanges(), mesh.ndim());
      if (mesh.rank() == root)
        EXPECT_EQ(wrong_view(full, {5, 4}, GlobalIndex({5, 4}, mesh.ndim())), "");
      else
        EXPECT_EQ(full.size(), 0u);
    }
  }
}

TEST(Redistribute, into_a_destination_on_another_mesh_is_a_mesh_mismatch) {
  const auto mesh = mesh_of({world_size()});
  const auto other = mesh_of({world_size(), 1});
  const auto source = zeros<Matrix>(mesh, {Shard(0)}, {4, 4});
  const auto destination = zeros<Matrix>(other, {Shard(0), Replicate()}, {4, 4});

  const auto text = message_of<MeshMismatch>([&] { redistribute_into(destination, source); });
  EXPECT_NE(text.find("redistribute_into: expected a destination on the source's mesh"),
            std::string::npos)
      << text;
}

}  // namespace
