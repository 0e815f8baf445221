// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of local_map that launch Kokkos kernels on their Views.
#include <utility>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {

struct Affine {
  template <class V>
  V operator()(const V& x, double factor, double shift) const {
    const auto result = detail::allocate<V>(detail::extents_of(x), "affine");
    using Policy = Kokkos::MDRangePolicy<typename V::execution_space, Kokkos::Rank<2>>;
    Kokkos::parallel_for(
        "affine", Policy({0, 0}, {x.extent_int(0), x.extent_int(1)}),
        KOKKOS_LAMBDA(int i, int j) { result(i, j) = factor * x(i, j) + shift; });
    return result;
  }
};

/// y = y + x in place, on Views of any layouts.
struct Add {
  template <class Y, class X>
  void operator()(const Y& y, const X& x) const {
    using Policy = Kokkos::MDRangePolicy<typename Y::execution_space, Kokkos::Rank<2>>;
    Kokkos::parallel_for(
        "add", Policy({0, 0}, {x.extent_int(0), x.extent_int(1)}),
        KOKKOS_LAMBDA(int i, int j) { y(i, j) += x(i, j); });
  }
};

namespace {

using Right = Kokkos::View<double**, Kokkos::LayoutRight>;
using Left = Kokkos::View<double**, Kokkos::LayoutLeft>;

template <class V>
void expect_right_values_of_a_kernel() {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {2, 2}, {4, 2}})) {
    const auto placements =
        mesh.ndim() == 1 ? Placements{Shard(1)} : Placements{Shard(1), Shard(0)};
    const auto x = iota<V>(mesh, placements, {7, 5});

    const auto y =
        local_map(Affine(), like_input(0), {placements, std::nullopt, std::nullopt})(x, 2.0, 1.0);

    const GlobalIndex twice({7, 5}, 2);
    EXPECT_EQ(wrong_piece(y, [&](const Extents& index) { return twice(index) + 1; }), "");
  }
}

TEST(LocalMapKernels, run_on_right_views) {
  expect_right_values_of_a_kernel<Right>();
}

TEST(LocalMapKernels, run_on_left_views) {
  expect_right_values_of_a_kernel<Left>();
}

TEST(LocalMapKernels, run_on_subviews_with_the_frame_untouched) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}})) {
    const Left memory("memory", 5, 6);
    const auto inner = Kokkos::subview(memory, std::pair(1, 4), std::pair(2, 6));
    const auto y = from_local(inner, mesh, {Shard(0)}, {3 * mesh.size(), 4});
    const auto x = iota<Right>(mesh, {Shard(0)}, {3 * mesh.size(), 4});

    local_map(Add(), none, {{Shard(0)}, {Shard(0)}})(y, x);
    Kokkos::fence();

    EXPECT_EQ(wrong_piece(y, GlobalIndex(x.shape())), "");
    if (!is_on(mesh)) continue;
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), memory);
    double frame = 0;
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 6; ++j)
        if (i < 1 || i >= 4 || j < 2) frame += host(i, j);
    EXPECT_EQ(frame, 0);
  }
}

}  // namespace
}  // namespace tessera::test
