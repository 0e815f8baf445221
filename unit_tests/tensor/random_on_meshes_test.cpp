// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Random tensors have the same elements on every mesh, with all placements and layouts.
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/redistribute/item.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/clone.hpp>
#include <tessera/tensor/factories.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

const Extents shape{7, 10};

/// The mesh of this rank alone.
DeviceMesh alone() {
  return DeviceMesh::from_ranks(MPI_COMM_WORLD, {world_rank()}, {1});
}

using Case = std::pair<DeviceMesh, Placements>;

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}}))
    for (const Placements& placements : {Placements{Replicate()}, {Shard(0)}, {Shard(1)}})
      result.emplace_back(mesh, placements);
  for (const auto& mesh : meshes_of({{2, 2}, {4, 2}})) {
    result.emplace_back(mesh, Placements{Shard(0), Shard(1)});
    result.emplace_back(mesh, Placements{Shard(1), Shard(1)});
    result.emplace_back(mesh, Placements({Shard(1), Shard(1)}, {1, 0}));
    result.emplace_back(mesh, Placements{Replicate(), Shard(0)});
  }
  return result;
}

/// The bits of all elements of a View, by row-major index.
template <class V>
std::vector<typename V::value_type> elements(const V& view) {
  const auto host = on_host(view);
  std::vector<typename V::value_type> result;
  for_each_index_in({Extents::filled(V::rank(), 0), detail::extents_of(view)},
                    [&](const Extents& index) {
                      result.push_back(element_of(host, Extents::filled(V::rank(), 0), index));
                    });
  return result;
}

template <class T>
bool have_equal_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class V, class Make>
void expect_equal_bits_on_all_meshes(const Make& make) {
  using Right = Kokkos::View<typename V::data_type, Kokkos::LayoutRight, typename V::memory_space>;
  const auto reference =
      elements(make.template operator()<Right>(alone(), {Replicate()}).to_local());
  for (const auto& [mesh, placements] : cases()) {
    Traffic traffic;
    const auto tensor = make.template operator()<V>(mesh, placements);
    const int exchanges = traffic.exchanges() + traffic.metadata() + traffic.agreements();
    const auto full = elements(full_tensor(tensor));

    EXPECT_EQ(exchanges, 0);
    if (!is_on(mesh)) continue;
    EXPECT_TRUE(have_equal_bits(full, reference)) << to_string(tensor.spec());
  }
}

TEST(RandomOnMeshes, uniform_doubles_are_equal_bit_by_bit) {
  const auto make = []<class V>(const DeviceMesh& mesh, const Placements& placements) {
    return rand<V>(mesh, placements, shape, {.seed = 11, .stream = 3});
  };

  expect_equal_bits_on_all_meshes<Matrix>(make);
  expect_equal_bits_on_all_meshes<LeftMatrix>(make);
}

TEST(RandomOnMeshes, normal_doubles_are_equal_bit_by_bit) {
  const auto make = []<class V>(const DeviceMesh& mesh, const Placements& placements) {
    return randn<V>(mesh, placements, shape, {.seed = 11, .stream = 3});
  };

  expect_equal_bits_on_all_meshes<Matrix>(make);
  expect_equal_bits_on_all_meshes<LeftMatrix>(make);
}

TEST(RandomOnMeshes, uniform_floats_are_equal_bit_by_bit) {
  const auto make = []<class V>(const DeviceMesh& mesh, const Placements& placements) {
    return rand<V>(mesh, placements, shape, {.seed = 12});
  };

  expect_equal_bits_on_all_meshes<Kokkos::View<float**, Kokkos::LayoutRight, TestSpace>>(make);
}

TEST(RandomOnMeshes, replicas_are_equal) {
  for (const auto& mesh : meshes_of({{2}, {2, 2}, {4, 2}})) {
    const auto placements =
        mesh.ndim() == 1 ? Placements{Replicate()} : Placements{Replicate(), Shard(0)};
    const auto tensor = rand<Matrix>(mesh, placements, shape, {.seed = 5});

    EXPECT_NO_THROW(from_local(tensor.to_local(), mesh, placements, {.run_check = true}));
  }
}

TEST(RandomOnMeshes, another_seed_or_stream_differs) {
  const auto draw = [](const Random& random) {
    return elements(rand<Matrix>(alone(), {Replicate()}, shape, random).to_local());
  };

  const auto first = draw({.seed = 1, .stream = 2});

  EXPECT_TRUE(have_equal_bits(first, draw({.seed = 1, .stream = 2})));
  EXPECT_FALSE(have_equal_bits(first, draw({.seed = 2, .stream = 2})));
  EXPECT_FALSE(have_equal_bits(first, draw({.seed = 1, .stream = 3})));
  EXPECT_FALSE(have_equal_bits(first, draw({.seed = 2, .stream = 1})));
  EXPECT_FALSE(have_equal_bits(first, draw({})));
}

/// What rand() and randn() draw without a seed, one after the other.
std::vector<std::vector<double>> next_two(const DeviceMesh& mesh, const Placements& placements) {
  return {elements(full_tensor(rand<Matrix>(mesh, placements, shape))),
          elements(full_tensor(randn<Matrix>(mesh, placements, shape)))};
}

