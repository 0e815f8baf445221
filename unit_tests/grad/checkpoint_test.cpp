// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Functions and loops that run again in the backward pass.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <tessera/grad/checkpoint.hpp>
#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/linear_algebra.hpp>
#include <tessera/grad/tape.hpp>

#include "../ops/named.hpp"

namespace tessera::test {
namespace {

using grad::Tape;

DTensor<Vector> one_two_three() {
  return listed<Vector>(line(), Shard(0), {3}, {1, 2, 3});
}

/// Multiplies variables, and counts how often.
struct CountedProduct {
  int* calls;

  template <class A, class B>
  auto operator()(const A& a, const B& b) const {
    ++*calls;
    return ops::multiply(ops::multiply(a, b), b);
  }
};

TEST(Checkpoint, has_the_gradients_of_the_function) {
  Tape tape, plain;
  const auto x = tape.watch(one_two_three()), w = tape.watch(one_two_three());
  const auto a = plain.watch(one_two_three()), b = plain.watch(one_two_three());
  int calls = 0, plain_calls = 0;
  const auto y = grad::checkpoint(CountedProduct{&calls}, x, w);
  EXPECT_EQ(calls, 1);
  tape.backward(y, one_two_three());
  plain.backward(CountedProduct{&plain_calls}(a, b), one_two_three());

  EXPECT_EQ(calls, 2);
  expect_elements(y.detach(), ElementsAre(1, 8, 27));
  EXPECT_EQ(all_elements(x.grad()), all_elements(a.grad()));
  EXPECT_EQ(all_elements(w.grad()), all_elements(b.grad()));
}

TEST(Checkpoint, of_inputs_that_are_no_variables_or_are_local) {
  Tape tape;
  const auto x = tape.watch_local(iota_view<Vector>({3}));
  int calls = 0;
  const auto y = grad::checkpoint(CountedProduct{&calls}, x, 2.0);
  tape.backward(y, iota_view<Vector>({3}));
  EXPECT_THAT(elements_of(x.grad()), ElementsAre(0, 4, 8));

  const auto w = tape.watch(one_two_three());
  tape.backward(grad::checkpoint(CountedProduct{&calls}, one_two_three(), w), one_two_three());
  expect_elements(w.grad(), ElementsAre(2, 16, 54));
}

TEST(Checkpoint, within_a_checkpoint) {
  Tape tape;
  const auto x = tape.watch(one_two_three());
  int calls = 0;
  const auto outer = [&](const auto& a) {
    const auto inner = grad::checkpoint(CountedProduct{&calls}, a, a);
    return ops::multiply(inner, 2);
  };
  tape.backward(grad::checkpoint(outer, x), ones_like(one_two_three()));

  EXPECT_EQ(calls, 3);
  expect_elements(x.grad(), ElementsAre(6, 24, 54));
}

TEST(Checkpoint, runs_for_each_backward_pass_that_is_retained) {
  Tape tape;
  const auto x = tape.watch(one_two_three());
  int calls = 0;
  const auto y = grad::checkpoint(CountedProduct{&calls}, x, 1.0);
  tape.backward(y, one_two_three(), {.retain = true});
  tape.backward(y, one_two_three());

  EXPECT_EQ(calls, 3);
  expect_elements(x.grad(), ElementsAre(2, 4, 6));
}

TEST(Checkpoint, gradients_of_one_input_travel_together) {
  Tape tape;
  const auto x = iota<Matrix>(line(), Shard(0), {8, 2});
  const auto w = tape.watch(ones<Matrix>(line(), Replicate(), {2, 2}));
  const auto layer = [](const auto& a, const auto& b) { return ops::matmul(a, b); };
  const auto y = grad::checkpoint(layer, grad::checkpoint(layer, x, w), w);
  const Traffic traffic;
  tape.backward(y, ones<Matrix>(line(), Shard(0), {8, 2}));

  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(w.grad().placements(), Placements{Replicate()});
  // X W has equal columns of sums 120; its gradient is 2 everywhere.
  expect_elements(w.grad(), ElementsAre(120 + 112, 120 + 112, 120 + 128, 120 + 128));
}

TEST(Checkpoint, refuses_recorded_variables_that_are_no_inputs) {
  Tape tape;
  const auto x = tape.watch(one_two_three()), w = tape.watch(one_two_three());
  const auto message = invalid_argument_of(
      [&] { grad::checkpoint([&](const auto& a) { return ops::multiply(a, w); }, x); });

  EXPECT_THAT(message,
              HasSubstr("checkpoint: expected the function to use variables that it gets"));
}

TEST(Checkpoint, is_a_call_in_a_no_record_scope) {
  Tape tape;
  const auto x = tape.watch(one_two_three());
  const grad::NoRecordScope plain;
  int calls = 0;
  const auto y = grad::checkpoint(CountedProduct{&calls}, x, x);

  EXPECT_EQ(calls, 1);
  expect_elements(y.detach(), ElementsAre(1, 8, 27));
  EXPECT_THROW(tape.backward(y, one_two_three()), InvalidArgument);
}

/// Is a step u - 0.01 u² p. It counts calls, and the other states that are alive.
class CountedStep {
 public:
  template <class U, class P>
  auto operator()(const U& u, int, const P& p) const {
    look(u.device_mesh(), u.detach().to_local());
    ++counts->calls;
    return ops::subtract(u, ops::multiply(ops::multiply(ops::multiply(u, u), 0.01), p));
  }

