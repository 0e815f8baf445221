// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <tessera/redistribute/item.hpp>
#include <tessera/tensor/factories.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

std::vector<DeviceMesh> lines() {
  return meshes_of({{1}, {2}, {3}, {8}});
}

TEST(Item, is_the_value_of_a_zero_dimensional_tensor) {
  using Scalar = Kokkos::View<float, TestSpace>;
  using Const = Kokkos::View<const float, TestSpace>;
  const Kokkos::DefaultExecutionSpace exec;
  for (const auto& mesh : lines()) {
    const auto tensor = full<Scalar>(mesh, {Replicate()}, {}, 2.5f);
    const auto read_only = from_local(Const(tensor.to_local()), mesh, {Replicate()});

    const auto value = item(tensor);
    const float expected = is_on(mesh) ? 2.5f : 0.0f;

    static_assert(std::is_same_v<decltype(value), const float>);
    EXPECT_EQ(value, expected);
    EXPECT_EQ(item(exec, tensor), expected);
    EXPECT_EQ(item(read_only), expected);
  }
}

TEST(Item, of_a_partial_is_the_reduced_value_after_one_exchange) {
  using Scalar = Kokkos::View<double, TestSpace>;
  for (const auto& mesh : lines()) {
    const Scalar mine("mine");
    Kokkos::deep_copy(mine, mesh.rank() + 1);
    const auto sum = from_local(mine, mesh, Partial());
    const auto largest = from_local(mine, mesh, Partial(ReduceOp::max));
    const int n = mesh.size();

    EXPECT_EQ(item(sum), is_on(mesh) ? n * (n + 1) / 2 : 0);
    EXPECT_EQ(item(Kokkos::DefaultExecutionSpace(), largest), is_on(mesh) ? n : 0);
    const Traffic traffic;
    item(sum);
    EXPECT_EQ(traffic.exchanges(), is_on(mesh) && n > 1 ? 1 : 0);
  }
}

TEST(Item, of_more_dims_is_invalid) {
  for (const auto& mesh : lines()) {
    const auto matrix = zeros<Matrix>(mesh, {Replicate()}, {1, 1});

    const auto message = message_of<InvalidArgument>([&] { item(matrix); });

    EXPECT_THAT(message, HasSubstr("item: expected a 0-d tensor, got shape (1, 1)"));
  }
}

}  // namespace
}  // namespace tessera::test
