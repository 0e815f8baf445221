// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include <tessera/tensor/clone.hpp>
#include <tessera/tensor/factories.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

std::vector<DeviceMesh> lines() {
  return meshes_of({{1}, {2}, {3}, {8}});
}

/// Extents 3, 2, 3, … of a tensor of that many dims.
Extents shape_of(std::size_t tensor_dims) {
  Extents result;
  for (std::size_t d = 0; d < tensor_dims; ++d) result.push_back(d % 2 == 0 ? 3 : 2);
  return result;
}

template <class Data, class Layout>
void expect_copy_in_memory_of_its_own() {
  using V = Kokkos::View<Data, Layout, TestSpace>;
  for (const auto& mesh : lines()) {
    const Placements placements = V::rank() == 0 ? Placements{Replicate()} : Placements{Shard(-1)};
    const auto tensor = iota<V>(mesh, placements, shape_of(V::rank()));

    const auto copy = clone(tensor);
    if (is_on(mesh)) Kokkos::deep_copy(tensor.to_local(), -1);

    static_assert(std::is_same_v<decltype(copy), const DTensor<V>>);
    EXPECT_EQ(wrong_iota(copy), "");
    EXPECT_EQ(copy.spec(), tensor.spec());
    EXPECT_EQ(copy.device_mesh(), mesh);
  }
}

TEST(Clone, of_tensors_of_0_to_8_dims) {
  expect_copy_in_memory_of_its_own<double, Kokkos::LayoutRight>();
  expect_copy_in_memory_of_its_own<double*, Kokkos::LayoutLeft>();
  expect_copy_in_memory_of_its_own<double**, Kokkos::LayoutRight>();
  expect_copy_in_memory_of_its_own<double**, Kokkos::LayoutLeft>();
  expect_copy_in_memory_of_its_own<double***, Kokkos::LayoutRight>();
  expect_copy_in_memory_of_its_own<double********, Kokkos::LayoutLeft>();
}

TEST(Clone, of_a_const_unmanaged_view_is_managed_and_can_be_written) {
  using Const = Kokkos::View<const double**, Kokkos::LayoutLeft, TestSpace,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  for (const auto& mesh : lines()) {
    const auto memory = iota_view<LeftMatrix>({4, 3});
    const auto tensor = from_local(Const(memory), mesh, {Replicate()});

    const auto copy = clone(tensor);

    using Result = decltype(copy.to_local());
    static_assert(std::is_same_v<std::remove_cvref_t<Result>::non_const_data_type, double**>);
    static_assert(!std::remove_cvref_t<Result>::traits::memory_traits::is_unmanaged);
    EXPECT_EQ(wrong_iota(copy), "");
    EXPECT_NE(copy.to_local().data(), memory.data());
  }
}

TEST(Clone, of_a_subview_is_dense) {
  for (const auto& mesh : lines()) {
    const auto memory = iota_view<Matrix>({4, 6});
    const auto inner = Kokkos::subview(memory, std::pair(1, 3), std::pair(2, 5));
    const auto tensor = from_local(inner, mesh, {Replicate()});

    const auto copy = clone(tensor);

    EXPECT_TRUE(!is_on(mesh) || copy.to_local().span_is_contiguous());
    EXPECT_EQ(wrong_piece(copy, [](const Extents& i) { return 6 * (i[0] + 1) + i[1] + 2; }), "");
  }
}

TEST(Clone, keeps_static_extents_and_boundaries) {
  using Rows = Kokkos::View<double* [3], Kokkos::LayoutRight, TestSpace>;
  for (const auto& mesh : lines()) {
    const auto begin = [](std::int64_t rank) { return rank * (rank + 1) / 2; };
    const Rows local("local", is_on(mesh) ? mesh.rank() + 1u : 0u);
    if (is_on(mesh)) fill_iota(local, {begin(mesh.rank()), 0}, {begin(mesh.size()), 3});
    const auto tensor = from_local(local, mesh, {Shard(0)});

    const auto copy = clone(tensor);

    static_assert(std::is_same_v<decltype(copy), const DTensor<Rows>>);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(copy.spec(), tensor.spec());
    EXPECT_EQ(wrong_iota(copy), "");
  }
}

TEST(Clone, of_an_empty_piece_is_empty) {
  for (const auto& mesh : lines()) {
    const auto tensor = iota<Matrix>(mesh, {Shard(0)}, {1, 3});

    EXPECT_EQ(wrong_iota(clone(tensor)), "");
  }
}

TEST(Clone, with_an_instance_is_right_after_a_fence) {
  const Kokkos::DefaultExecutionSpace exec;
  for (const auto& mesh : lines()) {
    const auto tensor = iota<Matrix>(mesh, {Shard(0)}, {5, 3});

    const auto copy = clone(exec, tensor);
    exec.fence();

    EXPECT_EQ(wrong_iota(copy), "");
  }
}

}  // namespace
}  // namespace tessera::test
