// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <type_traits>

#include <gmock/gmock.h>

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/deep_copy.hpp>
#include <tessera/tensor/factories.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

std::vector<DeviceMesh> lines() {
  return meshes_of({{1}, {2}, {3}});
}

TEST(DTensor, rank_is_that_of_the_view) {
  static_assert(DTensor<Matrix>::rank == 2);
  static_assert(DTensor<Kokkos::View<float>>::rank() == 0);
}

TEST(DTensor, mesh_and_placements_cannot_be_set) {
  using Tensor = DTensor<Matrix>&;
  using Mesh = decltype(std::declval<Tensor>().device_mesh());
  using Placed = decltype(std::declval<Tensor>().placements());
  static_assert(!std::is_assignable_v<Mesh, DeviceMesh>);
  static_assert(!std::is_assignable_v<Placed, Placements>);

  for (const auto& mesh : lines()) {
    const auto tensor = zeros<Matrix>(mesh, Shard(0), {7, 3});

    EXPECT_EQ(tensor.device_mesh(), mesh);
    EXPECT_EQ(tensor.placements(), Placements{Shard(0)});
  }
}

TEST(DTensor, full_tensor_is_the_local_piece_of_a_redistribution_to_replicate) {
  for (const auto& mesh : meshes_of({{1}, {3}, {2, 2}})) {
    const auto rest = mesh.ndim() == 1 ? Placements{Partial()} : Placements{Partial(), Shard(1)};
    const auto stored =
        mesh.ndim() == 1 ? Placements{Replicate()} : Placements{Replicate(), Shard(1)};
    const auto tensor =
        from_local(iota<Matrix>(mesh, stored, {5, 3}).to_local(), mesh, rest, {5, 3});

    const auto full = full_tensor(tensor);
    const auto moved = redistribute(tensor, all_replicate);

    if (!is_on(mesh)) continue;
    const GlobalIndex expected({5, 3}, mesh.size(0));
    EXPECT_EQ(wrong_view(full, {5, 3}, expected), "");
    EXPECT_EQ(wrong_view(moved.to_local(), {5, 3}, expected), "");
  }
}

TEST(DTensor, without_a_mesh_is_refused_by_calls_that_communicate) {
  const DTensor<Matrix> nothing;

  EXPECT_THAT(message_of<InvalidArgument>([&] { redistribute(nothing, Shard(0)); }),
              HasSubstr("redistribute: "));
  EXPECT_THAT(message_of<InvalidArgument>([&] { reduce_partial(nothing); }),
              HasSubstr("reduce_partial: "));
  EXPECT_THAT(message_of<InvalidArgument>([&] { full_tensor(nothing); }),
              HasSubstr("full_tensor: "));
}

TEST(DTensor, shape_and_size_are_those_of_the_full_tensor) {
  for (const auto& mesh : lines()) {
    const auto tensor = zeros<Matrix>(mesh, Shard(0), {2 * mesh.size() + 1, 3});
    const auto mine = chunk({0, 2 * mesh.size() + 1}, mesh.size(), is_on(mesh) ? mesh.rank() : 0);

    EXPECT_EQ(tensor.shape(), (Extents{2 * mesh.size() + 1, 3}));
    EXPECT_EQ(tensor.extent(0), 2 * mesh.size() + 1);
    EXPECT_EQ(tensor.size(), 6 * mesh.size() + 3);
    EXPECT_EQ(tensor.local_shape(), is_on(mesh) ? (Extents{mine.size(), 3}) : (Extents{0, 0}));
  }
}

TEST(DTensor, extent_counts_negative_dims_from_the_last_one) {
  for (const auto& mesh : lines()) {
    const auto tensor = zeros<Matrix>(mesh, Shard(0), {7, 3});

    EXPECT_EQ(tensor.extent(0), 7);
    EXPECT_EQ(tensor.extent(1), 3);
    EXPECT_EQ(tensor.extent(-1), 3);
    EXPECT_EQ(tensor.extent(-2), 7);
    for (const int dim : {2, -3})
      EXPECT_EQ(message_of<InvalidArgument>([&] { tensor.extent(dim); }),
                "extent: expected a dim of a 2-d tensor, got " + std::to_string(dim));
  }
}

