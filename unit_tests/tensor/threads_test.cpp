// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <gtest/gtest.h>

#include <tessera/tensor/detail/launch.hpp>

#include "../support/meshes.hpp"

namespace tessera::test {
namespace {

TEST(Threads, work_where_each_has_a_core_also_if_pinned) {
  const auto mesh = mesh_of({world_size()});
  const int threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  const bool has_cores = threads * world_size() <= sysconf(_SC_NPROCESSORS_ONLN);

  EXPECT_EQ(detail::is_for_threads(Execution(), detail::serial_bytes), threads > 1 && has_cores);
}

}  // namespace
}  // namespace tessera::test
