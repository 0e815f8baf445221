// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Attention of tensors under all placements that fit, with its gradients.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/nn/attention.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "attention_oracle.hpp"

namespace tessera::test {
namespace {

using nn::Attention;
using nn::AttentionMethod;
using Tensor4 = Kokkos::View<double****, Kokkos::LayoutRight, TestSpace>;
using LeftTensor4 = Kokkos::View<double****, Kokkos::LayoutLeft, TestSpace>;
using FloatTensor4 = Kokkos::View<float****, Kokkos::LayoutRight, TestSpace>;

/// Says what extents operands have.
struct Sizes4 {
  std::int64_t batch = 2, heads = 3, queries = 7, keys = 7, columns = 4, outputs = 5;

  Extents q() const { return {batch, heads, queries, columns}; }
  Extents k() const { return {batch, heads, keys, columns}; }
  Extents v() const { return {batch, heads, keys, outputs}; }
  Extents y() const { return {batch, heads, queries, outputs}; }
};

/// Says how operands are placed.
struct Placed {
  Target q, k, v;

  template <class T>
  Placed(const T& all) : q(all), k(all), v(all) {}
  Placed(const Target& of_q, const Target& of_others) : q(of_q), k(of_others), v(of_others) {}
};

AttentionResult expected_of(const Sizes4& sizes, bool causal) {
  return serial_attention(attention_array(sizes.q(), 0), attention_array(sizes.k(), 1),
                          attention_array(sizes.v(), 2), attention_array(sizes.y(), 3), causal);
}

std::int64_t exchanges_in(const std::function<void()>& call) {
  const CommDebugMode mode;
  call();
  return mode.get_total_counts();
}

std::string text_of(const DeviceMesh& mesh, const Sizes4& sizes, const Attention& options) {
  return to_string(mesh.layout()) + " q " + to_string(sizes.q()) + " k " + to_string(sizes.k()) +
         (options.causal ? " causal" : "") +
         (options.method == AttentionMethod::ring ? " ring" : " all_gather") +
         (options.overlap ? "" : " without overlap");
}

/// Computes result and gradients, and compares them with those of plain loops. `start` says how the gradient of the
/// result is placed.
template <class V = Tensor4>
void expect_right(const DeviceMesh& mesh, const Sizes4& sizes, const Placed& placed,
                  const Attention& options, const Target& start, double tolerance = 1e-12) {
  if (mesh.is_null()) return;
  const auto expected = expected_of(sizes, options.causal);
  grad::Tape tape;
  const auto q = tape.watch(attention_tensor<V>(mesh, placed.q, sizes.q(), 0));
  const auto k = tape.watch(attention_tensor<V>(mesh, placed.k, sizes.k(), 1));
  const auto v = tape.watch(attention_tensor<V>(mesh, placed.v, sizes.v(), 2));
  const auto y = nn::scaled_dot_product_attention(q, k, v, options);
  tape.backward(y, attention_tensor<V>(mesh, start, sizes.y(), 3));
  const auto text = text_of(mesh, sizes, options);
  EXPECT_EQ(wrong_attention(y.detach(), expected.y, tolerance), "") << "y, " << text;
  EXPECT_EQ(wrong_attention(q.grad(), expected.dq, tolerance), "") << "dq, " << text;
  EXPECT_EQ(wrong_attention(k.grad(), expected.dk, tolerance), "") << "dk, " << text;
  EXPECT_EQ(wrong_attention(v.grad(), expected.dv, tolerance), "") << "dv, " << text;
  EXPECT_EQ(y.placements(), q.placements());
}

template <class V = Tensor4>
void expect_right(const DeviceMesh& mesh, const Sizes4& sizes, const Placed& placed,
                  const Attention& options) {
  expect_right<V>(mesh, sizes, placed, options, placed.q);
}

const std::array<Attention, 6> all_options{
    {{.causal = false},
     {.causal = true},
     {.causal = false, .method = AttentionMethod::all_gather},
     {.causal = true, .method = AttentionMethod::all_gather},
     {.causal = false, .overlap = false},
     {.causal = true, .overlap = false}}};

DeviceMesh line() {
  return mesh_of({world_size()});
}

TEST(Attention, of_replicated_tensors_is_serial_and_communicates_nothing) {
  for (const bool causal : {false, true}) {
    expect_right(line(), {}, all_replicate, {.causal = causal});
    const auto q = attention_tensor<Tensor4>(line(), all_replicate, Sizes4().q(), 0);
    EXPECT_EQ(exchanges_in([&] { nn::scaled_dot_product_attention(q, q, q, {.causal = causal}); }),
              0);
  }
}

TEST(Attention, with_batches_or_heads_split_communicates_nothing) {
  for (const int dim : {0, 1})
    for (const Target& target : {Target(Shard(dim)), Target(Balanced(dim)), Target(Cyclic(dim, 1))})
      for (const auto& options : all_options) {
        const Sizes4 sizes{.batch = 3, .heads = 5};
        expect_right(line(), sizes, target, options);
        const auto q = attention_tensor<Tensor4>(line(), target, sizes.q(), 0);
        EXPECT_EQ(exchanges_in([&] { nn::scaled_dot_product_attention(q, q, q, options); }), 0);
      }
}

TEST(Attention, with_the_sequence_split_by_any_rule_is_that_of_one_rank) {
  for (const std::int64_t length : {1, 2, 7, 13, 24})
    for (const Target& target : {Target(Shard(2)), Target(Balanced(2)), Target(Cyclic(2, 1)),
                                 Target(Cyclic(2, 3)), Target(HeadTail(2))})
      for (const auto& options : all_options)
        expect_right(line(), {.queries = length, .keys = length}, target, options);
}

TEST(Attention, takes_sequences_cut_anywhere) {
  std::vector<std::int64_t> parts(static_cast<std::size_t>(world_size()), 0);
  parts.front() = 2;
  parts.back() += 9;
  for (const auto& options : all_options)
    expect_right(line(), {.queries = 11, .keys = 11}, Target(tessera::Sizes(2, parts)), options);
}

TEST(Attention, takes_other_numbers_of_keys_than_of_queries) {
  for (const auto keys : {1, 5, 16})
    for (const auto& options : all_options)
      if (!options.causal)
        expect_right(line(), {.queries = 9, .keys = keys}, Target(Shard(2)), options);
}

TEST(Attention, splits_queries_by_another_rule_than_keys) {
  for (const auto& options : all_options)
    expect_right(line(), {.queries = 13, .keys = 13}, {Target(HeadTail(2)), Target(Shard(2))},
                 options);
}

TEST(Attention, of_split_queries_to_whole_keys_communicates_nothing) {
  const Sizes4 sizes{.queries = 13, .keys = 13};
  for (const Target& target : {Target(Shard(2)), Target(HeadTail(2))})
    for (const auto& options : all_options) {
      expect_right(line(), sizes, {target, Target(Replicate())}, options);
      const auto q = attention_tensor<Tensor4>(line(), target, sizes.q(), 0);
      const auto k = attention_tensor<Tensor4>(line(), Replicate(), sizes.k(), 0);
      EXPECT_EQ(exchanges_in([&] { nn::scaled_dot_product_attention(q, k, k, options); }), 0);
    }
}

TEST(Attention, on_meshes_of_several_dims_is_that_of_one_rank) {
  for (const auto& shape : std::vector<std::vector<int>>{{2, 2}, {1, 3}, {2, 4}, {4, 2}}) {
    const auto mesh = mesh_of(shape);
    const Sizes4 sizes{.batch = 3, .heads = 3, .queries = 10, .keys = 10};
    for (const auto& options : all_options) {
      expect_right(mesh, sizes, Target{Shard(1), HeadTail(2)}, options);
      expect_right(mesh, sizes, Target{Shard(2), Balanced(0)}, options);
      expect_right(mesh, sizes, Target{Replicate(), Shard(2)}, options);
      expect_right(mesh, sizes, Target{Shard(2), Shard(2)}, options);
      expect_right(mesh, sizes, Target({Shard(2), Shard(2)}, {1, 0}), options);
      expect_right(mesh, sizes, {Target{Shard(2), Shard(2)}, Target{Replicate(), Shard(2)}},
                   options);
    }
  }
  const auto cube = mesh_of({2, 2, 2});
  for (const auto& options : all_options)
    expect_right(cube, {.queries = 9, .keys = 9}, Target{Shard(0), Shard(1), HeadTail(2)}, options);
}

TEST(Attention, takes_a_gradient_with_any_placements) {
  const Sizes4 sizes{.queries = 8, .keys = 8};
  for (const Target& start : {Target(Replicate()), Target(Shard(0)), Target(HeadTail(2))})
    for (const auto& options : all_options) expect_right(line(), sizes, Shard(2), options, start);
}

TEST(Attention, works_in_all_layouts) {
  for (const Target& target : {Target(Replicate()), Target(Shard(1)), Target(HeadTail(2))})
    for (const auto& options : all_options)
      expect_right<LeftTensor4>(line(), {.queries = 9, .keys = 9}, target, options);
}

TEST(Attention, works_in_single_precision) {
  for (const Target& target : {Target(Replicate()), Target(Shard(2))})
    for (const auto& options : all_options)
      expect_right<FloatTensor4>(line(), {.queries = 9, .keys = 9}, target, options, target, 1e-5);
}

TEST(Attention, with_more_rows_than_a_tile_has_is_that_of_one_rank) {
  const Sizes4 sizes{.batch = 1, .heads = 1, .queries = 601, .keys = 601};
  for (const auto& options : all_options)
    for (const Target& target : {Target(Replicate()), Target(HeadTail(2))})
      expect_right(line(), sizes, target, options);
}

TEST(Attention, reads_and_writes_parts_of_views) {
  const Sizes4 sizes{.queries = 8, .keys = 8, .columns = 4, .outputs = 4};
  const auto expected = expected_of(sizes, true);
  const auto part = [&](std::int64_t operand) {
    const auto dense = attention_tensor<Tensor4>(line(), Shard(2), sizes.q(), operand);
    const auto shape = dense.local_shape();
    const Tensor4 larger("larger", shape[0] + 1, shape[1], shape[2] + 2, shape[3] + 3);
    const auto pair = [](std::int64_t begin, std::int64_t size) {
      return std::pair<std::int64_t, std::int64_t>(begin, begin + size);
    };
    const auto view = Kokkos::subview(larger, pair(1, shape[0]), pair(0, shape[1]),
                                      pair(2, shape[2]), pair(1, shape[3]));
    Kokkos::deep_copy(view, dense.to_local());
    return from_local(view, line(), Target(Shard(2)), sizes.q());
  };
  const auto y = nn::scaled_dot_product_attention(part(0), part(1), part(2), {.causal = true});
  EXPECT_EQ(wrong_attention(y, expected.y), "");
}

TEST(Attention, takes_variables_and_tensors_together) {
  const Sizes4 sizes;
  const auto expected = expected_of(sizes, false);
  grad::Tape tape;
  const auto q = attention_tensor<Tensor4>(line(), Shard(2), sizes.q(), 0);
  const auto k = tape.watch(attention_tensor<LeftTensor4>(line(), Shard(2), sizes.k(), 1));
  const auto v = attention_tensor<Tensor4>(line(), Shard(2), sizes.v(), 2);
  const auto y = nn::scaled_dot_product_attention(q, k, v);
  tape.backward(y, attention_tensor<Tensor4>(line(), Shard(2), sizes.y(), 3));
  EXPECT_EQ(wrong_attention(y.detach(), expected.y), "");
  EXPECT_EQ(wrong_attention(k.grad(), expected.dk), "");
}

TEST(Attention, on_an_instance_is_the_same) {
  const Sizes4 sizes;
  const auto expected = expected_of(sizes, false);
  const auto q = attention_tensor<Tensor4>(line(), Shard(2), sizes.q(), 0);
  const auto k = attention_tensor<Tensor4>(line(), Shard(2), sizes.k(), 1);
  const auto v = attention_tensor<Tensor4>(line(), Shard(2), sizes.v(), 2);
  const Kokkos::DefaultExecutionSpace instance;
  const auto y = nn::scaled_dot_product_attention(instance, q, k, v);
  instance.fence();
  EXPECT_EQ(wrong_attention(y, expected.y), "");
}

TEST(Attention, of_no_keys_is_zero) {
  for (const auto& options : all_options) {
    if (options.causal) continue;
    const Sizes4 sizes{.queries = 5, .keys = 0};
    const auto q = attention_tensor<Tensor4>(line(), Shard(2), sizes.q(), 0);
    const auto k = attention_tensor<Tensor4>(line(), Shard(2), sizes.k(), 1);
    const auto v = attention_tensor<Tensor4>(line(), Shard(2), sizes.v(), 2);
    EXPECT_EQ(
        wrong_attention(nn::scaled_dot_product_attention(q, k, v, options), Array4(sizes.y()), 0),
        "");
  }
}

/// Returns a tensor of shape (1, 1, n, 1) with these elements.
DTensor<Tensor4> column_of(const std::vector<double>& elements, const Target& target) {
  const Extents shape{1, 1, std::ssize(elements), 1};
  const auto view = detail::allocate<Tensor4>(shape, "column");
  change_on_host(view, [&](const auto& host) {
    for (std::size_t i = 0; i < elements.size(); ++i) host(0, 0, i, 0) = elements[i];
  });
  return distribute_tensor(view, line(), target);
}

TEST(Attention, of_scores_of_minus_infinity_takes_the_other_keys_wherever_they_lie) {
  const double none = -std::numeric_limits<double>::infinity();
  const std::int64_t length = 2 * world_size();
  std::vector<double> ones(static_cast<std::size_t>(length), 1.0), values = ones;
  std::vector<double> scores(static_cast<std::size_t>(length), none);
  scores.back() = 0;  // the last key of the last rank is the only one
  values.back() = 5;
  Array4 last({1, 1, length, 1}), zero({1, 1, length, 1});
  std::ranges::fill(last.values, 5.0);
  for (const auto& options : all_options) {
    if (options.causal) continue;
    for (const Target& target : {Target(Replicate()), Target(Shard(2))}) {
      const auto q = column_of(ones, target), v = column_of(values, target);
      const auto k = column_of(scores, target);
      EXPECT_EQ(wrong_attention(nn::scaled_dot_product_attention(q, k, v, options), last), "");
      const auto nothing = column_of(std::vector<double>(ones.size(), none), target);
      EXPECT_EQ(wrong_attention(nn::scaled_dot_product_attention(q, nothing, v, options), zero, 0),
                "");
      grad::Tape tape;
      const auto x = tape.watch(v);
      tape.backward(ops::sum(nn::scaled_dot_product_attention(q, k, x, options)));
      Array4 weights({1, 1, length, 1});
      weights.values.back() = static_cast<double>(length);
      EXPECT_EQ(wrong_attention(x.grad(), weights), "");
    }
  }
}

TEST(Attention, of_empty_tensors_is_empty) {
  for (const auto& options : all_options)
    for (const auto& sizes : {Sizes4{.batch = 0}, Sizes4{.heads = 0},
                              Sizes4{.queries = 0, .keys = 0}, Sizes4{.outputs = 0}})
      for (const Target& target : {Target(Replicate()), Target(Shard(2)), Target(Shard(0))})
        expect_right(line(), sizes, target, options);
}

TEST(Attention, without_columns_is_the_mean) {
  for (const Target& target : {Target(Replicate()), Target(Shard(2))}) {
    const Sizes4 sizes{.columns = 0, .outputs = 1};
    const auto q = attention_tensor<Tensor4>(line(), target, sizes.q(), 0);
    const auto v = full<Tensor4>(line(), target, sizes.v(), 3.0);
    auto expected = Array4(sizes.y());
    std::ranges::fill(expected.values, 3.0);
    EXPECT_EQ(wrong_attention(nn::scaled_dot_product_attention(q, q, v), expected), "");
  }
}

TEST(Attention, m3_of_equal_scores_is_a_mean_of_values) {
  const Extents shape{1, 1, 8, 1};
  const auto zero = zeros<Tensor4>(line(), Shard(2), shape);
  const auto v = iota<Tensor4>(line(), Shard(2), shape);
  Array4 halves(shape), mean(shape);
  for (std::int64_t i = 0; i < 8; ++i) {
    halves.at(0, 0, i, 0) = static_cast<double>(i) / 2;
    mean.at(0, 0, i, 0) = 3.5;
  }
  for (const bool causal : {true, false}) {
    DTensor<Tensor4> y;
    const auto exchanges = exchanges_in(
        [&] { y = nn::scaled_dot_product_attention(zero, zero, v, {.causal = causal}); });
    EXPECT_EQ(wrong_attention(y, causal ? halves : mean), "");
    EXPECT_EQ(exchanges, world_size() - 1);
  }
}

TEST(Attention, exchanges_n_minus_1_blocks_forward_and_n_backward) {
  const Sizes4 sizes{.queries = 24, .keys = 24};
  const auto n = world_size();
  for (const auto& options : all_options) {
    const bool is_ring = options.method == AttentionMethod::ring;
    grad::Tape tape;
    const auto q = tape.watch(attention_tensor<Tensor4>(line(), HeadTail(2), sizes.q(), 0));
    const auto k = tape.watch(attention_tensor<Tensor4>(line(), HeadTail(2), sizes.k(), 1));
    const auto v = tape.watch(attention_tensor<Tensor4>(line(), HeadTail(2), sizes.v(), 2));
    grad::Variable<Tensor4> y;
    const auto forward =
        exchanges_in([&] { y = nn::scaled_dot_product_attention(q, k, v, options); });
    const auto dy = attention_tensor<Tensor4>(line(), HeadTail(2), sizes.y(), 3);
    const auto backward = exchanges_in([&] { tape.backward(y, dy); });
    EXPECT_EQ(forward, is_ring ? n - 1 : n > 1);
    EXPECT_EQ(backward, n == 1 ? 0 : is_ring ? n : 1);
  }
}

TEST(Attention, receives_all_other_keys_and_values_once) {
  const auto n = world_size();
  const Sizes4 sizes{.queries = 8 * n, .keys = 8 * n};
  const auto q = attention_tensor<Tensor4>(line(), Shard(2), sizes.q(), 0);
  const auto v = attention_tensor<Tensor4>(line(), Shard(2), sizes.v(), 2);
  const CommDebugMode mode;
  nn::scaled_dot_product_attention(q, q, v);
  std::int64_t bytes = 0;
  for (const auto& record : mode.records()) {
    if (record.kind != TraceKind::exchange) continue;
    EXPECT_EQ(record.operation, "scaled_dot_product_attention");
    bytes += record.bytes_received;
  }
  EXPECT_EQ(bytes, (n - 1) * 8 * sizes.batch * sizes.heads * (sizes.columns + sizes.outputs) * 8);
}

TEST(Attention, is_the_same_when_it_is_called_again) {
  const Sizes4 sizes{.queries = 13, .keys = 13};
  const auto expected = expected_of(sizes, true);
  for (int call = 0; call < 3; ++call)
    for (const Target& target : {Target(Shard(2)), Target(HeadTail(2))}) {
      const auto q = attention_tensor<Tensor4>(line(), target, sizes.q(), 0);
      const auto k = attention_tensor<Tensor4>(line(), target, sizes.k(), 1);
      const auto v = attention_tensor<Tensor4>(line(), target, sizes.v(), 2);
      const auto y = nn::scaled_dot_product_attention(q, k, v, {.causal = true});
      EXPECT_EQ(wrong_attention(y, expected.y), "");
    }
}

std::string attention_mismatch(const Target& q, const Target& k, const Target& v) {
  const Sizes4 sizes{.queries = 4 * world_size(), .keys = 4 * world_size()};
  return message_of<PlacementMismatch>([&] {
    nn::scaled_dot_product_attention(zeros<Tensor4>(line(), q, sizes.q()),
                                     zeros<Tensor4>(line(), k, sizes.k()),
                                     zeros<Tensor4>(line(), v, sizes.v()));
  });
}

TEST(Attention, refuses_placements_that_do_not_fit_on_all_ranks) {
  const Target whole = Replicate(), rows = Shard(2);
  EXPECT_NE(attention_mismatch(rows, rows, Shard(1)).find("expected k and v that are split alike"),
            std::string::npos);
  EXPECT_NE(attention_mismatch(Shard(1), rows, rows).find("redistribute k and v"),
            std::string::npos);
  EXPECT_NE(attention_mismatch(whole, rows, rows).find("got q as R, k as S(2)"), std::string::npos);
  EXPECT_NE(attention_mismatch(Shard(3), whole, whole).find("expected whole columns (dim 3)"),
            std::string::npos);
  EXPECT_NE(attention_mismatch(rows, Shard(0), Shard(0)).find("redistribute k and v"),
            std::string::npos);
  if (world_size() > 1) {
    EXPECT_NE(attention_mismatch(rows, rows, HeadTail(2)).find("cut at the same places"),
              std::string::npos);
  }
}

TEST(Attention, refuses_partial_tensors_on_all_ranks) {
  const Extents shape{1, 1, 4, 2};
  const auto q = zeros<Tensor4>(line(), Replicate(), shape);
  const auto partial = from_local(q.to_local(), line(), Target(Partial()), shape);
  const auto text =
      message_of<PlacementMismatch>([&] { nn::scaled_dot_product_attention(q, partial, q); });
  EXPECT_EQ(text.find("scaled_dot_product_attention: expected no Partial, got q as R, k as P(sum)"),
            0U)
      << text;
  EXPECT_NE(text.find("write reduce_partial(k)"), std::string::npos);
}

TEST(Attention, refuses_shapes_that_do_not_fit_on_all_ranks) {
  const auto text_of_shapes = [&](const Extents& q, const Extents& k, const Extents& v,
                                  const Attention& options = {}) {
    return invalid_argument_of([&] {
      nn::scaled_dot_product_attention(zeros<Tensor4>(line(), Shard(2), q),
                                       zeros<Tensor4>(line(), Shard(2), k),
                                       zeros<Tensor4>(line(), Shard(2), v), options);
    });
  };
  const Extents some{2, 3, 8, 4};
  for (const Extents& other : {Extents{1, 3, 8, 4}, Extents{2, 1, 8, 4}, Extents{2, 3, 8, 2}}) {
    const auto text = text_of_shapes(some, other, some);
    EXPECT_EQ(text.find("scaled_dot_product_attention: expected q, k and v of shapes"), 0U) << text;
  }
  EXPECT_NE(text_of_shapes(some, {2, 3, 6, 4}, some), "no error");
  const auto text = text_of_shapes(some, {2, 3, 6, 4}, {2, 3, 6, 4}, {.causal = true});
  EXPECT_NE(text.find("as many queries as keys"), std::string::npos) << text;
  EXPECT_EQ(text_of_shapes(some, {2, 3, 6, 4}, {2, 3, 6, 4}), "no error");
}

TEST(Attention, refuses_other_meshes_and_empty_tensors) {
  const Extents shape{1, 1, 4, 2};
  const auto q = zeros<Tensor4>(line(), all_replicate, shape);
  EXPECT_NE(invalid_argument_of([&] {
              nn::scaled_dot_product_attention(q, DTensor<Tensor4>(), q);
            }).find("empty DTensor"),
            std::string::npos);
  const auto other = zeros<Tensor4>(mesh_of({1, world_size()}), all_replicate, shape);
  EXPECT_NE(message_of<MeshMismatch>([&] {
              nn::scaled_dot_product_attention(q, q, other);
            }).find("expected q, k and v on one mesh"),
            std::string::npos);
}

TEST(Attention, off_the_mesh_is_empty) {
  const auto mesh = mesh_of({std::max(1, world_size() - 1)});
  const Sizes4 sizes{.queries = 6, .keys = 6};
  for (const auto& options : all_options) expect_right(mesh, sizes, Shard(2), options);
}

TEST(Attention, differing_calls_are_an_error_on_all_ranks) {
  if (world_size() == 1) return;
  const Extents shape{1, 1, 8, 2};
  const auto q = zeros<Tensor4>(line(), Shard(2), shape);
  const auto text = invalid_argument_of(
      [&] { nn::scaled_dot_product_attention(q, q, q, {.causal = world_rank() == 0}); });
  EXPECT_NE(text.find("scaled_dot_product_attention"), std::string::npos) << text;
  const auto y = nn::scaled_dot_product_attention(q, q, q);
  EXPECT_EQ(wrong_attention(y, Array4(shape)), "");
}

TEST(Attention, appears_as_an_operator_among_the_records) {
  const auto q = zeros<Tensor4>(line(), Shard(2), {1, 1, 8, 2});
  const CommDebugMode mode;
  nn::scaled_dot_product_attention(q, q, q, {.causal = true});
  EXPECT_EQ(mode.records().back().kind, TraceKind::operation);
  EXPECT_EQ(mode.records().back().operation, "scaled_dot_product_attention");
  EXPECT_NE(mode.records().back().call.find("causal"), std::string::npos);
}

}  // namespace
}  // namespace tessera::test