TEST(DTensor, as_text_names_element_type_spec_and_local_piece) {
  for (const auto& mesh : lines()) {
    const auto tensor = zeros<Matrix>(mesh, Shard(0), {6, 3});
    std::ostringstream text;
    text << tensor;

    EXPECT_EQ(text.str(), to_string(tensor));
    EXPECT_THAT(text.str(), HasSubstr("float64 " + to_string(tensor.spec())));
    EXPECT_THAT(text.str(), HasSubstr(is_on(mesh) ? "here " + to_string(tensor.local_shape())
                                                  : std::string("off the mesh")));
  }
  EXPECT_EQ(to_string(DTensor<Matrix>()), "float64 tensor without a mesh");
}

TEST(DeepCopy, copies_the_values_between_layouts_into_the_same_memory) {
  for (const auto& mesh : lines()) {
    const auto source = iota<LeftMatrix>(mesh, Shard(0), {5, 4});
    const auto destination = zeros<Matrix>(mesh, Shard(0), {5, 4});
    const auto* const memory = destination.to_local().data();

    deep_copy(destination, source);

    EXPECT_EQ(destination.to_local().data(), memory);
    EXPECT_TRUE(is_iota(destination));
  }
}

TEST(DeepCopy, of_a_number_fills_and_can_be_ordered_on_an_instance) {
  for (const auto& mesh : lines()) {
    const auto ones = tessera::ones<Matrix>(mesh, Shard(0), {5, 4});
    const auto tensor = zeros<Matrix>(mesh, Shard(0), {5, 4});
    const Kokkos::DefaultExecutionSpace exec;

    deep_copy(tensor, 7);
    if (is_on(mesh) && tensor.to_local().size() > 0) {
      EXPECT_EQ(on_host(tensor.to_local())(0, 0), 7.0);
    }
    deep_copy(exec, tensor, ones);
    exec.fence();
    if (is_on(mesh) && tensor.to_local().size() > 0) {
      EXPECT_EQ(on_host(tensor.to_local())(0, 0), 1.0);
    }
  }
}

TEST(DeepCopy, between_views_that_overlap_is_invalid) {
  const auto mesh = mesh_of({world_size()});
  const Matrix rows("rows", 4, 5);
  const auto part = [&](int first) {
    const Matrix view(Kokkos::subview(rows, Kokkos::make_pair(first, first + 2), Kokkos::ALL));
    return from_local(view, mesh, {Shard(0)});
  };

  EXPECT_THAT(message_of<InvalidArgument>([&] { deep_copy(part(0), part(1)); }),
              HasSubstr("deep_copy: expected tensors that share no memory"));
  deep_copy(part(0), part(0));
  deep_copy(part(0), part(2));
}

TEST(DeepCopy, between_other_specs_or_meshes_is_invalid) {
  for (const auto& mesh : lines()) {
    const auto rows = zeros<Matrix>(mesh, Shard(0), {5, 4});
    const auto columns = zeros<Matrix>(mesh, Shard(1), {5, 4});
    const auto elsewhere = zeros<Matrix>(mesh_of({1, 1}), {Shard(0), Replicate()}, {5, 4});

    EXPECT_THAT(message_of<InvalidArgument>([&] { deep_copy(rows, columns); }),
                HasSubstr("deep_copy: expected tensors of one spec (see redistribute_into), got"));
    EXPECT_THAT(message_of<MeshMismatch>([&] { deep_copy(rows, elsewhere); }),
                HasSubstr("deep_copy: expected tensors on one mesh"));
  }
}

}  // namespace
}  // namespace tessera::test