  struct Counts {
    std::map<const double*, Vector> states;
    int calls = 0;
    int most_alive = 0;
  };
  Counts* counts;

 private:
  void look(const DeviceMesh& mesh, const Vector& state) const {
    auto& states = counts->states;
    std::erase_if(states, [&](const auto& seen) {
      // One use of each state is that of this list; another one may be that of the recycler.
      const int others = detail::recycler(mesh).keeps(seen.first) ? 2 : 1;
      return seen.second.use_count() == others;
    });
    const auto alive = static_cast<int>(states.size() - states.count(state.data()));
    counts->most_alive = std::max(counts->most_alive, alive);
    states.insert_or_assign(state.data(), state);
  }
};

/// Returns the least number of steps that are not recorded, by trying all positions of snapshots.
int least_advances(int steps, int snapshots) {
  if (steps == 1) return 0;
  if (snapshots == 1) return steps * (steps - 1) / 2;
  int least = steps * steps;
  for (int m = 1; m < steps; ++m)
    least = std::min(least,
                     m + least_advances(steps - m, snapshots - 1) + least_advances(m, snapshots));
  return least;
}

/// Holds the gradients of a loop with respect to its first state and its parameter.
struct LoopGradients {
  std::vector<double> value, state, parameter;
  friend bool operator==(const LoopGradients&, const LoopGradients&) = default;
};

DTensor<Vector> first_state() {
  return listed<Vector>(line(), Shard(0), {8}, {1, 2, 3, 4, 5, 6, 7, 8});
}

LoopGradients gradients_without_checkpoints(int steps) {
  Tape tape;
  CountedStep::Counts counts;
  const auto u = tape.watch(first_state()), p = tape.watch(first_state());
  auto state = u;
  for (int i = 0; i < steps; ++i) state = CountedStep{&counts}(state, i, p);
  tape.backward(state, ones_like(first_state()));
  return {all_elements(state.detach()), all_elements(u.grad()), all_elements(p.grad())};
}

LoopGradients gradients_with_checkpoints(int steps, int snapshots, CountedStep::Counts& counts) {
  Tape tape;
  const auto u = tape.watch(first_state()), p = tape.watch(first_state());
  const auto state =
      grad::checkpoint(CountedStep{&counts}, u, {.steps = steps, .snapshots = snapshots}, p);
  EXPECT_EQ(counts.calls, steps);
  tape.backward(state, ones_like(first_state()));
  return {all_elements(state.detach()), all_elements(u.grad()), all_elements(p.grad())};
}

TEST(CheckpointedLoop, has_the_gradients_of_the_loop_after_as_few_steps_as_is_possible) {
  for (const int steps : {1, 2, 7, 12})
    for (const int snapshots : {1, 2, 3, 20}) {
      CountedStep::Counts counts;
      const auto got = gradients_with_checkpoints(steps, snapshots, counts);

      EXPECT_EQ(got, gradients_without_checkpoints(steps)) << steps << " steps, " << snapshots;
      EXPECT_EQ(counts.calls, steps + least_advances(steps, snapshots));
      EXPECT_LE(counts.most_alive, snapshots);
    }
}

TEST(CheckpointedLoop, keeps_as_many_states_as_there_are_snapshots) {
  CountedStep::Counts counts;
  gradients_with_checkpoints(12, 3, counts);
  // On ranks without elements no state has memory.
  if (first_state().local_shape()[0] > 0) {
    EXPECT_EQ(counts.most_alive, 3);
  }
}

TEST(CheckpointedLoop, of_1000_steps_keeps_10_states) {
  CountedStep::Counts counts;
  gradients_with_checkpoints(1000, 10, counts);

  // Each step is recorded once. Before that, steps run 4 · 1000 - 14! / (11! 3!) times.
  EXPECT_EQ(counts.calls, 1000 + 3636);
  if (first_state().local_shape()[0] > 0) {
    EXPECT_EQ(counts.most_alive, 10);
  }
}

/// Counts the bytes that Kokkos has allocated while it lives; only one may live at a time.
class LiveBytes {
 public:
  LiveBytes() : before_(tools::get_callbacks()) {
    live = most = 0;
    tools::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t bytes) {
          live += static_cast<std::int64_t>(bytes);
          most = std::max(most, live);
        });
    tools::set_deallocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t bytes) {
          live -= static_cast<std::int64_t>(bytes);
        });
  }
  ~LiveBytes() { tools::set_callbacks(before_); }
  LiveBytes(const LiveBytes&) = delete;
  LiveBytes& operator=(const LiveBytes&) = delete;

  /// Returns the most bytes at a time.
  std::int64_t peak() const { return most; }

 private:
  inline static std::int64_t live = 0, most = 0;
  tools::EventSet before_;
};

