// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Calls in which one rank alone fails, and which the others may complete: whatever follows, on
// whichever mesh, all ranks stay in step. TESSERA_TEST_SEED repeats a run.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/comm/collectives.hpp>
#include <tessera/error/error.hpp>
#include <tessera/mesh/device_mesh.hpp>

#include "../support/errors.hpp"
#include "../support/gathered.hpp"
#include "../support/generator.hpp"
#include "../support/meshes.hpp"
#include "agreement/control.hpp"

namespace tessera::test {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StrEq;

constexpr int nobody = -1;

std::string text_of(int number) {
  return "on purpose " + std::to_string(number);
}

void throw_if(bool fails, int number) {
  if (fails) throw InvalidArgument(text_of(number));
}

/// A call that needs no message once the ranks know it. `thrower`, of the mesh, fails in it.
void silent(const DeviceMesh& mesh, int thrower, int number) {
  collectively(detail::MeshAccess::calls(mesh), "silent", [&](Operation& call) {
    call.agree(1, [] { return std::string("silent"); });
    throw_if(mesh.rank() == thrower, number);
  });
}

/// A call in which each rank hears from all others; "" if what it hears is right.
std::string exchanged(const DeviceMesh& mesh, int number) {
  std::string wrong;
  collectively(detail::MeshAccess::calls(mesh), "exchanged", [&](Operation& call) {
    call.agree(2, [] { return std::string("exchanged"); });
    const auto all =
        all_gather_value(mesh.group(), 1000 * number + mesh.rank(), TraceKind::metadata, "test");
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i] != 1000 * number + static_cast<int>(i))
        wrong = std::to_string(all[i]) + " from rank " + std::to_string(i);
  });
  return wrong;
}

/// So that the calls compare nothing any more.
void make_known(const std::vector<DeviceMesh>& meshes) {
  for (const auto& mesh : meshes) {
    silent(mesh, nobody, 0);
    exchanged(mesh, 0);
  }
}

std::vector<DeviceMesh> some_meshes() {
  const int n = world_size();
  const auto other = kept_mesh("of a duplicate", [&] {
    MPI_Comm duplicate;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    return init_device_mesh(duplicate, {n}, {"other"});
  });
  auto result = meshes_of({{n}, {2}, {n, 1}, {2, n / 2}});
  const auto grid = result.back();
  result.push_back(grid.sub(0));
  result.push_back(grid.sub(1));
  result.push_back(other);
  return result;
}

/// What all ranks do next, the same everywhere.
struct Step {
  DeviceMesh mesh;
  DeviceMesh inner;  ///< of a call inside
  bool is_silent;
  bool is_inner_silent;
  int thrower;  ///< rank of the mesh
  int place;    ///< before, inside or after the inner call
  int number;
};

/// All ranks of `inner`, of whichever communicator, are on `outer`.
bool contains(const DeviceMesh& outer, const DeviceMesh& inner) {
  const auto& ranks = outer.layout().ranks();
  return std::ranges::all_of(inner.layout().ranks(), [&](int rank) {
    return std::ranges::find(ranks, rank) != ranks.end();
  });
}

Step random_step(Generator& generator, const std::vector<DeviceMesh>& meshes, int number) {
  const auto any = [&] {
    return meshes[static_cast<std::size_t>(
        draw(generator, 0, static_cast<int>(meshes.size()) - 1))];
  };
  Step step{any(), {}, draw(generator, 0, 2) != 0, draw(generator, 0, 1) == 0, nobody, 0, number};
  const int thrower = draw(generator, 0, world_size() - 1);
  const auto inner = any();
  const bool has_inner = draw(generator, 0, 2) == 0;
  step.place = draw(generator, 0, 2);
  if (!step.is_silent) return step;
  if (draw(generator, 0, 3) == 0)
    step.thrower = thrower % static_cast<int>(step.mesh.layout().ranks().size());
  if (has_inner && contains(step.mesh, inner)) step.inner = inner;
  return step;
}

