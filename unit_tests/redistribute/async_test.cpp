// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <sched.h>

#include <gtest/gtest.h>

#include <tessera/redistribute/collectives.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// A functional collective on this rank's View: blocking, started, and started on an instance.
template <class View>
struct Collective {
  const char* name;
  std::function<View(const View&, const DeviceMesh&, const MeshDims&)> block;
  std::function<Pending<View>(const View&, const DeviceMesh&, const MeshDims&)> start;
  std::function<Pending<View>(const Exec&, const View&, const DeviceMesh&, const MeshDims&)>
      start_on;
  bool can_be_uneven = false;  ///< in the rows
};

template <class View>
std::vector<Collective<View>> collectives() {
  using V = const View&;
  using M = const DeviceMesh&;
  using D = const MeshDims&;
  using E = const Exec&;
  constexpr auto sum = ReduceOp::sum;
  constexpr auto max = ReduceOp::max;
  return {
      {"sum", [](V v, M m, D d) { return all_reduce(v, sum, m, d); },
       [](V v, M m, D d) { return all_reduce_async(v, sum, m, d); },
       [](E e, V v, M m, D d) { return all_reduce_async(e, v, sum, m, d); }},
      {"max", [](V v, M m, D d) { return all_reduce(v, max, m, d); },
       [](V v, M m, D d) { return all_reduce_async(v, max, m, d); },
       [](E e, V v, M m, D d) { return all_reduce_async(e, v, max, m, d); }},
      {"all_gather", [](V v, M m, D d) { return all_gather(v, 0, m, d); },
       [](V v, M m, D d) { return all_gather_async(v, 0, m, d); },
       [](E e, V v, M m, D d) { return all_gather_async(e, v, 0, m, d); }, true},
      {"reduce_scatter", [](V v, M m, D d) { return reduce_scatter(v, sum, 0, m, d); },
       [](V v, M m, D d) { return reduce_scatter_async(v, sum, 0, m, d); },
       [](E e, V v, M m, D d) { return reduce_scatter_async(e, v, sum, 0, m, d); }},
      {"max_scatter", [](V v, M m, D d) { return reduce_scatter(v, max, 1, m, d); },
       [](V v, M m, D d) { return reduce_scatter_async(v, max, 1, m, d); },
       [](E e, V v, M m, D d) { return reduce_scatter_async(e, v, max, 1, m, d); }},
      {"all_to_all", [](V v, M m, D d) { return all_to_all(v, 1, 0, m, d); },
       [](V v, M m, D d) { return all_to_all_async(v, 1, 0, m, d); },
       [](E e, V v, M m, D d) { return all_to_all_async(e, v, 1, 0, m, d); }, true},
      {"all_to_all_in_place", [](V v, M m, D d) { return all_to_all(v, 0, 0, m, d); },
       [](V v, M m, D d) { return all_to_all_async(v, 0, 0, m, d); },
       [](E e, V v, M m, D d) { return all_to_all_async(e, v, 0, 0, m, d); }},
      {"broadcast", [](V v, M m, D d) { return broadcast(v, 0, m, d); },
       [](V v, M m, D d) { return broadcast_async(v, 0, m, d); },
       [](E e, V v, M m, D d) { return broadcast_async(e, v, 0, m, d); }, true},
  };
}

struct Line {
  DeviceMesh mesh;
  MeshDims dims;
  int size;
};

std::vector<Line> lines() {
  std::vector<Line> result;
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}, {8}}))
    result.push_back({mesh, 0, mesh.size()});
  for (const auto& shape : {std::vector{1, 1}, {2, 2}, {4, 2}})
    if (const auto mesh = mesh_of(shape, {"a", "b"}); !mesh.is_null()) {
      result.push_back({mesh, "b", mesh.size(1)});
      result.push_back({mesh, {"b", "a"}, mesh.size()});
    }
  return result;
}

/// Different values on each rank, and in each round.
template <class View>
View values(const DeviceMesh& mesh, std::int64_t rows, std::int64_t columns, int round = 0) {
  const auto view = detail::allocate<View>({rows, columns}, "values");
  change_on_host(view, [&](const auto& host) {
    for_each_index_in({{0, 0}, {rows, columns}}, [&](const Extents& i) {
      host(i[0], i[1]) =
          static_cast<double>((i[0] * 31 + i[1] * 7 + mesh.rank() * 13 + round) % 101);
    });
  });
  return view;
}

template <class View>
std::string difference(const View& result, const View& expected) {
  const auto host = on_host(expected);
  return wrong_view(result, detail::extents_of(expected),
                    [&](const Extents& i) { return host(i[0], i[1]); });
}

template <class View>
class Async : public testing::Test {};
using Layouts = testing::Types<Matrix, LeftMatrix>;
TYPED_TEST_SUITE(Async, Layouts);

TYPED_TEST(Async, forms_give_the_values_of_the_blocking_forms_in_one_exchange) {
  for (const auto& [mesh, dims, size] : lines())
    for (const auto& collective : collectives<TypeParam>())
      for (const std::int64_t columns : {3, 4, 3000}) {
        const int uneven = collective.can_be_uneven ? std::max(mesh.rank(), 0) % 3 : 0;
        const auto mine = values<TypeParam>(mesh, 8 + uneven, columns);

        Traffic traffic;
        const auto result = collective.start(mine, mesh, dims).wait();
        const int exchanges = traffic.exchanges();
        const auto expected = collective.block(mine, mesh, dims);

        EXPECT_EQ(exchanges, is_on(mesh) && size > 1 ? 1 : 0) << collective.name;
        EXPECT_EQ(difference(result, expected), "") << collective.name;
      }
}

