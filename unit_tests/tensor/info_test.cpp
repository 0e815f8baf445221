// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <tessera/config/version.hpp>
#include <tessera/tensor/info.hpp>

#include "../support/meshes.hpp"

namespace {

using namespace tessera;
using testing::HasSubstr;

TEST(Info, names_what_was_found_and_decided) {
  const auto mesh = test::mesh_of({test::world_size()});
  const auto text = info(mesh);

  EXPECT_THAT(text, testing::StartsWith("Tessera "));
  EXPECT_THAT(text, HasSubstr("this is mesh rank " + std::to_string(mesh.rank())));
  EXPECT_THAT(text, HasSubstr("  Kokkos "));
  EXPECT_THAT(text, HasSubstr("  build: " + build_info()));
  EXPECT_THAT(text, HasSubstr("  MPI: "));
  EXPECT_THAT(text, HasSubstr("  nodes: "));
  EXPECT_THAT(text, HasSubstr("memory goes to MPI "));
  EXPECT_THAT(text, HasSubstr("  agreement: plan, timeout "));
}

TEST(Info, names_the_library_without_a_mesh) {
  const auto text = info();

  EXPECT_THAT(text, testing::StartsWith("Tessera " + version() + "\n  Kokkos "));
  EXPECT_THAT(text, HasSubstr("  build: " + build_info() + "\n  MPI: "));
}

TEST(Info, says_who_is_not_on_the_mesh) {
  const auto mesh = DeviceMesh::from_ranks(MPI_COMM_WORLD, {0}, {1});
  const char* expected = mesh.coordinate() ? "this is mesh rank 0, (0)" : "this rank is not on it";
  EXPECT_THAT(info(mesh), HasSubstr(expected));
}

}  // namespace
