// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <tessera/error/error.hpp>

#include "../support/errors.hpp"
#include "../support/groups.hpp"
#include "../support/variable.hpp"
#include "comm/communicator_state.hpp"
#include "comm/staging.hpp"
#include "node/nodes.hpp"

namespace {

int answer_of_mpich = 0;
bool does_mpich_answer = true;

}  // namespace

// In place of those of the MPI library.
extern "C" int MPIX_GPU_query_support(int gpu_type, int* is_supported) {
  *is_supported = gpu_type == 0 ? answer_of_mpich : 0;
  return does_mpich_answer ? MPI_SUCCESS : MPI_ERR_OTHER;
}
extern "C" int MPIX_Query_rocm_support() {
  return 1;
}

namespace {

using namespace tessera;
using detail::DeviceKind;
using detail::Staging;

TEST(Staging, mpi_is_asked_about_the_device_that_is_there) {
  EXPECT_FALSE(detail::ask_mpi(DeviceKind::none).is_aware);
  EXPECT_FALSE(detail::ask_mpi(DeviceKind::cuda).is_aware);

  answer_of_mpich = 1;
  EXPECT_TRUE(detail::ask_mpi(DeviceKind::cuda).is_aware);
  EXPECT_EQ(detail::ask_mpi(DeviceKind::cuda).source, "MPIX_GPU_query_support");
  EXPECT_FALSE(detail::ask_mpi(DeviceKind::hip).is_aware);
  answer_of_mpich = 0;
}

TEST(Staging, the_next_way_to_ask_counts_where_one_has_no_answer) {
  does_mpich_answer = false;
  const auto answer = detail::ask_mpi(DeviceKind::hip);
  does_mpich_answer = true;

  EXPECT_TRUE(answer.is_aware);
  EXPECT_EQ(answer.source, "MPIX_Query_rocm_support");
}

TEST(Staging, the_variable_of_cray_mpich_counts_with_its_library_where_mpi_has_no_answer) {
  const test::Variable variable("MPICH_GPU_SUPPORT_ENABLED", "1");
  does_mpich_answer = false;
  const auto without = detail::ask_mpi(DeviceKind::cuda);
  auto* const library = dlopen(LIBRARY_LIKE_THAT_OF_CRAY, RTLD_NOW);
  const auto with = detail::ask_mpi(DeviceKind::cuda);
  does_mpich_answer = true;
  const auto answered = detail::ask_mpi(DeviceKind::cuda);
  // Where the program has been taken to another machine.
  if (!std::filesystem::exists(LIBRARY_LIKE_THAT_OF_CRAY))
    GTEST_SKIP() << "the library is not here";
  ASSERT_NE(library, nullptr) << dlerror();
  dlclose(library);

  if (without.source != "MPI does not say") GTEST_SKIP() << "this MPI answers: " << without.source;
  EXPECT_TRUE(with.is_aware);
  EXPECT_EQ(with.source, "MPICH_GPU_SUPPORT_ENABLED and libmpi_gtl_cuda");
  EXPECT_FALSE(answered.is_aware);
  EXPECT_EQ(answered.source, "MPIX_GPU_query_support");
}

TEST(Staging, the_variable_of_rank_0_decides) {
  const int rank = test::world().rank();
  const std::pair<const char*, Staging> cases[] = {
      {"0", Staging::device_memory}, {"1", Staging::nothing}, {"stage_all", Staging::all_memory}};
  for (const auto& [text, staging] : cases) {
    const test::Variable variable("TESSERA_GPU_AWARE_MPI", rank == 0 ? text : "malformed");
    auto user = test::duplicate_world();
    const auto communicator = detail::communicator_on_nodes(user);
    EXPECT_EQ(communicator.state().staging, staging) << text;
    EXPECT_EQ(communicator.state().staging_source, "TESSERA_GPU_AWARE_MPI");
    MPI_Comm_free(&user);
  }
}

TEST(Staging, another_value_is_an_error_on_every_rank) {
  const test::Variable variable("TESSERA_GPU_AWARE_MPI", "yes");
  auto user = test::duplicate_world();
  EXPECT_THAT(
      test::message_of<InvalidArgument>([&] { detail::communicator_on_nodes(user); }),
      testing::StartsWith("TESSERA_GPU_AWARE_MPI: expected 0, 1 or stage_all, got \"yes\""));
  MPI_Comm_free(&user);
}

}  // namespace
