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

TEST(LocalMapDiffering, local_shapes_of_outputs_without_shards_are_invalid_on_every_rank) {
  for (const auto& mesh : lines()) {
    const auto pieces = iota<Matrix>(mesh, {Shard(0)}, {2 * mesh.size() - 1, 4});
    const auto message_with = [&](const OutPlacement& out) {
      return message_of<InvalidArgument>([&] { local_map(same, out)(pieces); });
    };
    const std::vector<std::string> messages{
        message_with(Placements{Replicate()}), message_with(Placements{Partial()}),
        message_with(even({Shard(0)})), message_with(Placements{Replicate()})};
    const auto equal = local_map([](const Matrix&) { return Matrix("equal", 2, 2); },
                                 Placements{Partial()})(pieces);

    if (!is_on(mesh)) continue;
    EXPECT_EQ(equal.shape(), (Extents{2, 2}));
    for (const auto& message : messages)
      EXPECT_THAT(message, AllOf(HasSubstr("local_map: expected the same call on every rank"),
                                 HasSubstr("a func that returns a local View of shape (2, 4) as"),
                                 HasSubstr("(1, 4) as")));
  }
}

TEST(LocalMapDiffering, local_shapes_are_compared_in_every_call_at_the_level_always) {
  for (const auto& mesh : lines()) {
    const auto before = agreement(mesh);
    set_agreement(mesh, {.level = Agreement::always, .timeout = before.timeout});
    const auto x = ones<Matrix>(mesh, {Replicate()}, {4, 4});
    int rows = 4;
    const auto first_rows = [&](const Matrix&) { return Matrix("rows", rows, 4); };
    const auto run = [&] { return local_map(first_rows, Placements{Replicate()})(x); };
    run();
    rows = mesh.rank() == 1 ? 3 : 4;

    const auto message = message_of<InvalidArgument>([&] { run(); });
    rows = 4;

    const auto after = run();
    set_agreement(mesh, before);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(after.shape(), (Extents{4, 4}));
    EXPECT_THAT(message, HasSubstr("a func that returns a local View of shape (3, 4) as R"));
  }
}

}  // namespace
}  // namespace tessera::test
