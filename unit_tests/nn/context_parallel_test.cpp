// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Scopes in which the sequences of tensors are split over the ranks.
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/nn/attention.hpp>
#include <tessera/nn/context_parallel.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "attention_oracle.hpp"

namespace tessera::test {
namespace {

using nn::ContextParallel;
using Tensor4 = Kokkos::View<double****, Kokkos::LayoutRight, TestSpace>;
using FloatMatrix = Kokkos::View<float**, Kokkos::LayoutLeft, TestSpace>;

DeviceMesh line() {
  return mesh_of({world_size()});
}

/// Returns a tensor of 2 rows and `length` columns, each element of which is its global index.
DTensor<Matrix> rows_of(std::int64_t length, const Target& target = Replicate()) {
  return iota<Matrix>(line(), target, {2, length});
}

template <class V>
std::string wrong_iota(const DTensor<V>& tensor) {
  return wrong_piece(tensor, GlobalIndex(tensor.shape()));
}

TEST(ContextParallel, splits_sequences_by_head_tail_and_puts_the_old_tensors_back) {
  auto x = rows_of(13);
  const auto old = x;
  {
    const ContextParallel cp(line(), {.buffers = {std::ref(x)}, .buffer_seq_dims = {1}});
    EXPECT_EQ(x.placements(), Placements{HeadTail(1)});
    EXPECT_EQ(wrong_iota(x), "");
  }
  EXPECT_EQ(x.spec(), old.spec());
  EXPECT_EQ(x.to_local().data(), old.to_local().data());
}

TEST(ContextParallel, splits_sequences_in_chunks_if_attention_is_not_causal) {
  auto x = rows_of(13);
  const ContextParallel cp(line(),
                           {.buffers = {std::ref(x)}, .buffer_seq_dims = {-1}, .causal = false});
  EXPECT_EQ(x.placements(), Placements{Shard(1)});
  EXPECT_EQ(wrong_iota(x), "");
}

TEST(ContextParallel, moves_buffers_of_all_types_in_one_exchange_and_none_back) {
  auto x = rows_of(12, Shard(1));
  auto y = iota<FloatMatrix>(line(), Cyclic(0, 1), {12, 3});
  auto z = iota<Tensor4>(line(), Shard(0), {2, 3, 12, 1});
  const CommDebugMode mode;
  {
    const ContextParallel cp(
        line(), {.buffers = {std::ref(x), std::ref(y), std::ref(z)}, .buffer_seq_dims = {1, 0, 2}});
    EXPECT_EQ(wrong_iota(x), "");
    EXPECT_EQ(wrong_iota(y), "");
    EXPECT_EQ(wrong_iota(z), "");
    EXPECT_EQ(y.placements(), Placements{HeadTail(0)});
  }
  EXPECT_EQ(mode.get_total_counts(), world_size() > 1 ? 1 : 0);
  EXPECT_EQ(z.placements(), Placements{Shard(0)});
}

TEST(ContextParallel, leaves_no_restore_buffers_as_they_are_in_the_scope) {
  auto x = rows_of(8), y = rows_of(8);
  {
    const ContextParallel cp(line(), {.buffers = {std::ref(x), std::ref(y)},
                                      .buffer_seq_dims = {1, 1},
                                      .no_restore_buffers = {std::ref(y)}});
  }
  EXPECT_EQ(x.placements(), Placements{Replicate()});
  EXPECT_EQ(y.placements(), Placements{HeadTail(1)});
  EXPECT_EQ(wrong_iota(y), "");
}

TEST(ContextParallel, keeps_what_is_changed_in_the_scope_out_of_the_old_tensor) {
  auto x = rows_of(8);
  {
    const ContextParallel cp(line(), {.buffers = {std::ref(x)}, .buffer_seq_dims = {1}});
    x = x + 1.0;
  }
  EXPECT_EQ(wrong_iota(x), "");
}

TEST(ContextParallel, keeps_what_is_written_in_the_scope_out_of_the_old_tensor) {
  for (const Target& target : {Target(Replicate()), Target(HeadTail(1))}) {
    auto x = rows_of(8, target);
    {
      const ContextParallel cp(line(), {.buffers = {std::ref(x)}, .buffer_seq_dims = {1}});
      x += 1.0;
    }
    EXPECT_EQ(wrong_iota(x), "");
  }
}

TEST(ContextParallel, takes_views_that_the_library_cannot_allocate) {
  using Part = Kokkos::View<const double**, Kokkos::LayoutStride, TestSpace>;
  const auto dense = rows_of(9);
  auto x = from_local(Part(dense.to_local()), line(), Target(Replicate()), dense.shape());
  {
    const ContextParallel cp(line(), {.buffers = {std::ref(x)}, .buffer_seq_dims = {1}});
    EXPECT_EQ(x.placements(), Placements{HeadTail(1)});
    EXPECT_EQ(wrong_iota(x), "");
  }
  EXPECT_EQ(x.to_local().data(), dense.to_local().data());
}

TEST(ContextParallel, takes_one_dim_of_the_mesh_of_the_buffers) {
  for (const auto& shape : {std::vector<int>{2, 2}, std::vector<int>{1, 3}}) {
    const auto mesh = mesh_of(shape, {"dp", "cp"});
    if (mesh.is_null()) continue;
    auto x = iota<Matrix>(mesh, {Shard(0), Replicate()}, {4, 10});
    auto y = iota<Matrix>(mesh, {Replicate(), Shard(0)}, {10, 4});
    {
      const ContextParallel cp(mesh["cp"],
                               {.buffers = {std::ref(x), std::ref(y)}, .buffer_seq_dims = {1, 0}});
      EXPECT_EQ(x.placements(), (Placements{Shard(0), HeadTail(1)}));
      EXPECT_EQ(y.placements(), (Placements{Replicate(), HeadTail(0)}));
      EXPECT_EQ(wrong_iota(x), "");
      EXPECT_EQ(wrong_iota(y), "");
    }
    EXPECT_EQ(x.placements(), (Placements{Shard(0), Replicate()}));
  }
}

TEST(ContextParallel, takes_the_dim_of_its_name_among_dims_of_one_rank) {
  const auto mesh = mesh_of({1, 1}, {"dp", "cp"});
  if (!is_on(mesh)) return;
  auto x = iota<Matrix>(mesh, {Replicate(), Shard(1)}, {4, 10});
  auto y = iota<Matrix>(mesh, {Shard(0), Replicate()}, {4, 10});
  const ContextParallel cp(mesh["cp"],
                           {.buffers = {std::ref(x), std::ref(y)}, .buffer_seq_dims = {1, 1}});
  EXPECT_EQ(x.placements(), (Placements{Replicate(), HeadTail(1)}));
  EXPECT_EQ(y.placements(), (Placements{Shard(0), HeadTail(1)}));
}

TEST(ContextParallel, cuts_buffers_alike_whatever_their_cuts_were) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(world_size()), 0);
  sizes.front() = 8;
  auto x = iota<Matrix>(line(), Sizes(1, sizes), {2, 8});
  auto y = rows_of(8);
  for (const bool causal : {true, false}) {
    const ContextParallel cp(
        line(),
        {.buffers = {std::ref(x), std::ref(y)}, .buffer_seq_dims = {1, 1}, .causal = causal});
    EXPECT_EQ(x.spec(), y.spec());
    EXPECT_EQ(wrong_iota(x), "");
  }
}

