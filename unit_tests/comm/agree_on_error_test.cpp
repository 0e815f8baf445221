// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "../support/groups.hpp"
#include "comm/agree_on_error.hpp"

namespace {

using namespace tessera;
using test::world;

constexpr auto operation = "test";

TEST(AgreeOnError, gives_nothing_where_all_went_well) {
  EXPECT_EQ(agree_on_error(all_ranks(world()), {}, operation), SharedError());
}

TEST(AgreeOnError, gives_the_text_of_the_lowest_rank_where_all_failed) {
  const auto communicator = world();
  const auto mine = "disk " + std::to_string(communicator.rank()) + " is full";

  const auto error = agree_on_error(all_ranks(communicator), {mine}, operation);

  EXPECT_EQ(error.text, "disk 0 is full");
}

TEST(AgreeOnError, names_the_ranks_that_failed) {
  const auto communicator = world();
  const int n = communicator.size();
  const bool fails = communicator.rank() % 2 == 1;

  const auto error = agree_on_error(all_ranks(communicator), {fails ? "odd" : ""}, operation);

  const std::map<int, std::string> expected{{1, ""},
                                            {2, "odd (on rank 1)"},
                                            {3, "odd (on rank 1)"},
                                            {4, "odd (on ranks 1, 3)"},
                                            {8, "odd (on ranks 1, 3, 5, 7)"}};
  if (!expected.contains(n)) GTEST_SKIP() << "stated for 1 to 4 and 8 ranks";
  EXPECT_EQ(error.text, expected.at(n));
}

TEST(ThrowTogether, throws_on_every_rank) {
  const auto communicator = world();
  const auto group = all_ranks(communicator);
  const bool fails = communicator.rank() == communicator.size() - 1;

  EXPECT_THROW(throw_together(group, {fails ? "no such file" : ""}, operation), IoError);
  EXPECT_THROW(throw_together(group, {fails ? "no communicator" : "", fails}, operation), MpiError);
  EXPECT_NO_THROW(throw_together(group, {}, operation));
}

}  // namespace
