// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// main() of every test program that runs under mpiexec: each rank runs all tests, rank 0 reports,
// other ranks report their failures only, and the program fails if any rank failed.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <gtest/gtest.h>

#include "comm/limit_scope.hpp"
#include "node/nodes.hpp"

namespace {

/// Longer messages on the communicator of MPI_COMM_WORLD come in several parts where
/// TESSERA_TEST_MESSAGE_LIMIT says how many bytes MPI takes at most.
std::optional<tessera::detail::LimitScope> limit_of_messages() {
  const char* const bytes = std::getenv("TESSERA_TEST_MESSAGE_LIMIT");
  if (bytes == nullptr) return std::nullopt;
  return std::optional<tessera::detail::LimitScope>(
      std::in_place, tessera::detail::communicator_on_nodes(MPI_COMM_WORLD), std::atoll(bytes));
}

class FailuresOfOtherRanks : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOfOtherRanks(int rank) : rank_(rank) {}

 private:
  void OnTestStart(const testing::TestInfo& info) override { running_ = &info; }
  void OnTestEnd(const testing::TestInfo&) override { running_ = nullptr; }

  // Googletest calls this with its lock held: asking it for the running test would deadlock.
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("[rank %d] %s.%s\n%s:%d: %s\n", rank_, running_ ? running_->test_suite_name() : "",
                running_ ? running_->name() : "", result.file_name() ? result.file_name() : "",
                result.line_number(), result.message());
    std::fflush(stdout);
  }

  const testing::TestInfo* running_ = nullptr;
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int failed = 0;
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) {
      auto& listeners = testing::UnitTest::GetInstance()->listeners();
      delete listeners.Release(listeners.default_result_printer());
      listeners.Append(new FailuresOfOtherRanks(rank));
    }
    const auto limit = limit_of_messages();
    const int mine = RUN_ALL_TESTS();
    MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failed;
}