/// Does the step on this rank; what is wrong about it.
std::string wrong_after(const Step& step) {
  if (!is_on(step.mesh)) return "";
  if (!step.is_silent) return exchanged(step.mesh, step.number);
  if (step.inner.is_null()) {
    silent(step.mesh, step.thrower, step.number);
    return "";
  }
  std::string wrong;
  const bool throws = step.mesh.rank() == step.thrower;
  collectively(detail::MeshAccess::calls(step.mesh), "outer", [&](Operation& call) {
    call.agree(3, [] { return std::string("outer"); });
    throw_if(throws && step.place == 0, step.number);
    if (is_on(step.inner)) {
      const int inner_thrower = throws && step.place == 1 ? step.inner.rank() : nobody;
      if (step.is_inner_silent)
        silent(step.inner, inner_thrower, step.number);
      else
        wrong = exchanged(step.inner, step.number);
    }
    throw_if(throws && step.place == 2, step.number);
  });
  return wrong;
}

TEST(LoneFailures, rank_that_fails_in_a_later_call_has_not_left_out_the_one_before) {
  const int n = world_size();
  if (n == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto first = mesh_of({n});
  const auto second = mesh_of({n, 1});
  make_known({first, second});

  for (int number = 1; number < 20; ++number) {
    const auto one = message_of<InvalidArgument>([&] { silent(first, 0, number); });
    const auto two = message_of<InvalidArgument>([&] { silent(second, n - 1, number); });

    EXPECT_THAT(one, AnyOf(StrEq("no error"), HasSubstr(text_of(number))));
    EXPECT_THAT(two, AnyOf(StrEq("no error"), HasSubstr(text_of(number))));
    EXPECT_EQ(exchanged(second, number), "");
    EXPECT_EQ(exchanged(first, number), "");
  }
}

TEST(LoneFailures, rank_that_comes_late_learns_of_calls_that_exclude_one_another) {
  const int n = world_size();
  if (n < 3) GTEST_SKIP() << "needs 3 ranks";
  const auto first = mesh_of({n});
  const auto second = mesh_of({n, 1});
  make_known({first, second});
  for (int late = 0; late < n - 1; ++late) {
    if (first.rank() == late) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      for (int i = 0; i < 10; ++i) detail::Control::poll_all();
    }
    const auto text = message_of<InvalidArgument>([&] {
      if (first.rank() == n - 1)
        silent(second, n - 1, late);
      else
        exchanged(first, late);
    });

    EXPECT_THAT(text, HasSubstr(text_of(late)));
    EXPECT_EQ(exchanged(second, late), "");
    EXPECT_EQ(exchanged(first, late), "");
  }
}

/// Sometimes late, and sometimes with ears open.
void dawdle(Generator& own) {
  if (draw(own, 0, 59) != 0) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(draw(own, 50, 250)));
  if (draw(own, 0, 1) == 0)
    for (int i = 0; i < 10; ++i) detail::Control::poll_all();
}

TEST(LoneFailures, long_messages_keep_their_memory_until_they_are_taken) {
  const auto mesh = mesh_of({world_size()});
  const std::vector<std::byte> mine(std::size_t{1} << 20);
  for (int thrower = 0; thrower < mesh.size(); ++thrower) {
    const auto error = message_of<InvalidArgument>([&] {
      collectively(detail::MeshAccess::calls(mesh), "long", [&](Operation& call) {
        call.agree(3, [] { return std::string("long"); });
        throw_if(mesh.rank() == thrower, thrower);
        all_gather(mesh.group(), mine, TraceKind::metadata, "test");
      });
    });

    EXPECT_THAT(error, HasSubstr(text_of(thrower)));
    EXPECT_EQ(exchanged(mesh, thrower), "");
  }
}

