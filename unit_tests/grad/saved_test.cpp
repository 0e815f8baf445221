// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Calls that write to what a tape keeps for its backward pass.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <tessera/grad/checkpoint.hpp>
#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/function.hpp>
#include <tessera/grad/reductions.hpp>
#include <tessera/grad/tape.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>

#include "../ops/named.hpp"

namespace tessera::test {
namespace {

using grad::Tape;
using testing::AllOf;
using testing::Each;
using testing::StartsWith;
using Tensor = DTensor<Matrix>;

const Extents shape{12, 4};  // 1, 2, 3 and 4 ranks have pieces of equal extents

Tensor numbers(const Target& target = Shard(0)) {
  return iota<Matrix>(line(), target, shape);
}

/// Is a call that writes to `x`, a tensor as numbers() makes it.
struct WritingCall {
  std::string name;  ///< in errors
  std::function<void(const Tensor& x)> write;
};

Box own_box(const Tensor& x) {
  return {x.global_offset(), x.local_shape()};
}

Matrix own_patch(const Tensor& x) {
  return iota_view<Matrix>(x.local_shape());
}

std::vector<WritingCall> calls_of_operators() {
  return {
      {"operator+", [](const Tensor& x) { x += 1; }},
      {"operator-", [](const Tensor& x) { x -= numbers(); }},
      {"operator*", [](const Tensor& x) { x *= contributions<Matrix>(ReduceOp::sum, shape); }},
      {"operator/", [](const Tensor& x) { x /= 2; }},
      {"map_into", [](const Tensor& x) { map_into(x, MultiplyAdd(), x, x, numbers()); }},
      {"deep_copy", [](const Tensor& x) { tessera::deep_copy(x, 1); }},
      {"deep_copy", [](const Tensor& x) { tessera::deep_copy(x, numbers()); }},
  };
}

std::vector<WritingCall> calls_of_redistribution() {
  return {
      {"redistribute_into",
       [](const Tensor& x) { redistribute_into(x, numbers(), {.alpha = 2, .beta = 1}); }},
      {"redistribute_into", [](const Tensor& x) { redistribute_into(x, numbers(Shard(1))); }},
      {"redistribute_into",
       [](const Tensor& x) {
         redistribute_into(x, contributions<MatrixOf<float>>(ReduceOp::sum, shape));
       }},
      {"redistribute", [](const Tensor& x) { redistribute(x, Shard(1), {.donate_source = true}); }},
      {"redistribute_async",
       [](const Tensor& x) { redistribute_async(x, Shard(1), {.donate_source = true}).wait(); }},
      {"redistribute_all",
       [](const Tensor& x) {
         redistribute_all(std::vector{numbers(), x}, Replicate(), {.donate_source = true});
       }},
      {"Redistributor::execute",
       [](const Tensor& x) {
         const auto columns = numbers(Shard(1));
         const auto move = make_plan<Matrix>(columns.spec(), x.spec()).bind(line());
         move.execute(columns.to_local(), x.to_local());
       }},
      {"broadcast_into", [](const Tensor& x) { broadcast_into(x.to_local(), 0, line(), 0); }},
  };
}

std::vector<WritingCall> calls_of_fetchers() {
  return {
      {"Fetcher::fetch",
       [](const Tensor& x) { make_fetch(x, own_box(x)).fetch(numbers(), x.to_local()); }},
      {"Fetcher::fetch_async",
       [](const Tensor& x) {
         make_fetch(x, own_box(x)).fetch_async(numbers(), x.to_local()).wait();
       }},
      {"Fetcher::accumulate",
       [](const Tensor& x) { make_fetch(x, own_box(x)).accumulate(x, own_patch(x)); }},
      {"Fetcher::accumulate_async",
       [](const Tensor& x) { make_fetch(x, own_box(x)).accumulate_async(x, own_patch(x)).wait(); }},
      {"accumulate", [](const Tensor& x) { tessera::accumulate(x, own_box(x), own_patch(x)); }},
      {"accumulate_async",
       [](const Tensor& x) { tessera::accumulate_async(x, own_box(x), own_patch(x)).wait(); }},
  };
}

/// Calls function(call) for all functions that write to a tensor, or to a View.
template <class Function>
void for_all_calls(const Function& function) {
  for (const auto& list : {calls_of_operators(), calls_of_redistribution(), calls_of_fetchers()})
    for (const auto& call : list) {
      SCOPED_TRACE(call.name);
      function(call);
    }
}

/// Returns the sum of squares, for whose gradient a tape keeps x.
auto sum_of_squares(Tape& tape, const Tensor& x) {
  return ops::sum(ops::square(tape.watch(x)));
}

/// Returns what `write` throws; "no error" if it writes.
template <class Write>
std::string error_of(const Write& write) {
  return invalid_argument_of(write);
}
std::string error_of(const WritingCall& call, const Tensor& x) {
  return error_of([&] { call.write(x); });
}

/// Matches the error of a call that would write to what `function` needs.
auto says(const std::string& call, const std::string& function) {
  return AllOf(StartsWith(call + ": expected memory that no tape keeps"),
               HasSubstr("got some that " + function + " needs"),
               HasSubstr("write to it after backward() or Tape::clear(), or record a clone of it"));
}

TEST(SavedTensors, no_call_writes_to_them) {
  for_all_calls([](const WritingCall& call) {
    const auto x = numbers();
    Tape tape;
    const auto y = sum_of_squares(tape, x);
    EXPECT_THAT(error_of(call, x), says(call.name, "square"));
    EXPECT_EQ(all_elements(x), all_elements(numbers()));
  });
}

TEST(SavedTensors, are_free_after_the_backward_pass) {
  for_all_calls([](const WritingCall& call) {
    const auto x = numbers();
    Tape tape;
    tape.backward(sum_of_squares(tape, x));
    EXPECT_EQ(error_of(call, x), "no error");
  });
}

TEST(SavedTensors, are_free_after_clear) {
  for_all_calls([](const WritingCall& call) {
    const auto x = numbers();
    Tape tape;
    const auto y = sum_of_squares(tape, x);
    tape.clear();
    EXPECT_EQ(error_of(call, x), "no error");
  });
}

TEST(SavedTensors, that_are_retained_are_kept_until_clear) {
  const auto x = numbers();
  Tape tape;
  tape.backward(sum_of_squares(tape, x), {.retain = true});
  EXPECT_THAT(error_of([&] { x += 1; }), says("operator+", "square"));
  tape.clear();
  EXPECT_EQ(error_of([&] { x += 1; }), "no error");
}

TEST(SavedTensors, are_free_when_their_tape_has_ended) {
  const auto x = numbers();
  grad::BasicVariable<Tensor> y;
  {
    Tape tape;
    y = ops::square(tape.watch(x));
    EXPECT_THAT(error_of([&] { x += 1; }), says("operator+", "square"));
  }
  EXPECT_EQ(error_of([&] { x += 1; }), "no error");
  const auto z = ops::square(y);
  EXPECT_EQ(error_of([&] { tessera::deep_copy(y.detach(), 0); }), "no error");
}

TEST(SavedTensors, of_a_backward_pass_that_fails_are_free) {
  const auto fails = grad::function([](const Tensor& x) { return ops::exp(x); },
                                    [](const Tensor&, const Tensor&, const Tensor& dy) -> Tensor {
                                      throw InvalidArgument("planned");
                                      return dy;
                                    });
  const auto x = numbers();
  Tape tape;
  const auto y = ops::sum(fails(tape.watch(x)));
  EXPECT_THAT(error_of([&] { x += 1; }), says("operator+", "function"));
  EXPECT_THAT(error_of([&] { tape.backward(y); }), HasSubstr("planned"));
  EXPECT_EQ(error_of([&] { x += 1; }), "no error");
}

TEST(SavedTensors, of_one_rank_stop_collective_calls_on_all_ranks) {
  const auto x = numbers();
  Tape tape;
  if (world_rank() == 0) ops::square(tape.watch_local(x.to_local()));
  const auto from = numbers(Shard(1));
  EXPECT_THAT(error_of([&] { redistribute_into(x, from); }),
              HasSubstr("got some that square needs"));
  tape.clear();
  EXPECT_EQ(error_of([&] { redistribute_into(x, from); }), "no error");
}

TEST(SavedTensors, that_share_elements_with_a_slice_are_not_written_through_it) {
  const auto x = numbers();
  Tape tape;
  const auto y = sum_of_squares(tape, x);
  const auto part = slice(x, tessera::all, {1, 3});
  EXPECT_THAT(error_of([&] { tessera::deep_copy(part, 1); }), says("deep_copy", "square"));
  EXPECT_THAT(error_of([&] {
                redistribute_into(part, slice(numbers(), tessera::all, {0, 2}));
              }),
              says("redistribute_into", "square"));
}

TEST(SavedTensors, that_are_slices_leave_the_rest_free) {
  const auto x = numbers();
  Tape tape;
  const auto y = ops::square(tape.watch(slice(x, tessera::all, {0, 2})));
  EXPECT_THAT(error_of([&] { x += 1; }), says("operator+", "square"));
  EXPECT_THAT(error_of([&] {
                tessera::deep_copy(slice(x, tessera::all, {1, 4}), 1);
              }),
              says("deep_copy", "square"));
  EXPECT_EQ(error_of([&] { tessera::deep_copy(slice(x, tessera::all, {2, 4}), 1); }), "no error");
}

TEST(SavedTensors, others_are_written) {
  const auto x = numbers(), other = numbers();
  Tape tape;
  const auto y = sum_of_squares(tape, x);
  for_all_calls([&](const WritingCall& call) { EXPECT_EQ(error_of(call, other), "no error"); });
  tape.backward(y);
}

TEST(SavedTensors, are_those_alone_whose_elements_an_adjoint_reads) {
  const auto x = numbers();
  Tape tape;
  const auto watched = tape.watch(x);
  EXPECT_EQ(error_of([&] { x += 1; }), "no error");
  const auto y = ops::sum(ops::add(watched, watched));
  EXPECT_EQ(error_of([&] { x += 1; }), "no error");
  tape.backward(y);
  expect_elements(watched.grad(), Each(2));
}

TEST(SavedTensors, may_be_results_and_operands_that_are_no_variables) {
  const auto x = tessera::clone(numbers()), factor = numbers();
  Tape tape;
  const auto watched = tape.watch(x);
  const auto y = ops::exp(watched);
  const auto z = ops::multiply(watched, factor);
  EXPECT_THAT(error_of([&] { tessera::deep_copy(y.detach(), 0); }), says("deep_copy", "exp"));
  EXPECT_THAT(error_of([&] { factor /= 2; }), says("operator/", "operator*"));
  EXPECT_EQ(error_of([&] { tessera::deep_copy(z.detach(), 0); }), "no error");
}

TEST(SavedTensors, of_a_checkpoint_are_its_inputs) {
  const auto x = numbers();
  Tape tape;
  const auto y = grad::checkpoint([](const auto& u) { return ops::square(u); }, tape.watch(x));
  EXPECT_THAT(error_of([&] { x += 1; }), says("operator+", "checkpoint"));
  tape.backward(ops::sum(y));
  EXPECT_EQ(error_of([&] { x += 1; }), "no error");
}

TEST(SavedTensors, of_a_checkpointed_loop_are_free_after_the_backward_pass) {
  const auto x = numbers();
  Tape tape;
  const auto y = grad::checkpoint([](const auto& u, int) { return ops::sin(ops::square(u)); },
                                  tape.watch(x), grad::LoopOptions{.steps = 7, .snapshots = 2});
  EXPECT_THAT(error_of([&] { x += 1; }), says("operator+", "checkpoint"));
  tape.backward(ops::sum(y), {.retain = true});
  EXPECT_THAT(error_of([&] { x += 1; }), says("operator+", "checkpoint"));
  tape.backward(ops::sum(y));
  EXPECT_EQ(error_of([&] { x += 1; }), "no error");
}

TEST(SavedTensors, of_a_checkpointed_loop_are_its_snapshots) {
  const auto x = numbers();
  Tape tape;
  const auto u = tape.watch(x);
  const auto step = [](const auto& state, int number) {
    if (number == 1) state.detach() += 1;
    return ops::sin(state);
  };
  const auto run = [&] { grad::checkpoint(step, u, {.steps = 3, .snapshots = 3}); };
  EXPECT_THAT(error_of(run), says("operator+", "checkpoint"));
}

TEST(SavedViews, are_not_written) {
  const auto view = iota_view<Matrix>({3, 2});
  Tape tape;
  const auto y = ops::sum(ops::square(tape.watch_local(view)));
  const auto write = [&] { broadcast_into(view, 0, line(), 0); };
  EXPECT_THAT(error_of(write), says("broadcast_into", "square"));
  tape.backward(y);
  EXPECT_EQ(error_of(write), "no error");
}

TEST(ClearedTape, keeps_gradients_and_refuses_results_from_before) {
  Tape tape;
  const auto x = tape.watch(ones<Matrix>(line(), Shard(0), shape));
  tape.backward(ops::sum(ops::square(x)));
  const auto y = ops::square(x);
  tape.clear();
  expect_elements(x.grad(), Each(2));
  EXPECT_THAT(error_of([&] { ops::square(y); }),
              HasSubstr("expected a value that was computed since the last backward() or clear()"));
  EXPECT_THROW(tape.backward(ops::sum(y)), InvalidArgument);
  tape.backward(ops::sum(ops::square(x)));
  expect_elements(x.grad(), Each(4));
}

TEST(SavedTensors, may_be_many) {
  const auto before = detail::saved_arrays.load();
  std::vector<Tensor> tensors;
  Tape tape;
  for (int i = 0; i < 200; ++i) {
    tensors.push_back(numbers());
    ops::square(tape.watch(tensors.back()));
  }
  const auto free = numbers();
  EXPECT_EQ(detail::saved_arrays.load(), before + 200);
  for (const auto& tensor : tensors)
    EXPECT_THAT(error_of([&] { tensor += 1; }), says("operator+", "square"));
  EXPECT_EQ(error_of([&] { free += 1; }), "no error");
  tape.clear();
  EXPECT_EQ(detail::saved_arrays.load(), before);
}

std::array<double, 1000> memory;

/// Returns an array in `memory`; `begin` and `stride` count elements.
ArrayRef array_at(std::int64_t begin, std::int64_t extent, std::int64_t stride = 1) {
  return {reinterpret_cast<std::byte*>(memory.data() + begin),
          element_type<double>(),
          {extent},
          {stride},
          MemorySpace::host};
}

/// Returns which of some functions needs the array; "no error" if none does.
std::string needed_by(const ArrayRef& array) {
  return error_of([&] { detail::require_writable(array); });
}

TEST(SavedMemory, is_what_its_elements_take) {
  const auto saved = detail::save_memory(array_at(10, 5), "save");
  EXPECT_THAT(needed_by(array_at(10, 1)), HasSubstr("that save needs"));
  EXPECT_THAT(needed_by(array_at(14, 9)), HasSubstr("that save needs"));
  EXPECT_THAT(needed_by(array_at(0, 11)), HasSubstr("that save needs"));
  EXPECT_EQ(needed_by(array_at(0, 10)), "no error");
  EXPECT_EQ(needed_by(array_at(15, 9)), "no error");
}

TEST(SavedMemory, counts_strides_of_any_sign) {
  const auto saved = detail::save_memory(array_at(90, 5, -10), "save");  // 50, 60, … 90
  EXPECT_THAT(needed_by(array_at(60, 1)), HasSubstr("that save needs"));
  EXPECT_EQ(needed_by(array_at(65, 2, 10)), "no error");
  EXPECT_EQ(needed_by(array_at(51, 9)), "no error");
}

TEST(SavedMemory, of_elements_of_another_size_is_all_that_lies_between_them) {
  const auto saved = detail::save_memory(array_at(0, 5, 10), "save");
  auto bytes = array_at(5, 8);
  bytes.type = element_type<char>();
  EXPECT_THAT(needed_by(bytes), HasSubstr("that save needs"));
  bytes.data += 40 * sizeof(double);
  EXPECT_EQ(needed_by(bytes), "no error");
}

TEST(SavedMemory, is_found_behind_longer_and_shorter_arrays) {
  const auto first = detail::save_memory(array_at(0, 1), "first");
  const auto long_one = detail::save_memory(array_at(1, 900), "long_one");
  const auto last = detail::save_memory(array_at(950, 2), "last");
  EXPECT_THAT(needed_by(array_at(900, 3)), HasSubstr("that long_one needs"));
  EXPECT_THAT(needed_by(array_at(951, 1)), HasSubstr("that last needs"));
  EXPECT_THAT(needed_by(array_at(0, 1000)), HasSubstr("that first needs"));
  EXPECT_EQ(needed_by(array_at(901, 49)), "no error");
}

TEST(SavedMemory, that_is_saved_twice_is_free_when_nobody_needs_it) {
  auto first = detail::save_memory(array_at(0, 9), "first");
  auto second = detail::save_memory(array_at(0, 9), "second");
  auto copy = second;
  first.reset();
  EXPECT_THAT(needed_by(array_at(3, 1)), HasSubstr("that second needs"));
  second.reset();
  EXPECT_THAT(needed_by(array_at(3, 1)), HasSubstr("that second needs"));
  copy.reset();
  EXPECT_EQ(needed_by(array_at(3, 1)), "no error");
}

TEST(SavedMemory, without_elements_is_none) {
  const auto before = detail::saved_arrays.load();
  const auto empty = detail::save_memory(array_at(3, 0), "save");
  const auto null = detail::save_memory({nullptr, element_type<double>(), {}, {}}, "save");
  EXPECT_EQ(empty, nullptr);
  EXPECT_EQ(null, nullptr);
  EXPECT_EQ(detail::saved_arrays.load(), before);
  const auto saved = detail::save_memory(array_at(0, 9), "save");
  EXPECT_EQ(needed_by(array_at(3, 0)), "no error");
}

TEST(SavedMemory, of_several_threads) {
  const auto before = detail::saved_arrays.load();
  const auto work = [](std::int64_t begin, int* mistakes) {
    for (int i = 0; i < 1000; ++i) {
      const auto own = array_at(begin, 10);
      *mistakes += needed_by(own) == "no error" ? 0 : 1;
      const auto saved = detail::save_memory(own, "save");
      *mistakes += needed_by(own) == "no error" ? 1 : 0;
    }
  };
  std::array<int, 4> mistakes{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < mistakes.size(); ++t)
    threads.emplace_back(work, static_cast<std::int64_t>(t) * 10, &mistakes[t]);
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(mistakes, Each(0));
  EXPECT_EQ(detail::saved_arrays.load(), before);
}

}  // namespace
}  // namespace tessera::test
