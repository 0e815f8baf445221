// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// The user frees his communicator at every point of the life of a mesh made from it.
#include <functional>
#include <optional>
#include <string>

#include <gmock/gmock.h>

#include <tessera/redistribute/collectives.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "mpi_counters.hpp"

namespace tessera::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

/// A mesh of all ranks on a communicator of its own, which the test frees.
struct OwnMesh {
  MPI_Comm user = MPI_COMM_NULL;
  DeviceMesh mesh;

  OwnMesh() {
    MPI_Comm_dup(MPI_COMM_WORLD, &user);
    mesh = init_device_mesh(user, {world_size()}, {"x"});
  }
  void free() { MPI_Comm_free(&user); }
};

DTensor<Matrix> rows_on(const DeviceMesh& mesh, std::int64_t columns = 6) {
  return iota<Matrix>(mesh, {Shard(0)}, {6, columns});
}

std::string error_of(const std::function<void()>& call) {
  return message_of<MpiError>(call);
}

/// "" where a redistribution on another mesh is right.
std::string wrong_elsewhere() {
  return wrong_iota(redistribute(rows_on(mesh_of({world_size()})), {Shard(1)}));
}

TEST(FreedCommunicator, before_the_first_use_makes_every_call_throw) {
  const auto before = mpi_counters();
  OwnMesh own;
  const auto& mesh = own.mesh;
  const auto view = iota_view<Matrix>({6, 6});
  own.free();

  const auto from_local_error =
      error_of([&] { from_local(view, mesh, {Shard(0)}, FromLocal{.run_check = true}); });
  const auto sum_error = error_of([&] { all_reduce(view, ReduceOp::sum, mesh, 0); });
  const auto pending_error = error_of([&] { all_reduce_async(view, ReduceOp::sum, mesh, 0); });
  const auto comm_error = error_of([&] { mesh.comm(0); });
  const auto after = mpi_counters();
  const auto elsewhere = wrong_elsewhere();

  for (const auto& message : {from_local_error, sum_error, pending_error, comm_error})
    EXPECT_THAT(message, HasSubstr("was freed"));
  EXPECT_EQ(after, before);
  EXPECT_EQ(elsewhere, "");
}

TEST(FreedCommunicator, between_two_redistributions_makes_the_second_throw) {
  OwnMesh own;
  const auto rows = rows_on(own.mesh);
  const auto columns = redistribute(rows, {Shard(1)});
  own.free();

  const auto known = error_of([&] { redistribute(rows, {Shard(1)}); });
  const auto unknown = error_of([&] { redistribute(columns, {Replicate()}); });
  const auto full = error_of([&] { full_tensor(columns); });
  const auto elsewhere = wrong_elsewhere();

  for (const auto& message : {known, unknown, full}) EXPECT_THAT(message, HasSubstr("was freed"));
  EXPECT_EQ(wrong_iota(columns), "");
  EXPECT_EQ(elsewhere, "");
}

TEST(FreedCommunicator, after_all_is_dropped_leaves_nothing) {
  const auto before = mpi_counters();
  MPI_Comm user = MPI_COMM_NULL;
  {
    OwnMesh own;
    redistribute(rows_on(own.mesh), {Shard(1)});
    user = own.user;
  }
  MPI_Comm_free(&user);
  const auto after = mpi_counters();

  EXPECT_EQ(after.communicators, before.communicators);
  EXPECT_LE(after.requests, before.requests);
}

/// "complete", or what wait() throws: a result that is complete has to be right.
std::string outcome_of(Pending<Matrix>& pending, const Matrix& mine, int ranks) {
  const auto contribution = on_host(mine);
  try {
    const auto wrong = wrong_view(pending.wait(), detail::extents_of(mine), [&](const Extents& i) {
      return ranks * contribution(i[0], i[1]);
    });
    return wrong == "" ? "complete" : wrong;
  } catch (const MpiError& error) {
    return error.what();
  }
}

TEST(FreedCommunicator, while_calls_are_pending_completes_them_or_makes_them_throw) {
  for (const std::int64_t columns : {6, 100'000})
    for (const bool is_late : {false, true}) {
      const auto before = mpi_counters();
      OwnMesh own;
      const auto mine = iota_view<Matrix>({6, columns});

      auto first = all_reduce_async(mine, ReduceOp::sum, own.mesh, 0);
      auto second = all_reduce_async(mine, ReduceOp::sum, own.mesh, 0);
      if (is_late && world_rank() == 0) second.wait();
      own.free();
      const auto outcome = outcome_of(first, mine, own.mesh.size());
      const auto other_outcome = outcome_of(second, mine, own.mesh.size());
      const auto after = mpi_counters();
      const auto elsewhere = wrong_elsewhere();

      EXPECT_THAT(outcome, AnyOf("complete", HasSubstr("was freed")));
      EXPECT_THAT(other_outcome, AnyOf("complete", HasSubstr("was freed")));
      EXPECT_EQ(after.communicators, before.communicators);
      EXPECT_LE(after.requests, before.requests);
      EXPECT_EQ(elsewhere, "");
    }
}

TEST(FreedCommunicator, while_a_call_is_pending_that_is_never_waited_for_does_no_harm) {
  for (const std::int64_t columns : {6, 100'000}) {
    const auto before = mpi_counters();
    {
      OwnMesh own;
      const auto mine = iota_view<Matrix>({6, columns});
      const auto pending = all_reduce_async(mine, ReduceOp::sum, own.mesh, 0);
      own.free();
    }
    const auto after = mpi_counters();
    const auto elsewhere = wrong_elsewhere();

    EXPECT_EQ(after.communicators, before.communicators);
    EXPECT_LE(after.requests, before.requests);
    EXPECT_EQ(elsewhere, "");
  }
}

TEST(FreedCommunicator, does_not_end_calls_pending_on_others) {
  OwnMesh first;
  OwnMesh second;
  const auto mine = iota_view<Matrix>({6, 50'000});
  auto pending = all_reduce_async(mine, ReduceOp::sum, first.mesh, 0);
  auto failing = all_reduce_async(mine, ReduceOp::sum, second.mesh, 0);

  second.free();
  const auto outcome = outcome_of(pending, mine, first.mesh.size());
  const auto other_outcome = outcome_of(failing, mine, first.mesh.size());
  first.free();

  EXPECT_EQ(outcome, "complete");
  EXPECT_THAT(other_outcome, AnyOf("complete", HasSubstr("was freed")));
}

}  // namespace
}  // namespace tessera::test