TYPED_TEST(Async, forms_with_an_instance_are_right_after_a_fence) {
  const Exec exec;
  for (const auto& [mesh, dims, size] : lines())
    for (const auto& collective : collectives<TypeParam>()) {
      const auto mine = values<TypeParam>(mesh, 8, 5);
      const auto expected = collective.block(mine, mesh, dims);

      auto pending = collective.start_on(exec, mine, mesh, dims);
      const auto result = pending.wait();
      exec.fence();

      EXPECT_EQ(difference(result, expected), "") << collective.name;
    }
}

TYPED_TEST(Async, forms_are_complete_at_some_test) {
  for (const auto& [mesh, dims, size] : lines())
    for (const auto& collective : collectives<TypeParam>()) {
      const auto mine = values<TypeParam>(mesh, 8, 3000);
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);

      auto pending = collective.start(mine, mesh, dims);
      bool is_complete = pending.test();
      while (!is_complete && std::chrono::steady_clock::now() < end) {
        sched_yield();
        is_complete = pending.test();
      }

      EXPECT_TRUE(is_complete) << collective.name;
      EXPECT_EQ(difference(pending.wait(), collective.block(mine, mesh, dims)), "")
          << collective.name;
    }
}

/// Starts every collective, waits in the order given, and compares.
template <class View>
void expect_right_in_order(const Line& line, const std::vector<std::size_t>& order, int round) {
  const auto kinds = collectives<View>();
  std::vector<View> sources;
  std::vector<Pending<View>> pending;
  std::vector<View> results(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    sources.push_back(values<View>(line.mesh, 8, 700, round + static_cast<int>(i)));
    pending.push_back(kinds[i].start(sources[i], line.mesh, line.dims));
  }
  for (const auto i : order) results[i] = pending[i].wait();
  for (std::size_t i = 0; i < kinds.size(); ++i)
    EXPECT_EQ(difference(results[i], kinds[i].block(sources[i], line.mesh, line.dims)), "")
        << kinds[i].name;
}

std::vector<std::size_t> start_order() {
  std::vector<std::size_t> order(collectives<Matrix>().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

TYPED_TEST(Async, calls_may_be_waited_for_in_start_order_and_in_reverse) {
  for (const auto& line : lines()) {
    auto order = start_order();
    expect_right_in_order<TypeParam>(line, order, 1);
    std::ranges::reverse(order);
    expect_right_in_order<TypeParam>(line, order, 2);
  }
}

TYPED_TEST(Async, calls_may_be_waited_for_in_another_order_on_each_rank) {
  std::mt19937 generator(static_cast<unsigned>(world_rank()));
  for (int round = 0; round < 10; ++round)
    for (const auto& line : lines()) {
      auto order = start_order();
      std::ranges::shuffle(order, generator);
      expect_right_in_order<TypeParam>(line, order, round);
    }
}

TYPED_TEST(Async, calls_pending_let_a_blocking_one_pass_that_others_reach_later) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}, {8}})) {
    const auto rows = iota<TypeParam>(mesh, {Shard(0)}, {24, 700});
    const auto mine = values<TypeParam>(mesh, 8, 700);
    DTensor<TypeParam> columns;
    const auto turn = [&] { columns = redistribute(rows, {Shard(1)}); };

    auto sum = all_reduce_async(mine, ReduceOp::sum, mesh, 0);
    auto all = all_gather_async(mine, 0, mesh, 0);
    if (mesh.rank() % 2 == 0) turn();
    all.wait();
    sum.wait();
    if (mesh.rank() % 2 != 0) turn();

    EXPECT_EQ(wrong_iota(columns), "");
    EXPECT_EQ(difference(sum.wait(), all_reduce(mine, ReduceOp::sum, mesh, 0)), "");
    EXPECT_EQ(difference(all.wait(), all_gather(mine, 0, mesh, 0)), "");
  }
}

TYPED_TEST(Async, calls_may_be_waited_for_before_or_after_the_next_is_started) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}, {8}}))
    for (const std::int64_t columns : {11, 4097}) {
      const auto mine = values<TypeParam>(mesh, 8, columns);
      const bool is_early = mesh.rank() % 2 == 0;

      auto first = all_gather_async(mine, 0, mesh, 0);
      if (is_early) first.wait();
      auto second = all_to_all_async(mine, 1, 0, mesh, 0);
      second.wait();
      first.wait();

      EXPECT_EQ(difference(first.wait(), all_gather(mine, 0, mesh, 0)), "");
      EXPECT_EQ(difference(second.wait(), all_to_all(mine, 1, 0, mesh, 0)), "");
    }
}

TYPED_TEST(Async, calls_meet_blocking_calls_of_the_same_function_on_other_ranks) {
  for (const auto& [mesh, dims, size] : lines())
    for (const auto& collective : collectives<TypeParam>()) {
      const auto mine = values<TypeParam>(mesh, 8, 700);
      const bool blocks = mesh.rank() % 2 == 0;

      const auto result =
          blocks ? collective.block(mine, mesh, dims) : collective.start(mine, mesh, dims).wait();

      EXPECT_EQ(difference(result, collective.block(mine, mesh, dims)), "") << collective.name;
    }
}

TYPED_TEST(Async, calls_off_the_mesh_are_complete_and_empty) {
  const auto mesh = mesh_of({1});
  if (is_on(mesh)) return;
  for (const auto& collective : collectives<TypeParam>()) {
    Traffic traffic;
    auto pending = collective.start(values<TypeParam>(mesh, 2, 2), mesh, 0);
    const bool is_complete = pending.test();
    const auto result = pending.wait();

    EXPECT_TRUE(is_complete);
    EXPECT_EQ(result.size(), 0u);
    EXPECT_EQ(traffic.exchanges() + traffic.metadata() + traffic.agreements(), 0);
  }
}

}  // namespace
}  // namespace tessera::test