TEST(RandomOnMeshes, calls_without_a_seed_differ_until_manual_seed_restarts_them) {
  const auto mesh = alone();
  const auto draw = [&] { return elements(rand<Matrix>(mesh, {Replicate()}, shape).to_local()); };
  manual_seed(mesh, 7);
  const auto first = draw(), second = draw();
  manual_seed(mesh, 7);
  const auto again = draw();
  manual_seed(mesh, 8);
  const auto other = draw();

  EXPECT_FALSE(have_equal_bits(first, second));
  EXPECT_TRUE(have_equal_bits(first, again));
  EXPECT_FALSE(have_equal_bits(first, other));
  const Random same{.seed = 7, .stream = (std::uint64_t{1} << 63) + 1};
  EXPECT_TRUE(
      have_equal_bits(second, elements(rand<Matrix>(mesh, {Replicate()}, shape, same).to_local())));
}

TEST(RandomOnMeshes, calls_without_a_seed_are_equal_on_all_meshes) {
  manual_seed(alone(), 3);
  const auto expected = next_two(alone(), {Replicate()});
  for (const auto& [mesh, placements] : cases()) {
    manual_seed(mesh, 3);
    const auto got = next_two(mesh, placements);
    if (!is_on(mesh)) continue;
    EXPECT_TRUE(have_equal_bits(got[0], expected[0])) << to_string(mesh);
    EXPECT_TRUE(have_equal_bits(got[1], expected[1])) << to_string(mesh);
  }
}

TEST(RandomOnMeshes, calls_without_a_seed_send_no_message) {
  const auto mesh = mesh_of({world_size()});
  manual_seed(mesh, 1);
  Traffic traffic;
  for (int i = 0; i < 3; ++i) rand<Matrix>(mesh, {Shard(0)}, shape);
  EXPECT_EQ(traffic.exchanges() + traffic.metadata() + traffic.agreements(), 0);
}

TEST(RandomOnMeshes, a_call_that_one_rank_alone_makes_is_found) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto mesh = mesh_of({world_size()});
  manual_seed(mesh, 1);
  if (mesh.rank() == 1) rand<Matrix>(mesh, {Shard(0)}, shape);
  const auto draw = [&] { return rand<Matrix>(mesh, {Shard(0)}, shape); };
  EXPECT_NO_THROW(draw());
  EXPECT_THROW(full_tensor(draw()), InvalidArgument);
  // The ranks are in step again, but have drawn different numbers of tensors.
  const auto message = message_of<InvalidArgument>(draw);
  EXPECT_NE(message.find("call 2 after manual_seed(1)"), std::string::npos) << message;
  EXPECT_NE(message.find("call 3 after manual_seed(1)"), std::string::npos) << message;
  manual_seed(mesh, 1);
  EXPECT_NO_THROW(full_tensor(draw()));
}

/// The call that fails may be one on another mesh of the same ranks.
TEST(RandomOnMeshes, a_call_that_one_rank_alone_makes_is_found_on_another_mesh) {
  if (world_size() % 2 != 0) GTEST_SKIP() << "needs an even number of ranks";
  const auto mesh = mesh_of({world_size()}), other = mesh_of({2, world_size() / 2});
  manual_seed(mesh, 1);
  const auto x = ones<Matrix>(other, {Shard(0), Shard(1)}, shape);
  if (mesh.rank() == 1) rand<Matrix>(mesh, {Shard(0)}, shape);
  EXPECT_THROW(full_tensor(x), Error);
  EXPECT_THROW(rand<Matrix>(mesh, {Shard(0)}, shape), InvalidArgument);
  manual_seed(mesh, 1);
  EXPECT_NO_THROW(full_tensor(rand<Matrix>(mesh, {Shard(0)}, shape)));
}

/// Sum over the ranks of the mesh.
double sum_over(const DeviceMesh& mesh, double mine) {
  const Kokkos::View<double, TestSpace> local("local");
  Kokkos::deep_copy(local, mine);
  return item(reduce_partial(from_local(local, mesh, {Partial()})));
}

TEST(RandomOnMeshes, a_million_normal_numbers_have_mean_0_and_variance_1) {
  constexpr std::int64_t n = 1'000'000;
  const auto mesh = mesh_of({world_size()});
  const auto tensor = randn<Vector>(mesh, {Shard(0)}, {n}, {.seed = 1234});
  double local_sum = 0;
  double local_squares = 0;
  const auto local = on_host(tensor.to_local());
  for (std::size_t i = 0; i < local.extent(0); ++i) {
    local_sum += local(i);
    local_squares += local(i) * local(i);
  }

  const double mean = sum_over(mesh, local_sum) / n;
  const double variance = sum_over(mesh, local_squares) / n - mean * mean;

  EXPECT_NEAR(mean, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(variance, 1, 5 * std::sqrt(2.0 / n));
}

}  // namespace
}  // namespace tessera::test
