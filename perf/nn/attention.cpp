// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures attention of one rank beside plain loops, and that of sequences that are split over the ranks: a
// ring beside an all-gather, with overlap beside without, sequences split by HeadTail beside Shard.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <tessera/tessera.hpp>

#include "../in_turns.hpp"
#include "../measures.hpp"
#include "../peak_memory.hpp"
#include "attention.hpp"
#include "nn/attention_tiles.hpp"
#include "nn/tuning.hpp"

namespace tessera::perf {
namespace {

using nn::Attention;
using nn::AttentionMethod;
using Device = Kokkos::DefaultExecutionSpace::device_type;
using Array = Kokkos::View<double****, Kokkos::LayoutRight, Device>;
using HostArray = Kokkos::View<double****, Kokkos::LayoutRight, Kokkos::HostSpace>;

Extents attention_shape{1, 4, 1024, 64};

struct Operands {
  DTensor<Array> q, k, v, dy;
};

Operands random_operands(const Target& target) {
  const auto random = [&](std::uint64_t seed) {
    return randn<Array>(world(), target, attention_shape, {.seed = seed});
  };
  return {random(1), random(2), random(3), random(4)};
}

/// Computes attention by loops over queries, keys and columns.
void attention_by_loops(const HostArray& q, const HostArray& k, const HostArray& v,
                        const HostArray& y, bool causal) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.extent(3)));
  std::vector<double> weights(k.extent(2));
  for (std::size_t b = 0; b < q.extent(0); ++b)
    for (std::size_t h = 0; h < q.extent(1); ++h)
      for (std::size_t i = 0; i < q.extent(2); ++i) {
        const auto seen = causal ? i + 1 : k.extent(2);
        double most = -INFINITY, sum = 0;
        for (std::size_t j = 0; j < seen; ++j) {
          double score = 0;
          for (std::size_t c = 0; c < q.extent(3); ++c) score += q(b, h, i, c) * k(b, h, j, c);
          weights[j] = score * scale;
          most = std::max(most, weights[j]);
        }
        for (std::size_t j = 0; j < seen; ++j) sum += weights[j] = std::exp(weights[j] - most);
        for (std::size_t c = 0; c < v.extent(3); ++c) y(b, h, i, c) = 0;
        for (std::size_t j = 0; j < seen; ++j)
          for (std::size_t c = 0; c < v.extent(3); ++c)
            y(b, h, i, c) += weights[j] / sum * v(b, h, j, c);
      }
}

/// Returns the operations of the products of attention, in 10^9, of which a causal one needs half.
double giga_operations(bool causal) {
  const auto& shape = attention_shape;
  const auto scores = static_cast<double>(shape[0] * shape[1] * shape[2] * shape[2]);
  return 4e-9 * scores * static_cast<double>(shape[3]) * (causal ? 0.5 : 1);
}

/// Compares attention on each rank alone with plain loops.
void attention_local(benchmark::State& state, bool causal) {
  const auto operands = random_operands(all_replicate);
  const auto on_host = [](const DTensor<Array>& tensor) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tensor.to_local());
  };
  const HostArray q = on_host(operands.q), k = on_host(operands.k), v = on_host(operands.v);
  const HostArray y("y", q.extent(0), q.extent(1), q.extent(2), v.extent(3));
  const auto ours = [&] {
    benchmark::DoNotOptimize(
        nn::scaled_dot_product_attention(operands.q, operands.k, operands.v, {.causal = causal}));
  };
  const auto took = in_turns(ours, [&] { attention_by_loops(q, k, v, y, causal); });
  state.SetIterationTime(took.ours);
  state.counters["other_ms"] = 1e3 * took.other;
  state.counters["ratio"] = took.ours / took.other;
  state.counters["gflops"] = giga_operations(causal) / took.ours;
}

using Run = std::function<void()>;

/// Returns a function that computes attention, or that with gradients.
Run run_of(const Operands& operands, const Attention& options, bool has_gradients) {
  if (!has_gradients)
    return [=] {
      benchmark::DoNotOptimize(
          nn::scaled_dot_product_attention(operands.q, operands.k, operands.v, options));
    };
  return [=] {
    grad::Tape tape;
    const auto q = tape.watch(operands.q), k = tape.watch(operands.k), v = tape.watch(operands.v);
    tape.backward(nn::scaled_dot_product_attention(q, k, v, options), operands.dy);
    benchmark::DoNotOptimize(q.grad());
  };
}

