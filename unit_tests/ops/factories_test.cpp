// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

namespace tessera::test {
namespace {

// --- factories, comparisons, items ---------------------------------------------------------------

TEST(OperatorFactories, ramps_and_unit_matrices) {
  const Traffic traffic;
  const auto up = arange<Vector>(line(), Shard(0), 5);
  const auto down = arange<VectorOf<std::int32_t>>(line(), Cyclic(0, 2), 9, 0, -4);
  const auto parts = linspace<Vector>(line(), Shard(0), 1, 2, 5);
  const auto unit = eye<Matrix>(line(), Shard(0), 3, 4);
  const auto square = eye<LeftMatrix>(line(), Shard(1), 3);
  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
  expect_elements(up, ElementsAre(0, 1, 2, 3, 4));
  expect_elements(down, ElementsAre(9, 5, 1));
  expect_elements(parts, ElementsAre(1, 1.25, 1.5, 1.75, 2));
  const auto diagonal = [](const Extents& at) { return at[0] == at[1] ? 1 : 0; };
  EXPECT_EQ(wrong_piece(unit, diagonal), "");
  EXPECT_EQ(wrong_piece(square, diagonal), "");
  EXPECT_THAT(invalid_argument_of([&] { arange<Vector>(line(), Shard(0), 0, 5, 0); }),
              HasSubstr("arange: "));
  EXPECT_THAT(invalid_argument_of([&] { linspace<Vector>(line(), Shard(0), 0, 5, -1); }),
              HasSubstr("linspace: "));
}

TEST(OperatorFactories, take_the_mesh_of_the_scope_and_an_instance) {
  const Kokkos::DefaultExecutionSpace exec;
  const auto mesh = line();
  const DeviceMeshScope scope(mesh);
  const auto ramp = arange<Vector>(Shard(0), 5), same = arange<Vector>(exec, Shard(0), 0, 5);
  const auto spaced = linspace<Vector>(Replicate(), 0, 2, 3);
  const auto unit = eye<Matrix>(exec, mesh, Shard(1), 2), wide = eye<Matrix>(Shard(0), 1, 2);
  exec.fence();

  EXPECT_EQ(ramp.device_mesh(), mesh);
  EXPECT_THAT(all_elements(ramp), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(all_elements(same), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(all_elements(spaced), ElementsAre(0, 1, 2));
  EXPECT_THAT(all_elements(unit), ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(all_elements(wide), ElementsAre(1, 0));
}

TEST(OperatorFactories, of_tensors_like_another_one) {
  const auto x = iota<LeftMatrix>(line(), Cyclic(1, 2), {4, 7});
  const auto p = contributions<Vector>(ReduceOp::sum, {4});
  const auto zero = zeros_like(x);
  const auto five = full_like(x, 5);
  const auto one_like = ones_like(p);
  EXPECT_EQ(zero.spec(), x.spec());
  EXPECT_EQ(empty_like(x).spec(), x.spec());
  EXPECT_EQ(rand_like(x).spec(), x.spec());
  EXPECT_EQ(randn_like(x).spec(), x.spec());
  EXPECT_EQ(five.spec(), x.spec());
  EXPECT_EQ(one_like.placements(), Placements{Replicate()});
  EXPECT_EQ(full_like(p, 1).placements(), Placements{Replicate()});
  EXPECT_EQ(wrong_piece(zero, [](const Extents&) { return 0; }), "");
  EXPECT_EQ(wrong_piece(five, [](const Extents&) { return 5; }), "");
  EXPECT_THAT(elements_of(one_like.to_local()), ElementsAre(1, 1, 1, 1));
}

TEST(Comparisons, of_whole_tensors_are_the_same_on_all_ranks) {
  const auto x = listed<Vector>(line(), Shard(0), {4}, {1, 2, nan, infinity});
  const auto finite = iota<Vector>(line(), Shard(0), {4});
  const auto near = finite * (1 + 1e-7);
  const auto last = listed<Vector>(line(), Shard(0), {4}, {0, 1, 2, 4});
  const auto r = iota<Vector>(line(), Replicate(), {4});
  const bool self = equal(finite, finite), with_nan = equal(x, x), other = equal(finite, last);
  const bool replica = equal(finite, r),
             shorter = equal(finite, iota<Vector>(line(), Shard(0), {3}));
  const bool close = allclose(near, finite), strict = allclose(near, finite, {1e-9, 0});
  const bool close_nan = allclose(x, x), same_nan = allclose(x, x, {.equal_nan = true});
  const bool opposite = allclose(x, -x, {.equal_nan = true});
  const bool absolute = allclose(finite, last, {.relative = 0, .absolute = 1});

  EXPECT_TRUE(self);
  EXPECT_FALSE(with_nan);
  EXPECT_FALSE(other);
  EXPECT_TRUE(replica);
  EXPECT_FALSE(shorter);
  EXPECT_TRUE(close);
  EXPECT_FALSE(strict);
  EXPECT_FALSE(close_nan);
  EXPECT_TRUE(same_nan);
  EXPECT_FALSE(opposite);
  EXPECT_TRUE(absolute);
}

TEST(Comparisons, of_integers_and_complex_numbers) {
  const auto n = iota<VectorOf<std::int64_t>>(line(), Shard(0), {5});
  const auto z = listed<VectorOf<Complex>>(line(), Shard(0), {2}, {{1, 1}, {0, infinity}});
  const bool same = equal(n, n), close = allclose(n, n + 0), far = allclose(n, n + 1);
  const Kokkos::DefaultExecutionSpace exec;
  const bool complex_same = equal(exec, z, z), complex_close = allclose(exec, z, z);

  EXPECT_TRUE(same);
  EXPECT_TRUE(close);
  EXPECT_FALSE(far);
  EXPECT_TRUE(complex_same);
  EXPECT_TRUE(complex_close);
}

TEST(Items, of_several_types_come_in_one_exchange) {
  const auto x = iota<Vector>(line(), Shard(0), {6});
  const auto n = iota<VectorOf<std::int32_t>>(line(), Shard(0), {6});
  const auto sum = ops::sum(x), most = ops::max(x);
  const auto whole = full<ScalarOf<double>>(line(), Replicate(), {}, 7.0);
  const auto count = ops::sum(n);
  const auto any = ops::any(n > 4);
  const Traffic traffic;
  const auto values = items(sum, most, count, any, whole);
  static_assert(std::is_same_v<decltype(values),
                               const std::tuple<double, double, std::int64_t, bool, double>>);

  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(values, std::tuple(15.0, 5.0, std::int64_t{15}, true, 7.0));
}

}  // namespace
}  // namespace tessera::test
