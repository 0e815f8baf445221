// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Attention of the queries of one rank: both kernels, and which scores they compute.
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../support/meshes.hpp"
#include "attention_oracle.hpp"
#include "nn/attention_kernel.hpp"

namespace tessera::test {
namespace {

using detail::AttentionKernel;
using detail::VisibleKeys;
using Tensor4 = Kokkos::View<double****, Kokkos::LayoutRight, TestSpace>;
using Tensor3 = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;

constexpr std::int64_t batch = 2, heads = 2, length = 23, columns = 3, outputs = 4;
const Extents q_shape{batch, heads, length, columns}, v_shape{batch, heads, length, outputs};

DeviceMesh own_mesh() {
  return mesh_of({1});
}

Tensor4 view_of(const Extents& shape, std::int64_t operand) {
  return attention_tensor<Tensor4>(own_mesh(), all_replicate, shape, operand).to_local();
}

Tensor3 numbers(const char* label) {
  return Tensor3(label, batch, heads, length);
}

/// Returns the sections of one interval.
Sections interval(std::int64_t begin, std::int64_t end) {
  return Sections(Interval{begin, end});
}

Tensor4 rows_of(const Tensor4& view, Interval rows) {
  const Tensor4 result("rows", view.extent(0), view.extent(1), rows.size(), view.extent(3));
  Kokkos::deep_copy(result, Kokkos::subview(view, Kokkos::ALL, Kokkos::ALL,
                                            std::pair(rows.begin, rows.end), Kokkos::ALL));
  return result;
}

/// Computes result and gradients from blocks of keys, last block first, and compares them with plain loops.
void expect_right_by(const detail::AttentionSettings& settings, bool causal) {
  const auto q = view_of(q_shape, 0), k = view_of(q_shape, 1), v = view_of(v_shape, 2),
             dy = view_of(v_shape, 3);
  const Tensor4 y("y", batch, heads, length, outputs), dq("dq", batch, heads, length, columns);
  const auto maxima = numbers("maxima"), sums = numbers("sums"), means = numbers("means");
  const auto expected =
      serial_attention(attention_array(q_shape, 0), attention_array(q_shape, 1),
                       attention_array(v_shape, 2), attention_array(v_shape, 3), causal);
  const Execution execution;
  const auto visible = [&](Interval keys) {
    return causal ? VisibleKeys(interval(0, length), interval(keys.begin, keys.end))
                  : VisibleKeys(length, keys.size());
  };
  const std::array<Interval, 3> blocks{{{15, 23}, {15, 15}, {0, 15}}};
  const detail::AttentionRows rows{array_ref(q), array_ref(y), array_ref(maxima), array_ref(sums)};
  detail::begin_attention(execution, rows);
  for (const auto block : blocks) {
    const auto keys = rows_of(k, block), values = rows_of(v, block);
    detail::attend(execution, settings, rows, array_ref(keys), array_ref(values), visible(block));
    Kokkos::fence();
  }
  detail::finish_attention(execution, rows);
  const auto as_tensor = [](const Tensor4& view) {
    return from_local(view, own_mesh(), all_replicate, detail::extents_of(view));
  };
  EXPECT_EQ(wrong_attention(as_tensor(y), expected.y), "");

  const detail::AttentionAdjointRows adjoint{array_ref(q), array_ref(dy), array_ref(maxima),
                                             array_ref(means), array_ref(dq)};
  detail::begin_adjoint_of_attention(execution, adjoint, array_ref(y));
  const Tensor4 dk("dk", batch, heads, length, columns), dv("dv", batch, heads, length, outputs);
  for (const auto block : blocks) {
    const auto keys = rows_of(k, block), values = rows_of(v, block);
    const Tensor4 of_keys("of_keys", batch, heads, block.size(), columns);
    const Tensor4 of_values("of_values", batch, heads, block.size(), outputs);
    detail::attend_adjoint(execution, settings, adjoint, array_ref(keys), array_ref(values),
                           array_ref(of_keys), array_ref(of_values), visible(block));
    const auto range = std::pair(block.begin, block.end);
    Kokkos::deep_copy(Kokkos::subview(dk, Kokkos::ALL, Kokkos::ALL, range, Kokkos::ALL), of_keys);
    Kokkos::deep_copy(Kokkos::subview(dv, Kokkos::ALL, Kokkos::ALL, range, Kokkos::ALL), of_values);
  }
  EXPECT_EQ(wrong_attention(as_tensor(dq), expected.dq), "");
  EXPECT_EQ(wrong_attention(as_tensor(dk), expected.dk), "");
  EXPECT_EQ(wrong_attention(as_tensor(dv), expected.dv), "");
}

detail::AttentionSettings settings_by(AttentionKernel kernel) {
  return {kernel, 1 / std::sqrt(static_cast<double>(columns))};
}

TEST(AttentionKernel, over_all_batches_and_heads_is_right) {
  if (!is_on(own_mesh())) return;
  for (const bool causal : {false, true})
    expect_right_by(settings_by(AttentionKernel::over_all), causal);
}

TEST(AttentionKernel, by_tiles_of_any_size_is_right) {
  if (!is_on(own_mesh())) return;
  auto settings = settings_by(AttentionKernel::by_tiles);
  if (detail::attention_kernel_for(element_type<double>(), memory_space<TestSpace>) !=
      settings.kernel)
    GTEST_SKIP() << "no BLAS works on this memory";
  for (const std::int64_t queries : {1, 4, 23, 64})
    for (const std::int64_t keys : {1, 5, 64})
      for (const bool causal : {false, true}) {
        settings.queries_at_once = queries;
        settings.keys_at_once = keys;
        expect_right_by(settings, causal);
      }
}

TEST(AttentionKernel, calls_back_between_parts) {
  if (!is_on(own_mesh())) return;
  auto settings =
      settings_by(detail::attention_kernel_for(element_type<double>(), memory_space<TestSpace>));
  int calls = 0;
  settings.parts = 4;
  settings.queries_at_once = 4;
  settings.between = [&] { ++calls; };
  expect_right_by(settings, true);
  if (settings.kernel == AttentionKernel::by_tiles) {
    EXPECT_EQ(calls, 2 * 2 * 3);
  }
}

TEST(VisibleKeys, are_those_with_the_global_index_and_below) {
  const auto spec = detail::make_spec(MeshLayout({2}), {HeadTail(0)}, {8});
  const auto first = spec.split(0).part(0), second = spec.split(0).part(1);
  EXPECT_EQ(VisibleKeys(first, second).counts(), (std::vector<std::int64_t>{0, 0, 4, 4}));
  EXPECT_EQ(VisibleKeys(second, first).counts(), (std::vector<std::int64_t>{2, 2, 2, 2}));
  EXPECT_EQ(VisibleKeys(first, first).counts(), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(VisibleKeys(interval(4, 8), interval(0, 4)).counts().empty());
}

TEST(VisibleKeys, leave_out_tiles_that_no_query_sees) {
  const VisibleKeys visible(interval(0, 8), interval(0, 8));
  EXPECT_TRUE(visible.tile({0, 4}, {4, 8}).is_empty());
  const auto tile = visible.tile({4, 8}, {6, 8});
  EXPECT_EQ(tile.queries, (Interval{6, 8}));
  EXPECT_EQ(tile.keys, (Interval{6, 8}));
  EXPECT_EQ(visible.tile({0, 4}, {0, 8}).keys, (Interval{0, 4}));
}

/// Returns the scores that each of n ranks computes for causal attention.
std::vector<std::int64_t> work_of_ranks(const Placement& placement, int ranks,
                                        std::int64_t extent) {
  const auto spec = detail::make_spec(MeshLayout({ranks}), {placement}, {extent});
  std::vector<std::int64_t> work;
  for (int rank = 0; rank < ranks; ++rank) {
    auto& sum = work.emplace_back(0);
    for (int part = 0; part < ranks; ++part)
      sum +=
          detail::computed_scores(VisibleKeys(spec.split(0).part(rank), spec.split(0).part(part)),
                                  detail::queries_at_once, detail::keys_at_once);
  }
  return work;
}

double busiest_to_mean(const std::vector<std::int64_t>& work) {
  const auto sum = std::accumulate(work.begin(), work.end(), std::int64_t{0});
  return static_cast<double>(*std::ranges::max_element(work)) * static_cast<double>(work.size()) /
         static_cast<double>(sum);
}

TEST(VisibleKeys, share_out_causal_work_evenly_by_head_tail) {
  for (const int ranks : {2, 4, 8}) {
    EXPECT_LT(busiest_to_mean(work_of_ranks(HeadTail(0), ranks, 4096)), 1.05) << ranks;
    EXPECT_GT(busiest_to_mean(work_of_ranks(Shard(0), ranks, 4096)), 1.4) << ranks;
  }
}

TEST(VisibleKeys, make_causal_work_half_of_all) {
  const auto work = work_of_ranks(HeadTail(0), 4, 4096);
  const auto sum = std::accumulate(work.begin(), work.end(), std::int64_t{0});
  EXPECT_LT(static_cast<double>(sum), 0.55 * 4096 * 4096);
  EXPECT_GE(static_cast<double>(sum), 0.5 * 4096 * 4096);
}

}  // namespace
}  // namespace tessera::test