/// Returns the most memory of Views at the same time, in pieces of a tensor.
double pieces_in(const Run& run, const Operands& operands) {
  set_recycling(world(), 0);
  const PeakMemory memory;
  run();
  set_recycling(world(), std::int64_t{512} << 20);
  return static_cast<double>(memory.peak()) /
         static_cast<double>(operands.q.to_local().size() * sizeof(double));
}

/// Compares a ring with an all-gather.
void attention_ring(benchmark::State& state, bool causal, bool has_gradients) {
  const auto operands = random_operands(causal ? Target(HeadTail(2)) : Target(Shard(2)));
  const Attention by_ring{.causal = causal};
  const Attention by_gather{.causal = causal, .method = AttentionMethod::all_gather};
  const auto attend = [&](const Attention& options) {
    return nn::scaled_dot_product_attention(operands.q, operands.k, operands.v, options);
  };
  if (!(difference(attend(by_ring), attend(by_gather)) <= 1e-12))
    state.SkipWithError("other results");
  const auto ours = run_of(operands, by_ring, has_gradients);
  const auto other = run_of(operands, by_gather, has_gradients);
  state.counters["exchanges"] = exchanges_of(ours);
  state.counters["other_exchanges"] = exchanges_of(other);
  state.counters["pieces"] = pieces_in(ours, operands);
  state.counters["other_pieces"] = pieces_in(other, operands);
  compare(state, ours, other);
}

/// Compares a ring that computes while blocks are under way with one that waits for them first.
void attention_overlap(benchmark::State& state, bool has_gradients) {
  const auto operands = random_operands(Shard(2));
  compare(state, run_of(operands, {}, has_gradients),
          run_of(operands, {.overlap = false}, has_gradients));
}

/// Returns the scores that the busiest rank computes, relative to the mean of all ranks.
double busiest_to_mean(const DTensorSpec& spec) {
  const auto& split = spec.split(2);
  std::vector<double> work;
  double sum = 0;
  for (int of_queries = 0; of_queries < split.parts(); ++of_queries) {
    auto& scores = work.emplace_back(0);
    for (int of_keys = 0; of_keys < split.parts(); ++of_keys)
      scores += static_cast<double>(
          detail::computed_scores({split.part(of_queries), split.part(of_keys)},
                                  detail::queries_at_once, detail::keys_at_once));
    sum += scores;
  }
  return *std::ranges::max_element(work) * static_cast<double>(work.size()) / sum;
}

/// Compares causal attention of a sequence split by HeadTail with that of one split by Shard.
void attention_head_tail(benchmark::State& state, bool has_gradients) {
  const auto head_tail = random_operands(HeadTail(2)), shard = random_operands(Shard(2));
  state.counters["work"] = busiest_to_mean(head_tail.q.spec());
  state.counters["other_work"] = busiest_to_mean(shard.q.spec());
  const Attention causal{.causal = true};
  compare(state, run_of(head_tail, causal, has_gradients), run_of(shard, causal, has_gradients));
}

}  // namespace

void add_attention(bool is_brief) {
  if (is_brief) attention_shape = {1, 2, 96, 16};
  const auto add_row = [](const std::string& name, const Benchmark& run) {
    add(name, run, benchmark::kMillisecond);
  };
  for (const bool causal : {false, true}) {
    const std::string kind = causal ? "/causal" : "";
    add_row("attention_local" + kind, [=](auto& state) { attention_local(state, causal); });
    for (const bool has_gradients : {false, true})
      add_row("attention_ring" + kind + (has_gradients ? "/gradients" : ""),
              [=](auto& state) { attention_ring(state, causal, has_gradients); });
  }
  for (const bool has_gradients : {false, true}) {
    const std::string kind = has_gradients ? "/gradients" : "";
    add_row("attention_overlap" + kind,
            [=](auto& state) { attention_overlap(state, has_gradients); });
    add_row("attention_head_tail" + kind,
            [=](auto& state) { attention_head_tail(state, has_gradients); });
  }
}

}  // namespace tessera::perf