TEST(ContextParallel, nests) {
  auto x = rows_of(8);
  const nn::ContextParallelOptions options{.buffers = {std::ref(x)}, .buffer_seq_dims = {1}};
  {
    const ContextParallel outer(line(), options);
    {
      const ContextParallel inner(
          line(), {.buffers = {std::ref(x)}, .buffer_seq_dims = {1}, .causal = false});
      EXPECT_EQ(x.placements(), Placements{Shard(1)});
      const ContextParallel again(line(), options);
      EXPECT_EQ(x.placements(), Placements{HeadTail(1)});
    }
    EXPECT_EQ(x.placements(), Placements{HeadTail(1)});
    EXPECT_EQ(wrong_iota(x), "");
  }
  EXPECT_EQ(x.placements(), Placements{Replicate()});
}

TEST(ContextParallel, puts_tensors_back_after_an_exception) {
  auto x = rows_of(8);
  EXPECT_THROW(
      {
        const ContextParallel cp(line(), {.buffers = {std::ref(x)}, .buffer_seq_dims = {1}});
        throw std::runtime_error("in the scope");
      },
      std::runtime_error);
  EXPECT_EQ(x.placements(), Placements{Replicate()});
}

TEST(ContextParallel, without_buffers_does_nothing) {
  const CommDebugMode mode;
  { const ContextParallel cp(line(), {}); }
  EXPECT_EQ(mode.get_total_counts(), 0);
}

TEST(ContextParallel, is_not_copied_or_moved) {
  EXPECT_FALSE(std::is_copy_constructible_v<ContextParallel>);
  EXPECT_FALSE(std::is_move_constructible_v<ContextParallel>);
}

std::string context_parallel_error(const nn::ContextParallelOptions& options) {
  return invalid_argument_of([&] { const ContextParallel cp(line(), options); });
}

TEST(ContextParallel, m4_refuses_numbers_of_buffers_and_dims_that_differ) {
  auto x = rows_of(8), y = rows_of(8);
  const auto text =
      context_parallel_error({.buffers = {std::ref(x), std::ref(y)}, .buffer_seq_dims = {1}});
  EXPECT_EQ(text.find("ContextParallel: expected a sequence dim for each buffer, got 2 buffers and "
                      "1 dims"),
            0U)
      << text;
  EXPECT_EQ(x.placements(), Placements{Replicate()});
}

