// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures gradients by a tape beside the same computed by hand, and the memory of a tape for a
// time loop beside that of a checkpointed one.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <tessera/tessera.hpp>

#include "../in_turns.hpp"
#include "../measures.hpp"
#include "../peak_memory.hpp"

namespace tessera::perf {
namespace {

using Device = Kokkos::DefaultExecutionSpace::device_type;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Device>;
using Tensor = DTensor<Matrix>;
using Gradient = DTensor<Matrix::const_type>;

std::int64_t batch = 1024;      // rows of the input
std::int64_t width = 512;       // columns of the input, edge of the weights
std::int64_t state_edge = 128;  // edge of the state of the time loop

constexpr int steps = 1000;
constexpr int snapshots = 10;

struct Network {
  Tensor x;       ///< split by rows
  Tensor w1, w2;  ///< replicated
};

Network random_network() {
  const Extents shape{width, width};
  return {rand<Matrix>(world(), Shard(0), {batch, width}, {.seed = 1}),
          randn<Matrix>(world(), Replicate(), shape, {.seed = 2}),
          randn<Matrix>(world(), Replicate(), shape, {.seed = 3})};
}

/// Returns the gradients of the mean of relu(x w1) w2 with respect to the weights.
std::array<Gradient, 2> gradients_by_tape(const Network& network) {
  grad::Tape tape;
  const auto w1 = tape.watch(network.w1), w2 = tape.watch(network.w2);
  const auto hidden = ops::relu(ops::matmul(network.x, w1));
  tape.backward(ops::mean(ops::matmul(hidden, w2)));
  return {w1.grad(), w2.grad()};
}

/// Computes the same without a tape. Both gradients are reduced in one exchange.
std::array<Tensor, 2> gradients_by_hand(const Network& network) {
  const auto hidden = ops::relu(ops::matmul(network.x, network.w1));
  const auto y = ops::matmul(hidden, network.w2);
  benchmark::DoNotOptimize(ops::mean(y));
  const auto dy = full_like(y, 1 / static_cast<double>(y.size()));
  const auto dw2 = ops::matmul(transpose(hidden), dy);
  const auto of_hidden = ops::matmul(dy, transpose(network.w2));
  const auto masked = ops::where(hidden > 0, of_hidden, 0);
  const auto dw1 = ops::matmul(transpose(network.x), masked);
  return redistribute_all(std::array{dw1, dw2}, Replicate());
}

void network(benchmark::State& state) {
  const auto parts = random_network();
  const auto by_tape = gradients_by_tape(parts);
  const auto by_hand = gradients_by_hand(parts);
  for (std::size_t i = 0; i < by_tape.size(); ++i)
    if (!(difference(by_tape[i], by_hand[i]) <= 1e-12)) state.SkipWithError("other gradients");
  const auto ours = [&] { benchmark::DoNotOptimize(gradients_by_tape(parts)); };
  const auto other = [&] { benchmark::DoNotOptimize(gradients_by_hand(parts)); };
  state.counters["exchanges"] = exchanges_of(ours);
  state.counters["other_exchanges"] = exchanges_of(other);
  compare(state, ours, other);
}

/// Is one step of a time loop. Its adjoint needs the state before the step.
struct Step {
  template <class U>
  auto operator()(const U& u, int /*step*/) const {
    return 0.9 * ops::sin(u) + 0.1 * u;
  }
};

Gradient gradient_by_plain_tape(const Tensor& start) {
  grad::Tape tape;
  const auto first = tape.watch(start);
  auto u = first;
  for (int i = 0; i < steps; ++i) u = Step()(u, i);
  tape.backward(ops::sum(u));
  return first.grad();
}

Gradient gradient_by_checkpoints(const Tensor& start) {
  grad::Tape tape;
  const auto first = tape.watch(start);
  const auto u = grad::checkpoint(Step(), first, {.steps = steps, .snapshots = snapshots});
  tape.backward(ops::sum(u));
  return first.grad();
}

/// Returns the most memory of Views that a call holds at the same time, in states of this rank. No
/// memory of earlier results is used again meanwhile: it would not count.
double peak_of(const std::function<void()>& call, const Tensor& start) {
  set_recycling(world(), 0);
  const PeakMemory memory;
  call();
  set_recycling(world(), std::int64_t{512} << 20);
  return static_cast<double>(memory.peak()) /
         static_cast<double>(start.to_local().size() * sizeof(double));
}

/// Computes the gradient of a time loop. The counters compare memory, beside the time.
void time_loop(benchmark::State& state) {
  const auto start = rand<Matrix>(world(), Shard(0), {state_edge, state_edge}, {.seed = 1});
  if (!(difference(gradient_by_checkpoints(start), gradient_by_plain_tape(start)) <= 1e-12))
    state.SkipWithError("other gradients");
  const auto ours = [&] { benchmark::DoNotOptimize(gradient_by_checkpoints(start)); };
  const auto other = [&] { benchmark::DoNotOptimize(gradient_by_plain_tape(start)); };
  state.counters["states"] = peak_of(ours, start);
  state.counters["other_states"] = peak_of(other, start);
  compare(state, ours, other);
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  using namespace tessera;
  const ScopeGuard guard(argc, argv);
  std::vector<char*> arguments(argv, argv + argc);
  if (perf::take_brief(arguments)) {
    perf::batch = 64;
    perf::width = 32;
    perf::state_edge = 16;
  }
  perf::add("network", perf::network, benchmark::kMillisecond);
  perf::add("time_loop", perf::time_loop, benchmark::kMillisecond);
  return perf::run_benchmarks(static_cast<int>(arguments.size()), arguments.data(),
                              perf::world().rank());
}
