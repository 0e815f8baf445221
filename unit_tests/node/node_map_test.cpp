// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <tessera/error/error.hpp>

#include "../support/groups.hpp"
#include "../support/variable.hpp"
#include "comm/communicator_state.hpp"
#include "node/node_map.hpp"
#include "node/nodes.hpp"

namespace {

using namespace tessera;
using test::duplicate_world;
using test::world;

std::string parse_error(const char* text, int world_size) {
  std::vector<int> world_ranks(static_cast<std::size_t>(world_size));
  std::iota(world_ranks.begin(), world_ranks.end(), 0);
  try {
    detail::parse_node_map(text, world_ranks, world_size);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no exception";
}

TEST(NodeMap, numbers_nodes_in_order_of_their_first_rank) {
  const auto map = detail::node_map_of(std::vector{7, 2, 7, 0, 2});

  EXPECT_EQ(map.node, (std::vector{0, 1, 0, 2, 1}));
  EXPECT_EQ(map.nodes(), 3);
  EXPECT_EQ(map.peers(4), (std::vector{1, 4}));
  EXPECT_EQ(map.peers(3), std::vector{3});
}

TEST(NodeMap, of_no_ranks_has_no_nodes) {
  EXPECT_EQ(NodeMap{}.nodes(), 0);
}

TEST(NodeMap, finds_ranks_that_share_memory) {
  const test::Variable variable("TESSERA_NODES", "");
  auto user = duplicate_world();
  const auto communicator = detail::communicator_on_nodes(user);

  EXPECT_EQ(detail::nodes_of(communicator).map.nodes(), 1);
  EXPECT_EQ(
      detail::nodes_of(communicator).map.peers(0),
      (std::vector(all_ranks(communicator).ranks.begin(), all_ranks(communicator).ranks.end())));
  MPI_Comm_free(&user);
}

TEST(NodeMap, leaves_no_shared_memory_behind) {
  auto user = duplicate_world();
  const auto communicator = detail::communicator_on_nodes(user);
  MPI_Comm_free(&user);

  const auto mine = "tessera-" + std::to_string(getpid()) + "-";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::StartsWith(mine)));
}

TEST(NodeMap, follows_a_list_by_rank_of_comm_world) {
  EXPECT_EQ(detail::parse_node_map("0,0,0,1", std::vector{0, 1, 2, 3}, 4).node,
            (std::vector{0, 0, 0, 1}));
  EXPECT_EQ(detail::parse_node_map("5,5,0,1", std::vector{3, 2, 0}, 4).node,
            (std::vector{0, 1, 2}));
  EXPECT_EQ(detail::parse_node_map("0,1,0,1,7,7", std::vector{0, 1, 2, 3}, 4).node,
            (std::vector{0, 1, 0, 1}));
}

TEST(NodeMap, makes_each_rank_a_node) {
  EXPECT_EQ(detail::parse_node_map("each", std::vector{2, 0, 1}, 3).node, (std::vector{0, 1, 2}));
}

TEST(NodeMap, rejects_values_that_are_no_list) {
  for (const auto* text : {"0,x", "0,,1", ",0,1", "0,1,", "0 ,1", "0,-1", "all", "0;1", "0,1 "})
    EXPECT_THAT(parse_error(text, 2),
                testing::StartsWith("TESSERA_NODES: expected `each` or a node number for each of "
                                    "the 2 ranks of MPI_COMM_WORLD, such as 0,0,1,1, got \"" +
                                    std::string(text) + "\""));
}

TEST(NodeMap, rejects_a_list_that_is_too_short) {
  EXPECT_THAT(parse_error("0,1,1", 4), testing::HasSubstr("each of the 4 ranks"));
}

TEST(NodeMap, takes_the_variable_of_rank_0) {
  const int rank = world().rank();
  const test::Variable variable("TESSERA_NODES", rank == 0 ? "0,1,0,1,0,1,0,1" : "malformed");
  auto user = duplicate_world();

  const auto communicator = detail::communicator_on_nodes(user);

  for (int r = 0; r < communicator.size(); ++r)
    EXPECT_EQ(detail::nodes_of(communicator).map.node[static_cast<std::size_t>(r)], r % 2);
  MPI_Comm_free(&user);
}

TEST(NodeMap, of_a_sub_communicator_agrees_with_that_of_comm_world) {
  const test::Variable variable("TESSERA_NODES", "0,0,1,1,2,2,3,3");
  const int n = world().size();
  const int reversed = n - 1 - world().rank();
  MPI_Comm user = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, reversed, &user);

  const auto communicator = detail::communicator_on_nodes(user);

  std::vector<int> labels;
  for (int r = 0; r < n; ++r) labels.push_back((n - 1 - r) / 2);
  EXPECT_EQ(detail::nodes_of(communicator).map.node, detail::node_map_of(labels).node);
  MPI_Comm_free(&user);
}

TEST(NodeMap, throws_on_every_rank_for_a_malformed_variable_and_works_afterwards) {
  auto user = duplicate_world();
  {
    const test::Variable variable("TESSERA_NODES", world().rank() == 0 ? "0:1" : "each");
    const test::Variable timeout("TESSERA_TIMEOUT", "123");
    EXPECT_THROW(detail::communicator_on_nodes(user), InvalidArgument);
  }
  const test::Variable timeout("TESSERA_TIMEOUT", "234");

  const auto communicator = detail::communicator_on_nodes(user);

  EXPECT_EQ(communicator.size(), world().size());
  EXPECT_EQ(communicator.state().control->options.timeout, 234) << "of the first attempt";
  MPI_Comm_free(&user);
}

}  // namespace
