// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// visualize_sharding of tensors: the ranks compare their Views with the spec.
#include <string>

#include <gmock/gmock.h>

#include <tessera/picture/visualize_sharding.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

std::vector<DeviceMesh> meshes() {
  return meshes_of({{1}, {2}, {3}, {4}, {2, 2}});
}

TEST(VisualizeTensor, is_the_picture_of_its_spec_on_every_rank) {
  for (const auto& mesh : meshes()) {
    const std::vector<Placement> rows(static_cast<std::size_t>(mesh.ndim()), Shard(0));
    const auto tensor = iota<LeftMatrix>(mesh, Placements(rows), {7, 3});

    Traffic traffic;
    const auto text = visualize_sharding(tensor);
    const int metadata = traffic.metadata();
    const int exchanges = traffic.exchanges();

    EXPECT_EQ(text, is_on(mesh) ? visualize_sharding(tensor.spec()) : "");
    EXPECT_EQ(metadata, is_on(mesh) && mesh.size() > 1 ? 1 : 0);
    EXPECT_EQ(exchanges, 0);
  }
}

TEST(VisualizeTensor, options_may_differ_between_ranks) {
  for (const auto& mesh : meshes()) {
    const auto tensor = iota<Vector>(mesh_of({mesh.size()}), {Shard(0)}, {2 * mesh.size()});
    const VisualizeOptions options{.width = 60 + world_rank(), .colour = world_rank() == 0};

    const auto text = visualize_sharding(tensor, options);

    EXPECT_EQ(text, is_on(mesh) ? visualize_sharding(tensor.spec(), options) : "");
  }
}

TEST(VisualizeTensor, zero_dims_and_empty_pieces_agree) {
  using Scalar = Kokkos::View<double, TestSpace>;
  for (const auto& mesh : meshes()) {
    if (mesh.ndim() != 1) continue;
    const auto scalar = full<Scalar>(mesh, {Replicate()}, {}, 1.0);
    const auto row = iota<Matrix>(mesh, {Shard(0)}, {1, 3});

    EXPECT_EQ(visualize_sharding(scalar).find('!'), std::string::npos);
    EXPECT_EQ(visualize_sharding(row).find('!'), std::string::npos);
  }
}

TEST(VisualizeTensor, a_wrong_view_on_one_rank_is_marked_on_every_rank) {
  for (const auto& mesh : meshes()) {
    if (mesh.ndim() != 1) continue;
    const DTensorSpec spec(mesh.layout(), {Shard(0)}, {2 * mesh.size(), 3});
    const int wrong = mesh.size() - 1;
    const Extents mine = mesh.rank() == wrong ? Extents{5, 3} : Extents{2, 3};

    const auto text = detail::visualize_pieces(mesh, spec, mine, {});

    if (!is_on(mesh)) continue;
    const auto number = std::to_string(wrong);
    EXPECT_THAT(text, HasSubstr(" " + number + "! "));
    EXPECT_THAT(text, HasSubstr("! rank " + number +
                                " holds a View of shape (5, 3), its piece has shape (2, 3)\n"));
    EXPECT_EQ(text.find(" 0! ") != std::string::npos, wrong == 0);
  }
}

TEST(VisualizeTensor, a_view_where_there_should_be_none_is_reported) {
  for (const auto& mesh : meshes()) {
    if (mesh.ndim() != 1 || mesh.size() == 1) continue;
    const DTensorSpec spec(mesh.layout(), {Shard(0)}, {1, 3});

    const auto text = detail::visualize_pieces(mesh, spec, {1, 3}, {});

    if (!is_on(mesh)) continue;
    EXPECT_THAT(text, HasSubstr("! rank 1 holds a View of shape (1, 3), its piece has shape (0, "));
  }
}

TEST(VisualizeTensor, differing_tensors_and_wrong_slices_throw_everywhere) {
  const auto mesh = mesh_of({world_size()});
  const DTensorSpec mine(mesh.layout(), {Shard(0)}, {8, world_rank() == 0 ? 3 : 2});
  const auto matrix = iota<Matrix>(mesh, {Shard(0)}, {8, 3});

  const auto differing = message_of<InvalidArgument>(
      [&] { detail::visualize_pieces(mesh, mine, mine.local_shape(world_rank()), {}); });
  const auto wrong_slice =
      message_of<InvalidArgument>([&] { visualize_sharding(matrix, {.slice = {1}}); });
  const auto no_tensor = message_of<InvalidArgument>([] { visualize_sharding(DTensor<Matrix>()); });

  const char* const expected = world_size() > 1 ? "visualize_sharding of (8, 3)" : "no error";
  EXPECT_THAT(differing, HasSubstr(expected));
  EXPECT_THAT(wrong_slice, HasSubstr("visualize_sharding: expected a slice of 0 indices"));
  EXPECT_THAT(no_tensor, HasSubstr("expected a tensor"));
  EXPECT_EQ(visualize_sharding(matrix), visualize_sharding(matrix.spec()));
}

}  // namespace
}  // namespace tessera::test
