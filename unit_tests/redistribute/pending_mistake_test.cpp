// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Calls in the background that fail.
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/errors.hpp"
#include "pending_sums.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

bool is_same_everywhere(const std::string& text) {
  const auto hash = static_cast<unsigned long>(std::hash<std::string>()(text));
  unsigned long smallest = 0;
  unsigned long largest = 0;
  MPI_Allreduce(&hash, &smallest, 1, MPI_UNSIGNED_LONG, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&hash, &largest, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
  return smallest == largest;
}

/// What one rank does otherwise than the others.
struct Mistake {
  const char* name;
  std::function<Pending<Matrix>(bool is_wrong, const DeviceMesh& mesh)> start;
  const char* text;
};

/// Enough that every rank gets elements from every other: a rank that needs nobody throws nothing.
const Extents& few() {
  static const Extents result{2 * world_size(), 2 * world_size()};
  return result;
}

const std::vector<Mistake> mistakes{
    {"another tensor dim of all_gather",
     [](bool is_wrong, const DeviceMesh& mesh) {
       return all_gather_async(constant(1, few()), is_wrong ? 1 : 0, mesh, 0);
     },
     "all_gather: expected the same call on every rank"},
    {"another op",
     [](bool is_wrong, const DeviceMesh& mesh) {
       return all_reduce_async(constant(1, few()), is_wrong ? ReduceOp::max : ReduceOp::sum, mesh,
                               0);
     },
     "all_reduce: expected the same call on every rank"},
    {"another op with long messages",
     [](bool is_wrong, const DeviceMesh& mesh) {
       return all_reduce_async(constant(1), is_wrong ? ReduceOp::max : ReduceOp::sum, mesh, 0);
     },
     "all_reduce: expected the same call on every rank"},
    {"other extents of all_reduce",
     [](bool is_wrong, const DeviceMesh& mesh) {
       return all_reduce_async(constant(1, {few()[0] + (is_wrong ? 1 : 0), 4}), ReduceOp::sum, mesh,
                               0);
     },
     "all_reduce: expected the same call on every rank"},
    {"other extents of all_gather",
     [](bool is_wrong, const DeviceMesh& mesh) {
       return all_gather_async(constant(1, {4, is_wrong ? 5 : 4}), 0, mesh, 0);
     },
     "the same extent of tensor dim 1 on mesh ranks"},
    {"another split dim of all_to_all",
     [](bool is_wrong, const DeviceMesh& mesh) {
       return all_to_all_async(constant(1, few()), is_wrong ? 0 : 1, 0, mesh, 0);
     },
     "all_to_all: expected the same call on every rank"},
    {"another function",
     [](bool is_wrong, const DeviceMesh& mesh) {
       return is_wrong ? reduce_scatter_async(constant(1, few()), ReduceOp::sum, 0, mesh, 0)
                       : all_reduce_async(constant(1, few()), ReduceOp::sum, mesh, 0);
     },
     ": expected the same call on every rank"},
    {"a tensor dim out of range",
     [](bool is_wrong, const DeviceMesh& mesh) {
       return reduce_scatter_async(constant(1, few()), ReduceOp::sum, is_wrong ? 2 : 0, mesh, 0);
     },
     "reduce_scatter: "},
    {"an unknown mesh dim",
     [](bool is_wrong, const DeviceMesh& mesh) {
       return all_reduce_async(constant(1, few()), ReduceOp::sum, mesh, is_wrong ? "nowhere" : "x");
     },
     "nowhere"},
};

DeviceMesh everyone_along_x() {
  return mesh_of({world_size()}, {"x"});
}

/// Every call that `mistake` mixes up is known to the ranks: they compare nothing when it is made.
void learn(const Mistake& mistake, const DeviceMesh& mesh) {
  for (const bool is_wrong : {false, true}) {
    try {
      mistake.start(is_wrong, mesh).wait();
    } catch (const InvalidArgument&) {
      continue;
    }
  }
}

TEST(PendingMistake, of_one_rank_is_thrown_by_all_and_the_next_call_works) {
  if (world_size() == 1) return;
  const auto mesh = everyone_along_x();
  for (const bool is_known : {false, true})
    for (const auto& mistake : mistakes)
      for (const int wrong_rank : {0, mesh.size() - 1}) {
        if (is_known) learn(mistake, mesh);

        const auto message = message_of<InvalidArgument>(
            [&] { mistake.start(mesh.rank() == wrong_rank, mesh).wait(); });
        const auto sum = all_reduce(constant(1, few()), ReduceOp::sum, mesh, 0);
        const bool is_same = is_same_everywhere(message);

        EXPECT_THAT(message, HasSubstr(mistake.text)) << mistake.name;
        EXPECT_TRUE(is_same) << mistake.name << ": " << message;
        EXPECT_EQ(wrong_constant(sum, mesh.size(), few()), "") << mistake.name;
      }
}

TEST(PendingMistake, leaves_calls_alone_that_were_started_before) {
  if (world_size() == 1) return;
  const auto mesh = everyone_along_x();
  for (const bool is_known : {false, true})
    for (const auto& mistake : mistakes) {
      if (is_known) learn(mistake, mesh);
      auto before = start_sum(constant(1), mesh);

      const auto message =
          message_of<InvalidArgument>([&] { mistake.start(mesh.rank() == 1, mesh).wait(); });
      const auto sum = before.wait();

      EXPECT_THAT(message, HasSubstr(mistake.text)) << mistake.name;
      EXPECT_EQ(wrong_constant(sum, mesh.size()), "") << mistake.name;
    }
}

TEST(PendingMistake, of_a_later_call_leaves_alone_what_has_another_exchange_to_go) {
  if (world_size() == 1) return;
  const auto mesh = everyone_along_x();
  const auto grid = mesh_of({1, mesh.size()});
  const auto partial = from_local(constant(1, few()), mesh, {Partial()});
  for (int turn = 0; turn < 20; ++turn) {
    // For this rank's contribution the others wait while their later call fails.
    if (mesh.rank() == (turn + 1) % mesh.size())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    auto before = redistribute_async(partial, grid, {Replicate(), Replicate()});

    const auto* mesh_dim = mesh.rank() == turn % mesh.size() ? "nowhere" : "x";
    const auto message = message_of<InvalidArgument>(
        [&] { all_reduce(constant(1, few()), ReduceOp::sum, mesh, mesh_dim); });
    const auto sum = before.wait();

    EXPECT_THAT(message, HasSubstr("nowhere"));
    EXPECT_EQ(wrong_constant(sum.to_local(), mesh.size(), sum.local_shape()), "");
  }
}

TEST(PendingMistake, of_the_call_around_it_ends_one_that_is_tested) {
  if (world_size() == 1) return;
  const auto mesh = everyone_along_x();
  start_sum(constant(1), mesh).wait();
  for (const bool fails : {false, true})
    for (const bool is_late : {false, true}) {
      const auto message = message_of<InvalidArgument>([&] {
        collectively(detail::MeshAccess::calls(mesh), "outer", [&](Operation& call) {
          call.agree(1, [] { return std::string("outer"); });
          if (is_late && mesh.rank() == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          if (fails && mesh.rank() == 0) throw InvalidArgument("on purpose");
          auto sum = start_sum(constant(1), mesh);
          while (!sum.test()) std::this_thread::yield();
        });
      });

      EXPECT_THAT(message, HasSubstr(fails ? "on purpose" : "no error"));
    }
  EXPECT_EQ(wrong_constant(start_sum(constant(1), mesh).wait(), mesh.size()), "");
}

TEST(PendingMistake, of_the_call_around_it_does_not_wait_for_what_was_sent_in_vain) {
  if (world_size() < 3) return;
  const auto mesh = everyone_along_x();
  start_sum(constant(1), mesh).wait();
  const auto start = std::chrono::steady_clock::now();

  const auto message = message_of<InvalidArgument>([&] {
    collectively(detail::MeshAccess::calls(mesh), "outer", [&](Operation& call) {
      call.agree(1, [] { return std::string("outer"); });
      if (mesh.rank() == 0) throw InvalidArgument("on purpose");
      auto sum = start_sum(constant(1), mesh);
      // Meanwhile the others give up both calls: the inner one is heard of first.
      if (mesh.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      while (!sum.test()) std::this_thread::yield();
    });
  });
  const auto after = wrong_constant(start_sum(constant(1), mesh).wait(), mesh.size());
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

  EXPECT_THAT(message, HasSubstr("on purpose"));
  EXPECT_EQ(after, "");
  EXPECT_LT(elapsed.count(), 5);
}

/// A rank that hears of all that at once has not given up the outer call yet.
TEST(PendingMistake, of_the_call_around_it_may_be_heard_after_that_of_one_inside) {
  if (world_size() != 4) return;
  const auto mesh = everyone_along_x();
  const auto pair = DeviceMesh::from_ranks(MPI_COMM_WORLD, {0, 1}, {2});
  start_sum(constant(1), mesh).wait();
  const auto start = std::chrono::steady_clock::now();

  const auto message = message_of<InvalidArgument>([&] {
    collectively(detail::MeshAccess::calls(mesh), "outer", [&](Operation& call) {
      call.agree(1, [] { return std::string("outer"); });
      if (mesh.rank() == 1) throw InvalidArgument("on purpose");
      if (mesh.rank() == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(400));
        all_reduce(constant(1), ReduceOp::sum, pair, 0);
      } else {
        auto sum = start_sum(constant(1), mesh);
        if (mesh.rank() == 3) std::this_thread::sleep_for(std::chrono::milliseconds(200));
        while (!sum.test()) std::this_thread::yield();
      }
    });
  });
  MPI_Barrier(MPI_COMM_WORLD);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

  EXPECT_THAT(message, HasSubstr("on purpose"));
  EXPECT_EQ(wrong_constant(start_sum(constant(1), mesh).wait(), mesh.size()), "");
  EXPECT_LT(elapsed.count(), 5);
}

TEST(PendingMistake, is_thrown_at_every_wait) {
  if (world_size() == 1) return;
  const auto mesh = everyone_along_x();
  const auto& mistake = mistakes[1];
  learn(mistake, mesh);
  auto pending = mistake.start(mesh.rank() == 0, mesh);

  const auto first = message_of<InvalidArgument>([&] { pending.wait(); });
  const auto second = message_of<InvalidArgument>([&] { pending.wait(); });
  const auto tested = message_of<InvalidArgument>([&] { pending.test(); });

  EXPECT_THAT(first, HasSubstr(mistake.text));
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, tested);
}

TEST(PendingMistake, that_nobody_waits_for_does_not_disturb_the_next_call) {
  if (world_size() == 1) return;
  const auto mesh = everyone_along_x();
  for (const auto& mistake : mistakes) {
    learn(mistake, mesh);

    message_of<InvalidArgument>([&] { mistake.start(mesh.rank() == 0, mesh); });
    const auto sum = all_reduce(constant(1, few()), ReduceOp::sum, mesh, 0);

    EXPECT_EQ(wrong_constant(sum, mesh.size(), few()), "") << mistake.name;
  }
}

}  // namespace
}  // namespace tessera::test