/// Returns the most bytes that were allocated during a loop and its backward pass, as a multiple of
/// the bytes of a state.
std::int64_t states_allocated(int steps, int snapshots) {
  Tape tape;
  const std::int64_t extent = 1 << 12;
  const auto u = tape.watch(zeros<Vector>(line(), Shard(0), {world_size() * extent}));
  const auto dy = ones_like(u.detach());
  const auto step = [](const auto& a, int) { return ops::add(ops::multiply(a, a), 0.1); };
  const LiveBytes bytes;
  tape.backward(grad::checkpoint(step, u, {.steps = steps, .snapshots = snapshots}), dy);
  return bytes.peak() / (extent * static_cast<std::int64_t>(sizeof(double)));
}

TEST(CheckpointedLoop, of_1000_steps_allocates_memory_for_10_states_and_one_step) {
  // Operators keep up to 16 results, whose memory they use again. A step and its adjoint need at
  // most 10 arrays.
  EXPECT_LE(states_allocated(1000, 10), 10 + 16 + 10);
}

TEST(CheckpointedLoop, refuses_recorded_variables_that_are_no_parameters) {
  Tape tape;
  const auto u = tape.watch(first_state()), w = tape.watch(first_state());
  const auto message = invalid_argument_of([&] {
    grad::checkpoint([&](const auto& a, int) { return ops::multiply(a, w); }, u,
                     {.steps = 3, .snapshots = 2});
  });

  EXPECT_THAT(message,
              HasSubstr("checkpoint: expected the function to use variables that it gets"));
}

TEST(CheckpointedLoop, of_no_steps_is_its_state) {
  Tape tape;
  CountedStep::Counts counts;
  const auto u = tape.watch(first_state());
  const auto state = grad::checkpoint(CountedStep{&counts}, u, {.steps = 0, .snapshots = 2}, 1.0);
  tape.backward(state, first_state());

  EXPECT_EQ(counts.calls, 0);
  EXPECT_EQ(all_elements(u.grad()), all_elements(first_state()));
}

TEST(CheckpointedLoop, takes_a_first_state_that_is_no_variable) {
  Tape tape;
  const auto p = tape.watch(first_state());
  const auto step = [](const auto& u, int i, const auto& c) {
    return ops::add(u, ops::multiply(c, static_cast<double>(i)));
  };
  const auto state = grad::checkpoint(step, first_state(), {.steps = 4, .snapshots = 2}, p);
  tape.backward(state, ones_like(first_state()));

  expect_elements(p.grad(), testing::Each(6));
}

TEST(CheckpointedLoop, gradients_of_parameters_travel_once) {
  Tape tape;
  const auto u = iota<Matrix>(line(), Shard(0), {8, 2});
  const auto w = tape.watch(listed<Matrix>(line(), Replicate(), {2, 2}, {0, 1, 1, 0}));
  const auto step = [](const auto& a, int, const auto& b) { return ops::matmul(a, b); };
  const auto state = grad::checkpoint(step, u, {.steps = 6, .snapshots = 2}, w);
  const Traffic traffic;
  tape.backward(state, ones<Matrix>(line(), Shard(0), {8, 2}));

  EXPECT_EQ(traffic.exchanges(), one());
  // Three steps have a state with columns that sum to 56 and 64, three the exchanged ones.
  expect_elements(w.grad(), testing::Each(3 * (56 + 64)));
}

TEST(CheckpointedLoop, begins_again_after_a_backward_pass_that_is_retained) {
  Tape tape;
  CountedStep::Counts counts;
  const auto u = tape.watch(first_state());
  const auto state = grad::checkpoint(CountedStep{&counts}, u, {.steps = 7, .snapshots = 2}, 1.0);
  tape.backward(state, ones_like(first_state()), {.retain = true});
  const auto once = all_elements(u.grad());
  tape.zero_grad();
  tape.backward(state, ones_like(first_state()));

  EXPECT_EQ(all_elements(u.grad()), once);
  EXPECT_EQ(counts.calls, 2 * (7 + least_advances(7, 2)));
}

TEST(CheckpointedLoop, without_a_variable_runs_the_steps) {
  CountedStep::Counts counts;
  const auto state =
      grad::checkpoint(CountedStep{&counts}, first_state(), {.steps = 5, .snapshots = 2}, 0.0);

  EXPECT_EQ(counts.calls, 5);
  EXPECT_EQ(all_elements(state.detach()), all_elements(first_state()));
}

TEST(CheckpointedLoop, numbers_are_checked) {
  Tape tape;
  CountedStep::Counts counts;
  const auto u = tape.watch(first_state());
  const auto call = [&](const grad::LoopOptions& options) {
    return invalid_argument_of([&] { grad::checkpoint(CountedStep{&counts}, u, options, 1.0); });
  };

  EXPECT_THAT(call({.steps = -1, .snapshots = 1}),
              HasSubstr("checkpoint: expected at least 0 steps, got -1"));
  EXPECT_THAT(call({.steps = 3, .snapshots = 0}),
              HasSubstr("checkpoint: expected at least 1 snapshot, got 0"));
}

}  // namespace
}  // namespace tessera::test
