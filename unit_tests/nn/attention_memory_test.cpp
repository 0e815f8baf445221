// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// How much memory attention takes on a rank.
#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include <tessera/nn/attention.hpp>

#include "../support/meshes.hpp"
#include "attention_oracle.hpp"
#include "nn/attention_kernel.hpp"
#include "nn/tuning.hpp"

namespace tessera::test {
namespace {

using nn::AttentionMethod;
using Tensor4 = Kokkos::View<double****, Kokkos::LayoutRight, TestSpace>;

/// Counts the bytes of Views while it lives, as the tools of Kokkos see them: what is allocated less what is freed.
class CountedMemory {
 public:
  CountedMemory() : before_(Kokkos::Tools::Experimental::get_callbacks()) {
    now() = most() = 0;
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t size) {
          now() += static_cast<std::int64_t>(size);
          most() = std::max(most(), now());
        });
    Kokkos::Tools::Experimental::set_deallocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t size) {
          now() -= static_cast<std::int64_t>(size);
        });
  }
  ~CountedMemory() { Kokkos::Tools::Experimental::set_callbacks(before_); }
  CountedMemory(const CountedMemory&) = delete;
  CountedMemory& operator=(const CountedMemory&) = delete;

  std::int64_t peak() const { return most(); }

 private:
  static std::int64_t& now() {
    static std::int64_t bytes = 0;
    return bytes;
  }
  static std::int64_t& most() {
    static std::int64_t bytes = 0;
    return bytes;
  }

  Kokkos::Tools::Experimental::EventSet before_;
};

/// Holds the most bytes of a rank at a time beside its operands.
struct Peaks {
  std::int64_t forward, with_gradients;
};

Peaks peaks_of(AttentionMethod method, std::int64_t length) {
  const auto mesh = mesh_of({world_size()});
  const Extents shape{1, 1, length, 64};
  const auto tensor = [&](int operand) {
    return attention_tensor<Tensor4>(mesh, HeadTail(2), shape, operand);
  };
  const auto a = tensor(0), b = tensor(1), c = tensor(2), dy = tensor(3);
  Peaks peaks{};
  for (int round = 0; round < 2; ++round) {
    {
      const CountedMemory memory;
      nn::scaled_dot_product_attention(a, b, c, {.causal = true, .method = method});
      peaks.forward = memory.peak();
    }
    const CountedMemory memory;
    grad::Tape tape;
    const auto q = tape.watch(a), k = tape.watch(b), v = tape.watch(c);
    tape.backward(nn::scaled_dot_product_attention(q, k, v, {.causal = true, .method = method}),
                  dy);
    peaks.with_gradients = memory.peak();
  }
  return peaks;
}

/// Returns the number of rows of the largest piece.
std::int64_t rows_of_rank(std::int64_t length) {
  const auto half = 2 * world_size();
  return 2 * ((length + half - 1) / half);
}

/// Returns the bytes of the scores of a tile for each thread, with as many keys as a rank computes with at once. They do
/// not grow with the sequence.
std::int64_t bytes_of_tile(std::int64_t queries, std::int64_t keys) {
  using detail::keys_at_once, detail::queries_at_once, detail::rows_at_once_of_all;
  const auto kernel = detail::attention_kernel_for(element_type<double>(), memory_space<Tensor4>);
  if (kernel == detail::AttentionKernel::by_tiles)
    return Kokkos::DefaultHostExecutionSpace().concurrency() * queries_at_once * keys_at_once * 8;
  return std::min(rows_at_once_of_all, queries) * std::min(rows_at_once_of_all, keys) * 8;
}

/// Expects the bytes of so many pieces, besides tiles with all these keys and some numbers of each row.
void expect_pieces(std::int64_t bytes, std::int64_t pieces, std::int64_t tiles, std::int64_t length,
                   std::int64_t keys) {
  const auto rows = rows_of_rank(length);
  const auto piece = rows * 64 * 8;
  const auto little = tiles * bytes_of_tile(rows, keys) + 4 * rows * 8;
  EXPECT_GE(bytes, (pieces - 1) * piece) << "sequence " << length;
  EXPECT_LE(bytes, pieces * piece + little) << "sequence " << length;
}

/// A ring holds the result and two blocks of keys with values, each of two pieces. With gradients it holds five
/// pieces and six blocks, however many ranks there are: with two ranks five blocks, with one rank none.
TEST(AttentionMemory, of_a_ring_is_a_number_of_pieces_for_all_sequences_and_ranks) {
  const auto ranks = world_size();
  for (const std::int64_t length : {1024, 2048, 4096}) {
    const auto ring = peaks_of(AttentionMethod::ring, length);
    const auto keys = rows_of_rank(length);
    expect_pieces(ring.forward, ranks == 1 ? 1 : 5, 1, length, keys);
    expect_pieces(ring.with_gradients, ranks == 1 ? 5 : ranks == 2 ? 15 : 17, 2, length, keys);
  }
}

TEST(AttentionMemory, of_an_all_gather_grows_with_the_ranks) {
  if (world_size() < 2) return;
  constexpr std::int64_t length = 2048;
  const auto gathered = peaks_of(AttentionMethod::all_gather, length);
  expect_pieces(gathered.forward, 2 * world_size() + 1, 1, length, length);
  expect_pieces(gathered.with_gradients, 4 * world_size() + 5, 2, length, length);
}

}  // namespace
}  // namespace tessera::test
