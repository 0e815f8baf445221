// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <tessera/tensor/detail/launch.hpp>

namespace {

using tessera::Execution;
using tessera::detail::is_for_threads;
using tessera::detail::serial_bytes;
using tessera::detail::set_cores_per_rank;

/// As if this machine had so many cores for each rank, as long as it lives.
class WithCores {
 public:
  explicit WithCores(int cores) : before_(set_cores_per_rank(cores)) {}
  ~WithCores() { set_cores_per_rank(before_); }
  WithCores(const WithCores&) = delete;
  WithCores& operator=(const WithCores&) = delete;

 private:
  int before_;
};

TEST(Launch, is_for_all_threads_where_each_has_a_core) {
  const int threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  const WithCores cores(threads);

  EXPECT_EQ(is_for_threads(Execution(), serial_bytes), threads > 1);
  EXPECT_FALSE(is_for_threads(Execution(), serial_bytes - 1));
}

TEST(Launch, is_for_the_calling_thread_where_threads_of_all_ranks_outnumber_the_cores) {
  const WithCores cores(Kokkos::DefaultHostExecutionSpace().concurrency() - 1);

  EXPECT_FALSE(is_for_threads(Execution(), 1000 * serial_bytes));
}

}  // namespace
