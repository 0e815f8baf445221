// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// How much memory attention takes on a rank.
#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include <tessera/nn/attention.hpp>

#include "../support/meshes.hpp"
#include "attention_oracle.hpp"
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

/// Returns the bytes of the scores of tiles, which do not grow with the sequence.
std::int64_t bytes_of_tiles() {
  return 2 *
         std::max(detail::queries_at_once * detail::keys_at_once,
                  detail::rows_at_once_of_all * detail::rows_at_once_of_all) *
         8;
}

TEST(AttentionMemory, of_a_ring_is_some_pieces_of_a_rank) {
  constexpr std::int64_t length = 4096;
  const auto piece = length / world_size() * 64 * 8;
  const auto ring = peaks_of(AttentionMethod::ring, length);
  // The result, two blocks of keys and values, and messages; no block with one rank.
  EXPECT_LT(ring.forward, 10 * piece + bytes_of_tiles());
  EXPECT_LT(ring.with_gradients, 28 * piece + bytes_of_tiles());
  const auto scores = length / world_size() * length * 8;
  EXPECT_LT(ring.with_gradients, scores);
}

TEST(AttentionMemory, of_a_ring_is_less_than_that_of_an_all_gather) {
  if (world_size() < 4) return;
  constexpr std::int64_t length = 8192;
  EXPECT_LT(peaks_of(AttentionMethod::ring, length).forward,
            peaks_of(AttentionMethod::all_gather, length).forward);
}

}  // namespace
}  // namespace tessera::test
