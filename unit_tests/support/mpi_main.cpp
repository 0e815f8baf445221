// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// main() of every test program that runs under mpiexec: each rank runs all tests, rank 0 reports,
// other ranks report their failures only, and the program fails if any rank failed.
#include <cstdio>
#include <memory>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <gtest/gtest.h>

#include "message_limit.hpp"

namespace {

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
    const auto limit = tessera::test::limit_of_messages();
    const int mine = RUN_ALL_TESTS();
    MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failed;
}
