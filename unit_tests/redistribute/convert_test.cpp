// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that change on their way: other element types, factors.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

template <class T, class Layout = Kokkos::LayoutRight>
using Of = Kokkos::View<T**, Layout, TestSpace>;
template <class T>
using List = Kokkos::View<T*, TestSpace>;

const std::vector<Placement> rules{Shard(0),    Shard(1),    Balanced(0), Cyclic(0, 2),
                                   Replicate(), HeadTail(1), Cyclic(1, 3)};

/// The list with these values, in the tests' memory.
template <class T>
List<T> list_of(const std::vector<T>& values) {
  List<T> list("list", values.size());
  change_on_host(list, [&](const auto& host) {
    for (std::size_t i = 0; i < values.size(); ++i) host(i) = values[i];
  });
  return list;
}

template <class To, class From>
std::vector<To> converted(const std::vector<From>& values) {
  const auto mesh = mesh_of({world_size()});
  const auto result = on_host(to<To>(from_local(list_of(values), mesh, Replicate())).to_local());
  std::vector<To> list;
  for (std::size_t i = 0; i < result.size(); ++i) list.push_back(result(i));
  return list;
}

TEST(To, converts_as_static_cast_does) {
  EXPECT_EQ((converted<float, double>({0.1, -2.5, 1e300})),
            (std::vector<float>{0.1f, -2.5f, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ((converted<int, double>({1.9, -1.9, 0.0})), (std::vector<int>{1, -1, 0}));
  EXPECT_EQ((converted<double, std::int64_t>({3, -4})), (std::vector<double>{3, -4}));
  EXPECT_EQ((converted<std::uint8_t, int>({-1, 256, 7})), (std::vector<std::uint8_t>{255, 0, 7}));
  EXPECT_EQ((converted<std::int64_t, std::int64_t>({INT64_MAX, INT64_MIN})),
            (std::vector<std::int64_t>{INT64_MAX, INT64_MIN}));
}

TEST(To, converts_what_no_integer_holds_to_the_nearest_one) {
  constexpr auto inf = std::numeric_limits<double>::infinity();
  constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ((converted<int, double>({1e10, -1e10, inf, -inf, nan, 2147483647.5})),
            (std::vector<int>{INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0, INT32_MAX}));
  EXPECT_EQ((converted<std::int64_t, double>({9223372036854775807.0, -9.3e18, -2.5})),
            (std::vector<std::int64_t>{INT64_MAX, INT64_MIN, -2}));
  EXPECT_EQ((converted<std::uint8_t, float>({-1.0f, 300.0f, 254.9f})),
            (std::vector<std::uint8_t>{0, 255, 254}));
}

TEST(To, bool_is_what_differs_from_zero) {
  const auto mesh = mesh_of({world_size()});
  const auto truth =
      to<bool>(from_local(list_of<double>({0.0, -0.0, 0.25, -3}), mesh, Replicate()));
  const auto host = on_host(truth.to_local());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(host(i), i >= 2);
  const auto back = on_host(to<double>(truth).to_local());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(back(i), i >= 2 ? 1.0 : 0.0);
}

TEST(To, complex_numbers_keep_both_parts) {
  using Single = Kokkos::complex<float>;
  using Double = Kokkos::complex<double>;
  const auto mesh = mesh_of({world_size()});
  const auto x = from_local(list_of<Double>({{1, 2}, {-3, 0.5}}), mesh, Replicate());
  const auto host = on_host(to<Single>(x).to_local());
  EXPECT_EQ(host(0), Single(1, 2));
  EXPECT_EQ(host(1), Single(-3, 0.5));
  const auto real =
      on_host(to<Double>(from_local(list_of<int>({7}), mesh, Replicate())).to_local());
  EXPECT_EQ(real(0), Double(7, 0));
}

TEST(To, moves_to_another_layout_and_memory_and_sends_nothing) {
  const auto mesh = mesh_of({world_size()});
  for (const auto& rule : rules) {
    const auto x = iota<Matrix>(mesh, rule, {7, 10});
    const Traffic traffic;
    const auto floats = to<Of<float, Kokkos::LayoutLeft>>(x);
    const auto host = to<Kokkos::View<std::int16_t**, Kokkos::LayoutRight, Kokkos::HostSpace>>(x);
    EXPECT_EQ(traffic.exchanges(), 0);
    EXPECT_EQ(wrong_iota(floats), "") << to_string(rule);
    EXPECT_EQ(wrong_iota(host), "") << to_string(rule);
    EXPECT_EQ(floats.spec(), x.spec());
    EXPECT_EQ(to<double>(x).to_local().data(), x.to_local().data());
  }
}

TEST(To, contributions_are_converted_where_sums_stay_right) {
  const auto mesh = mesh_of({world_size()});
  const auto view = iota_view<Matrix>({3, 4});
  const auto sum = from_local(view, mesh, Partial());
  EXPECT_EQ(wrong_iota(reduce_partial(to<float>(sum)), world_size()), "");
  EXPECT_EQ(wrong_iota(reduce_partial(to<int>(from_local(view, mesh, Partial(ReduceOp::max))))),
            "");
  EXPECT_NE(invalid_argument_of([&] { to<int>(sum); }).find("call reduce_partial() first"),
            std::string::npos);
  EXPECT_NE(invalid_argument_of([&] {
              to<float>(to<int>(iota<Matrix>(mesh, Shard(0), {3, 4})));
              to<double>(from_local(Of<int>("i", 2, 2), mesh, Partial()));
            }).find("to: expected a tensor that is reduced"),
            std::string::npos);
}

TEST(Convert, w11_elements_travel_as_the_smaller_type) {
  if (world_size() != 2) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = mesh_of({2});
  const auto x = iota<Matrix>(mesh, Shard(0), {8, 6});
  const Traffic narrowing;
  const auto floats = redistribute<Of<float>>(x, Shard(1));
  EXPECT_EQ(narrowing.exchanges(), 1);
  EXPECT_EQ(narrowing.bytes_received(), 4 * 3 * 4);
  EXPECT_EQ(wrong_iota(floats), "");
  const Traffic widening;
  const auto doubles = redistribute<Matrix>(floats, Shard(0));
  EXPECT_EQ(widening.bytes_received(), 4 * 3 * 4);
  EXPECT_EQ(wrong_iota(doubles), "");
}

template <class T, class Layout>
void expect_moves(const DeviceMesh& mesh, const Placement& from, const Placement& to,
                  const Extents& shape) {
  using Result = Of<T, Layout>;
  const auto name = to_string(from) + " to " + to_string(to) + ' ' + to_string(shape);
  const auto x = iota<Matrix>(mesh, from, shape);
  EXPECT_EQ(wrong_iota(redistribute<Result>(x, to)), "") << name;
  EXPECT_EQ(wrong_iota(redistribute_async<Result>(x, to).wait()), "") << name;
  const auto small = tessera::to<std::int16_t>(x);
  EXPECT_EQ(wrong_iota(redistribute<Result>(small, to)), "") << name;
}

TEST(Convert, all_moves_of_all_rules) {
  const auto mesh = mesh_of({world_size()});
  for (const auto& shape : std::vector<Extents>{{7, 10}, {1, 3}, {130, 41}})
    for (const auto& from : rules)
      for (const auto& to : rules) {
        expect_moves<float, Kokkos::LayoutRight>(mesh, from, to, shape);
        expect_moves<std::int64_t, Kokkos::LayoutLeft>(mesh, from, to, shape);
      }
}

TEST(Convert, sums_are_converted_at_last) {
  const auto mesh = mesh_of({world_size()});
  const auto x = from_local(iota_view<Matrix>({6, 5}), mesh, Partial());
  for (const auto& to : rules) {
    EXPECT_EQ(wrong_iota(redistribute<Of<float>>(x, to), world_size()), "");
    EXPECT_EQ(wrong_iota(redistribute_async<Of<int>>(x, to).wait(), world_size()), "");
  }
  const auto partial = redistribute<Of<float>>(iota<Matrix>(mesh, Shard(0), {6, 5}), Partial());
  EXPECT_EQ(wrong_iota(reduce_partial(partial)), "");
}

TEST(Convert, to_another_mesh) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = mesh_of({world_size()});
  const auto other = kept_mesh("last", [] {
    return DeviceMesh::from_ranks(MPI_COMM_WORLD, {world_size() - 1, 0}, {2});
  });
  const auto x = iota<Matrix>(mesh, Cyclic(1, 2), {5, 9});
  EXPECT_EQ(wrong_iota(redistribute<Of<float>>(x, other, Shard(0))), "");
  const auto sum = from_local(iota_view<Matrix>({4, 5}), mesh, Partial());
  EXPECT_EQ(wrong_iota(redistribute<Of<float>>(sum, other, Shard(1)), world_size()), "");
}

TEST(Convert, host_views_and_views_of_the_tests_space) {
  const auto mesh = mesh_of({world_size()});
  using HostFloats = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  for (const auto& to : rules) {
    const auto host = redistribute<HostFloats>(iota<Matrix>(mesh, Shard(0), {9, 8}), to);
    EXPECT_EQ(wrong_iota(host), "");
    EXPECT_EQ(wrong_iota(redistribute<Matrix>(host, Shard(1))), "");
  }
}

TEST(Scaling, w12_what_is_not_read_may_be_nan) {
  const auto mesh = mesh_of({world_size()});
  for (const auto& to : rules) {
    const auto x = iota<Matrix>(mesh, Shard(0), {7, 10});
    const auto y = empty<Matrix>(mesh, to, x.shape());
    Kokkos::deep_copy(y.to_local(), std::nan(""));
    redistribute_into(y, x, {.alpha = 2, .beta = 0});
    EXPECT_EQ(wrong_iota(y, 2), "") << to_string(to);
  }
}

TEST(Scaling, adds_to_what_is_there) {
  const auto mesh = mesh_of({world_size()});
  for (const auto& shape : std::vector<Extents>{{7, 10}, {300, 41}})
    for (const auto& from : rules)
      for (const auto& to : rules) {
        const auto x = iota<Matrix>(mesh, from, shape);
        const auto y = iota<LeftMatrix>(mesh, to, shape);
        const auto z = iota<Of<float>>(mesh, to, shape);
        redistribute_into(y, x, {.alpha = 2, .beta = 0.5});
        redistribute_into(z, x, {.alpha = -1, .beta = 3});
        EXPECT_EQ(wrong_iota(y, 2.5), "") << to_string(from) << " to " << to_string(to);
        EXPECT_EQ(wrong_iota(z, 2), "") << to_string(from) << " to " << to_string(to);
      }
}

TEST(Scaling, of_sums_and_into_contributions) {
  const auto mesh = mesh_of({world_size()});
  const auto x = from_local(iota_view<Matrix>({6, 5}), mesh, Partial());
  const auto y = iota<Matrix>(mesh, Shard(1), {6, 5});
  redistribute_into(y, x, {.alpha = 2, .beta = 1});
  EXPECT_EQ(wrong_iota(y, 2 * world_size() + 1), "");
  const auto z = from_local(iota_view<Matrix>({6, 5}), mesh, Partial());
  redistribute_into(z, iota<Matrix>(mesh, Shard(0), {6, 5}), {.alpha = 3, .beta = 2});
  EXPECT_EQ(wrong_iota(reduce_partial(z), 2 * world_size() + 3), "");
}

TEST(Scaling, of_a_tensor_into_itself) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});
  redistribute_into(x, x, {.alpha = 2, .beta = 1});
  EXPECT_EQ(wrong_iota(x, 3), "");
}

TEST(Scaling, integers_are_exact_and_wrap) {
  const auto mesh = mesh_of({world_size()});
  const auto x = full<List<std::int64_t>>(mesh, Shard(0), {5}, (std::int64_t{1} << 53) + 1);
  const auto y = empty<List<std::int64_t>>(mesh, Replicate(), {5});
  redistribute_into(y, x, {.alpha = 3});
  EXPECT_EQ(on_host(y.to_local())(4), 3 * ((std::int64_t{1} << 53) + 1));
  EXPECT_NE(invalid_argument_of([&] {
              redistribute_into(y, x, {.alpha = 0.5});
            }).find("redistribute_into: expected factors for elements of int64"),
            std::string::npos);
}

TEST(Scaling, calls_that_differ_between_ranks_are_an_error) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});
  const auto y = iota<Matrix>(mesh, Shard(1), {6, 5});
  const auto text =
      invalid_argument_of([&] { redistribute_into(y, x, {.alpha = world_rank() + 2}); });
  EXPECT_NE(text.find("times the source"), std::string::npos) << text;
}

}  // namespace