TEST(ContextParallel, m4_refuses_parameters) {
  grad::Tape tape;
  auto x = rows_of(8);
  auto variable = tape.watch(x);
  nn::Module module("Net");
  auto parameter = module.register_parameter("weight", Matrix("weight", 2, 8));
  for (const nn::BufferRef& ref :
       {nn::BufferRef(std::ref(variable)), nn::BufferRef(std::ref(parameter))}) {
    const auto text =
        context_parallel_error({.buffers = {std::ref(x), ref}, .buffer_seq_dims = {1, 1}});
    EXPECT_NE(text.find("got a Parameter or a Variable as buffer 1"), std::string::npos) << text;
    EXPECT_EQ(context_parallel_error({.buffers = {ref}, .buffer_seq_dims = {1}})
                  .find("ContextParallel: expected tensors as buffers"),
              0U);
  }
  EXPECT_EQ(x.placements(), Placements{Replicate()});
}

TEST(ContextParallel, refuses_wrong_buffers_on_all_ranks) {
  auto x = rows_of(8), y = rows_of(6), other = rows_of(8);
  DTensor<Matrix> none;
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos ? std::string() : text;
  };
  EXPECT_EQ(has(context_parallel_error({.buffers = {std::ref(x)}, .buffer_seq_dims = {2}}),
                "expected a sequence dim from -2 to 1 for buffer 0, got 2"),
            "");
  EXPECT_EQ(has(context_parallel_error(
                    {.buffers = {std::ref(x), std::ref(y)}, .buffer_seq_dims = {1, 1}}),
                "got 8 in buffer 0 and 6 in buffer 1"),
            "");
  EXPECT_EQ(has(context_parallel_error(
                    {.buffers = {std::ref(x), std::ref(x)}, .buffer_seq_dims = {1, 1}}),
                "got one at positions 0 and 1"),
            "");
  EXPECT_EQ(has(context_parallel_error({.buffers = {std::ref(x)},
                                        .buffer_seq_dims = {1},
                                        .no_restore_buffers = {std::ref(other)}}),
                "expected no_restore_buffers among the buffers"),
            "");
  EXPECT_EQ(has(context_parallel_error({.buffers = {std::ref(none)}, .buffer_seq_dims = {0}}),
                "got an empty DTensor as buffer 0"),
            "");
  EXPECT_EQ(x.placements(), Placements{Replicate()});
}

TEST(ContextParallel, refuses_meshes_that_do_not_fit) {
  const auto mesh = mesh_of({1, world_size()});
  auto x = iota<Matrix>(mesh, {Replicate(), Replicate()}, {2, 8});
  EXPECT_NE(invalid_argument_of([&] {
              const ContextParallel cp(mesh, {.buffers = {std::ref(x)}, .buffer_seq_dims = {1}});
            }).find("expected a mesh of one dim"),
            std::string::npos);
  auto y = iota<Matrix>(mesh, {Replicate(), Shard(1)}, {2, 8});
  if (world_size() > 1) {
    EXPECT_NE(invalid_argument_of([&] {
                const ContextParallel cp(mesh[0],
                                         {.buffers = {std::ref(y)}, .buffer_seq_dims = {1}});
              }).find("a sequence that no other mesh dim splits"),
              std::string::npos);
    EXPECT_NE(message_of<MeshMismatch>([&] {
                const ContextParallel cp(mesh_of({world_size() - 1}),
                                         {.buffers = {std::ref(x)}, .buffer_seq_dims = {1}});
              }).find("expected buffers on mesh"),
              std::string::npos);
  }
}

TEST(ContextParallel, differing_calls_are_an_error_on_all_ranks) {
  if (world_size() == 1) return;
  auto x = rows_of(12 * world_size(), Shard(1));
  const auto text = context_parallel_error(
      {.buffers = {std::ref(x)}, .buffer_seq_dims = {world_rank() == 0 ? 1 : 0}});
  EXPECT_NE(text.find("ContextParallel"), std::string::npos) << text;
  EXPECT_EQ(x.placements(), Placements{Shard(1)});
}

TEST(ContextParallel, serves_attention_causal_or_not) {
  for (const std::int64_t length : {7, 24})
    for (const bool causal : {true, false}) {
      const Extents shape{2, 2, length, 4};
      auto q = attention_tensor<Tensor4>(line(), Replicate(), shape, 0);
      auto k = attention_tensor<Tensor4>(line(), Replicate(), shape, 1);
      auto v = attention_tensor<Tensor4>(line(), Replicate(), shape, 2);
      const auto expected =
          serial_attention(attention_array(shape, 0), attention_array(shape, 1),
                           attention_array(shape, 2), attention_array(shape, 3), causal);
      const ContextParallel cp(line(), {.buffers = {std::ref(q), std::ref(k), std::ref(v)},
                                        .buffer_seq_dims = {2, 2, 2},
                                        .causal = causal});
      grad::Tape tape;
      const auto w = tape.watch(q);
      const auto y = nn::scaled_dot_product_attention(w, k, v, {.causal = causal});
      EXPECT_EQ(y.placements(), Placements{causal ? Placement(HeadTail(2)) : Placement(Shard(2))});
      EXPECT_EQ(wrong_attention(y.detach(), expected.y), "");
      tape.backward(y, attention_tensor<Tensor4>(line(), Replicate(), shape, 3));
      EXPECT_EQ(wrong_attention(w.grad(), expected.dq), "");
    }
}

}  // namespace
}  // namespace tessera::test
