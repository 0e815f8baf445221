// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "../support/errors.hpp"
#include "../support/tensors.hpp"
#include "cases.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

using HostLeft = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

TEST(Descriptor, describes_block_cyclic_matrices_both_ways) {
  const auto mesh = mesh_of({1, world_size()});
  const auto a = iota<HostLeft>(mesh, {Cyclic(0, 3), Cyclic(1, 2)}, {10, 17});

  const auto d = descriptor(a, 7);

  EXPECT_EQ(d, (ScalapackDescriptor{1, 7, 10, 17, 3, 2, 0, 0, 10}));
  EXPECT_EQ(spec_of(d, mesh), a.spec());
}

TEST(Descriptor, of_what_scalapack_does_not_know_is_an_error) {
  const auto line = mesh_of({world_size()});
  const auto mesh = mesh_of({1, world_size()});
  const auto rows = iota<HostLeft>(mesh, {Replicate(), Cyclic(0, 2)}, {4, 6});
  EXPECT_EQ(
      invalid_argument_of([&] { descriptor(rows); }).substr(0, 97),
      "descriptor: expected a matrix on a mesh of 2 dims under {Cyclic(0, mb), Cyclic(1, nb)}, "
      "got (4, 6");
  EXPECT_EQ(
      invalid_argument_of([&] {
        descriptor(iota<HostMatrix>(mesh, {Cyclic(0, 2), Cyclic(1, 2)}, {4, 2 * world_size()}));
      }),
      "descriptor: expected contiguous columns, as those of a View in LayoutLeft are");
  EXPECT_EQ(invalid_argument_of([&] {
              spec_of({1, 0, 4, 4, 2, 2, 1, 0, 4}, mesh);
            }).substr(0, 8),
            "spec_of:");
  EXPECT_EQ(invalid_argument_of([&] {
              spec_of({1, 0, 4, 4, 2, 2, 0, 0, 4}, line);
            }).substr(0, 8),
            "spec_of:");
}

}  // namespace
