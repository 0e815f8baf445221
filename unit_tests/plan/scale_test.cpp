// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans for machines of 10^3 to 10^5 ranks, 64 on a node, made and counted in this process: what a
// rank spends on planning, and what travels, directly and by way of the nodes. Prints
// docs/scale.md's table.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <numeric>
#include <string>

#include <malloc.h>

#include <gtest/gtest.h>

#include <tessera/plan/plan.hpp>

#include "plan/transfer_cost.hpp"

namespace {

std::int64_t live_bytes = 0;
std::int64_t most_bytes = 0;

void* counted(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  most_bytes = std::max(most_bytes, live_bytes);
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}

namespace {

using namespace tessera;

constexpr int ranks_of_node = 64;

struct Transition {
  std::string name;
  std::vector<int> mesh;
  Extents shape;
  Placements from;
  Placements to;
};

Extents ranks_per_node_of(const MeshLayout& layout) {
  std::vector<int> node(static_cast<std::size_t>(layout.size()));
  for (std::size_t rank = 0; rank < node.size(); ++rank)
    node[rank] = static_cast<int>(rank) / ranks_of_node;
  return ranks_per_node(layout, node);
}

/// What one rank does, and what goes from its node to others.
struct Counted {
  double seconds = 0;  ///< of planning on one rank
  std::int64_t planning_bytes = 0;
  int exchanges = 0;
  std::int64_t messages = 0;             ///< that a rank sends, all of them
  std::int64_t inter_node_messages = 0;  ///< to other nodes
  std::int64_t inter_node_bytes = 0;     ///< of a rank
  std::int64_t pair_messages = 0;        ///< from one node to another, at most
  std::int64_t pair_bytes = 0;
  double predicted = 0;  ///< seconds
};

/// What a direct exchange costs with the nodes taken into account.
double seconds_between_nodes(const DTensorSpec& from, const DTensorSpec& to) {
  const detail::NodeGrid nodes(from.layout(), ranks_per_node_of(from.layout()));
  const auto cost = detail::cost_of({.from = from, .to = to}, element_type<double>(), &nodes);
  return detail::seconds_of({&cost, 1}, 1, CostModel());
}

Counted counted_plan(const Transition& transition, const MeshLayout& layout,
                     const Extents& ranks_per_node) {
  const DTensorSpec from(layout, transition.from, transition.shape);
  const DTensorSpec to(layout, transition.to, transition.shape);
  const int first = layout.size() / ranks_of_node / 2 * ranks_of_node;
  const auto make = [&] {
    return make_plan(from, to, element_type<double>(), {.ranks_per_node = ranks_per_node});
  };
  Counted result;
  const auto before = live_bytes;
  most_bytes = live_bytes;
  const auto start = std::chrono::steady_clock::now();
  const auto plan = make();
  const auto steps = plan.steps(first);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.planning_bytes = most_bytes - before;
  result.exchanges = plan.exchanges();
  result.predicted = plan.cost().seconds;
  if (ranks_per_node.empty()) result.predicted = seconds_between_nodes(from, to);

  std::map<int, std::pair<std::int64_t, std::int64_t>> to_node;
  for (int rank = first; rank < first + ranks_of_node; ++rank) {
    std::int64_t messages = 0;
    std::int64_t inter_node_messages = 0;
    std::int64_t inter_node_bytes = 0;
    for (const auto& step : plan.steps(rank))
      for (const auto& phase : step.phases)
        for (const auto& block : phase.send) {
          ++messages;
          const int node = block.peer / ranks_of_node;
          if (node == first / ranks_of_node) continue;
          const auto bytes = block.size() * static_cast<std::int64_t>(sizeof(double));
          ++inter_node_messages;
          inter_node_bytes += bytes;
          ++to_node[node].first;
          to_node[node].second += bytes;
        }
    result.messages = std::max(result.messages, messages);
    result.inter_node_messages = std::max(result.inter_node_messages, inter_node_messages);
    result.inter_node_bytes = std::max(result.inter_node_bytes, inter_node_bytes);
  }
  for (const auto& [node, load] : to_node) {
    result.pair_messages = std::max(result.pair_messages, load.first);
    result.pair_bytes = std::max(result.pair_bytes, load.second);
  }
  return result;
}

void print(const Transition& transition, int ranks, const char* path, const Counted& c) {
  std::printf("| %s | %d | %s | %d | %.2f | %.2f | %lld | %lld | %.1f | %lld | %.1f | %.2f |\n",
              transition.name.c_str(), ranks, path, c.exchanges, c.seconds * 1e3,
              static_cast<double>(c.planning_bytes) / (1 << 20), static_cast<long long>(c.messages),
              static_cast<long long>(c.inter_node_messages),
              static_cast<double>(c.inter_node_bytes) / 1024,
              static_cast<long long>(c.pair_messages), static_cast<double>(c.pair_bytes) / 1024,
              c.predicted * 1e3);
}

struct Scale {
  int ranks;
  std::vector<int> pencils;
  std::vector<int> bricks;
};

const Scale scales[] = {{1024, {32, 32}, {16, 8, 8}},
                        {10240, {80, 128}, {40, 16, 16}},
                        {102400, {320, 320}, {100, 32, 32}}};

struct Paths {
  Counted direct;
  Counted chosen;  ///< by the planner that knows the nodes
};

Paths paths_of(const Transition& transition) {
  const MeshLayout layout(transition.mesh);
  const Paths paths{counted_plan(transition, layout, {}),
                    counted_plan(transition, layout, ranks_per_node_of(layout))};
  print(transition, layout.size(), "direct", paths.direct);
  print(transition, layout.size(), "chosen", paths.chosen);
  return paths;
}

TEST(Scale, tiny_messages_between_many_nodes_become_few) {
  for (const auto& [ranks, pencils, bricks] : scales) {
    const auto paths =
        paths_of({"all to all, 8 B each", {ranks}, {ranks, ranks, 1}, {Shard(0)}, {Shard(1)}});

    EXPECT_EQ(paths.direct.messages, ranks - 1);
    EXPECT_EQ(paths.direct.pair_messages, ranks_of_node * ranks_of_node);
    EXPECT_EQ(paths.chosen.exchanges, 3);
    EXPECT_LE(paths.chosen.messages, 3 * ranks_of_node);
    EXPECT_LE(paths.chosen.pair_messages, 16);
    EXPECT_LE(paths.chosen.pair_bytes, paths.direct.pair_bytes);
    EXPECT_LT(paths.chosen.predicted, 0.5 * paths.direct.predicted);
  }
}

TEST(Scale, large_messages_go_directly) {
  const int ranks = scales[0].ranks;
  const auto paths =
      paths_of({"all to all, 32 KiB each", {ranks}, {ranks, ranks, 4096}, {Shard(0)}, {Shard(1)}});

  EXPECT_EQ(paths.chosen.exchanges, 1);
}

TEST(Scale, pencils_and_bricks_have_few_peers) {
  for (const auto& [ranks, pencils, bricks] : scales) {
    const Extents cube{1024, 1024, 1024};
    const auto transposed = paths_of(
        {"pencils, y to z, 1024^3", pencils, cube, {Shard(0), Shard(1)}, {Shard(0), Shard(2)}});
    const auto drawn = paths_of({"bricks to pencils, 1024^3",
                                 bricks,
                                 cube,
                                 {Shard(0), Shard(1), Shard(2)},
                                 {Shard(0), Shard(1), Shard(1)}});

    const auto crossed = paths_of(
        {"pencils, x to z, 1024^3", pencils, cube, {Shard(0), Shard(1)}, {Shard(2), Shard(1)}});

    EXPECT_LT(transposed.direct.messages, pencils[1]);
    EXPECT_LT(crossed.direct.messages, pencils[0]);
    EXPECT_LE(drawn.direct.messages, 2 * bricks[2]);
    for (const auto& paths : {transposed, drawn, crossed}) {
      EXPECT_LE(paths.chosen.pair_bytes, paths.direct.pair_bytes);
      EXPECT_LE(paths.chosen.pair_messages, paths.direct.pair_messages);
    }
  }
}

TEST(Scale, what_a_node_needs_in_common_comes_to_it_once) {
  for (const auto& [ranks, pencils, bricks] : scales) {
    const auto paths =
        paths_of({"gather of 1 KiB each", {ranks}, {ranks, 16, 8}, {Shard(0)}, {Replicate()}});
    const std::int64_t bytes_of_node =
        ranks_of_node * 16 * 8 * static_cast<std::int64_t>(sizeof(double));

    EXPECT_EQ(paths.direct.pair_bytes, ranks_of_node * bytes_of_node);
    EXPECT_EQ(paths.chosen.pair_bytes, bytes_of_node);
    EXPECT_EQ(paths.chosen.exchanges, 2);
  }
}

}  // namespace