TEST(LoneFailures, ranks_meet_again_after_one_has_left_out_calls_or_made_more) {
  const int n = world_size();
  if (n == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = mesh_of({n});
  make_known({mesh});
  for (int odd = 0; odd < n; ++odd)
    for (const int calls : {1, 3})
      for (const bool leaves_out : {true, false}) {
        SCOPED_TRACE(std::to_string(calls) + (leaves_out ? " left out" : " more") + " by rank " +
                     std::to_string(odd));
        if ((mesh.rank() == odd) != leaves_out)
          for (int i = 0; i < calls; ++i) silent(mesh, nobody, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        const auto text = message_of<InvalidArgument>([&] { exchanged(mesh, 1); });

        EXPECT_THAT(text, HasSubstr("the same, " + std::to_string(calls) + " call"));
        EXPECT_EQ(exchanged(mesh, 2), "");
        EXPECT_THAT(gathered(mesh.group(), text), Each(text));
      }
}

TEST(LoneFailures, ranks_meet_again_that_have_made_different_numbers_of_calls) {
  const auto mesh = mesh_of({world_size()});
  make_known({mesh});
  Generator generator(seed());
  for (int number = 0; number < 40; ++number) {
    std::vector<int> calls;
    for (int rank = 0; rank < mesh.size(); ++rank) calls.push_back(draw(generator, 0, 3));
    for (int i = 0; i < calls[static_cast<std::size_t>(mesh.rank())]; ++i) silent(mesh, nobody, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const auto text = message_of<Error>([&] { exchanged(mesh, 1); });

    const bool differ = std::ranges::adjacent_find(calls, std::not_equal_to()) != calls.end();
    EXPECT_THAT(text, differ ? HasSubstr("the same, ") : HasSubstr("no error"));
    EXPECT_EQ(exchanged(mesh, 2), "");
  }
}

TEST(LoneFailures, ranks_stay_in_step_whoever_calls_what) {
  const int n = world_size();
  if (n % 2 != 0) GTEST_SKIP() << "needs an even number of ranks";
  const auto meshes = meshes_of({{n}, {n, 1}, {1, n}});
  const auto pair = mesh_of({2});
  make_known(meshes);
  if (is_on(pair)) make_known({pair});
  Generator generator(seed());
  Generator own(seed() + static_cast<unsigned>(world_rank()));
  for (int number = 1; number <= 200; ++number) {
    const auto first = static_cast<std::size_t>(draw(generator, 0, 2));
    const auto second = (first + static_cast<std::size_t>(draw(generator, 1, 2))) % 3;
    const int stray = draw(generator, 0, 3 * n);
    const bool is_silent = draw(generator, 0, 1) == 0;
    const bool are_others_silent = draw(generator, 0, 2) == 0;
    const bool is_on_pair = draw(generator, 0, 1) == 0 && n > 2 && stray < 2 && !are_others_silent;
    const auto instead = is_on_pair ? pair : meshes[second];
    dawdle(own);
    const auto error = message_of<Error>([&] {
      if (world_rank() != stray && are_others_silent)
        silent(meshes[first], nobody, number);
      else if (world_rank() != stray)
        exchanged(meshes[first], number);
      else if (is_silent)
        silent(instead, stray, number);
      else
        exchanged(instead, number);
    });
    SCOPED_TRACE("step " + std::to_string(number) + " on mesh " + to_string(meshes[first]) +
                 ", on rank " + std::to_string(stray) + " on mesh " + to_string(instead));
    if (stray >= n)
      ASSERT_EQ(error, "no error");
    else
      ASSERT_THAT(error,
                  AnyOf(HasSubstr(is_silent ? text_of(number) : "the same call on every rank"),
                        StrEq(are_others_silent ? "no error" : "error")));
    ASSERT_EQ(exchanged(meshes[first], -number), "");
    if (is_on(pair)) {
      ASSERT_EQ(exchanged(pair, -number), "");
    }
  }
}

TEST(LoneFailures, ranks_stay_in_step_whoever_fails_wherever) {
  if (world_size() % 2 != 0) GTEST_SKIP() << "needs an even number of ranks";
  const auto meshes = some_meshes();
  if (world_rank() == 0) std::cout << "seed " << seed() << "\n";
  Generator generator(seed());
  Generator own(seed() + static_cast<unsigned>(world_rank()));
  for (int number = 1; number <= 500; ++number) {
    const auto step = random_step(generator, meshes, number);
    dawdle(own);
    std::string wrong;
    const auto error = message_of<InvalidArgument>([&] { wrong = wrong_after(step); });
    SCOPED_TRACE("step " + std::to_string(number) + " on mesh " + to_string(step.mesh) +
                 (step.inner.is_null() ? "" : " around " + to_string(step.inner)));
    ASSERT_EQ(wrong, "");
    const bool is_thrower = is_on(step.mesh) && step.mesh.rank() == step.thrower;
    const bool fails = is_thrower && (step.place != 1 || step.inner.is_null() ||
                                      (is_on(step.inner) && step.is_inner_silent));
    if (fails)
      ASSERT_THAT(error, HasSubstr(text_of(number)));
    else if (step.thrower == nobody)
      ASSERT_EQ(error, "no error");
    else
      ASSERT_THAT(error, AnyOf(StrEq("no error"), HasSubstr(text_of(number))));
  }
}

}  // namespace
}  // namespace tessera::test
