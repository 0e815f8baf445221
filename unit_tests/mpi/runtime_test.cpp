// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <gtest/gtest.h>

#include <tessera/error/error.hpp>
#include <tessera/mpi/detail/runtime.hpp>

#include "../support/groups.hpp"
#include "node/nodes.hpp"

namespace {

using namespace tessera;

TEST(Runtime, leaves_an_mpi_alone_that_someone_else_initialised) {
  int argc = 0;
  char** argv = nullptr;

  const auto runtime = comm::start(argc, argv, MPI_THREAD_SINGLE);
  comm::finish(runtime);

  EXPECT_FALSE(runtime.initialised_mpi);
  EXPECT_TRUE(comm::is_usable());
}

TEST(Runtime, rejects_an_mpi_of_a_lower_thread_level) {
  int argc = 0, provided = 0;
  char** argv = nullptr;
  MPI_Query_thread(&provided);
  if (provided == MPI_THREAD_MULTIPLE) GTEST_SKIP() << "MPI has the highest level";

  EXPECT_THROW(comm::start(argc, argv, provided + 1), MpiError);
  EXPECT_TRUE(comm::is_usable());
}

TEST(Runtime, counts_ranks_of_the_node) {
  EXPECT_EQ(detail::node_local_rank(), test::world().rank());
}

}  // namespace
