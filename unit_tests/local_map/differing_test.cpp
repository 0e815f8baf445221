// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls of local_map that are not the same on all ranks.
#include <string>

#include <gmock/gmock.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<DeviceMesh> lines() {
  return meshes_of({{2}, {3}, {4}, {8}});
}

Matrix same(const Matrix& view) {
  return view;
}

/// Rank 1 passes another output than the others.
std::string message_where(const DeviceMesh& mesh, const OutPlacement& of_rank_1,
                          const OutPlacement& of_others) {
  const auto x = iota<Matrix>(mesh, {Shard(0)}, {8, 4});
  const auto& out = mesh.rank() == 1 ? of_rank_1 : of_others;
  return message_of<InvalidArgument>([&] { local_map(same, out)(x); });
}

TEST(LocalMapDiffering, outputs_are_invalid_on_every_rank) {
  const OutPlacement rows{Shard(0)};
  for (const auto& mesh : lines()) {
    const auto of_dims = message_where(mesh, {Shard(1)}, rows);
    const auto of_kinds = message_where(mesh, {Replicate()}, rows);
    const auto of_rules = message_where(mesh, even({Shard(0)}), rows);
    const auto of_inputs = message_where(mesh, like_input(0), rows);
    const auto of_shapes =
        message_where(mesh, shaped({Shard(0)}, {9, 4}), shaped({Shard(0)}, {8, 4}));
    const auto after = local_map(same, rows)(iota<Matrix>(mesh, {Shard(0)}, {8, 4}));

    EXPECT_EQ(wrong_iota(after), "");
    if (!is_on(mesh)) continue;
    for (const auto& message : {of_dims, of_kinds, of_rules, of_inputs, of_shapes})
      EXPECT_THAT(message, HasSubstr("local_map: expected the same call on every rank"));
    EXPECT_THAT(of_dims, AllOf(HasSubstr("outputs: S(0)"), HasSubstr("outputs: S(1)")));
    EXPECT_THAT(of_shapes, HasSubstr("outputs: shaped(S(0), (9, 4))"));
  }
}

TEST(LocalMapDiffering, element_types_are_invalid_on_every_rank) {
  using Floats = Kokkos::View<float**, Kokkos::LayoutRight, TestSpace>;
  const auto sizes = local_map([](const auto& view) { return view.size(); }, none);
  for (const auto& mesh : lines()) {
    const auto doubles = iota<Matrix>(mesh, {Shard(0)}, {8, 4});
    const auto floats = iota<Floats>(mesh, {Shard(0)}, {8, 4});

    const auto message = message_of<InvalidArgument>([&] {
      if (mesh.rank() == 0)
        sizes(floats);
      else
        sizes(doubles);
    });

    if (!is_on(mesh)) continue;
    EXPECT_THAT(message, AllOf(HasSubstr("float32 (8, 4)"), HasSubstr("float64 (8, 4)")));
  }
}

}  // namespace
}  // namespace tessera::test
