// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What a rank throws after a call that has timed out, from what it has heard of four ranks. It is
// rank 0 throughout.
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include <gtest/gtest.h>

#include "agreement/control.hpp"

namespace {

using namespace tessera::detail;

Statement waits() {
  return {};
}

/// Of a rank that has settled that it waited for `whom`, and says so to those it did not hear.
Statement has_told(const std::string& whom) {
  Statement result;
  result.problem = {ErrorKind::timeout, "f: waited 2 s for " + whom + " of mesh (4)"};
  return result;
}

std::string text_of(const std::vector<std::optional<Statement>>& heard) {
  Control control(MPI_COMM_SELF, 0, {0, 1, 2, 3});
  std::vector<Heard> all;
  for (const auto& statement : heard) {
    all.push_back({static_cast<int>(all.size()), statement});
  }
  return verdict("f", control.log(1, std::vector{0, 1, 2, 3}, "(4)"), 2, all).text;
}

TEST(VerdictOfATimeout, names_the_rank_that_was_not_heard) {
  auto own = waits();
  own.problem.kind = ErrorKind::timeout;
  EXPECT_EQ(text_of({own, std::nullopt, waits(), waits()}),
            "f: waited 2 s for mesh rank 1 of mesh (4)");
}

TEST(VerdictOfATimeout, is_that_of_all_who_waited_where_this_rank_comes_late) {
  const auto told = has_told("mesh ranks 0, 1");
  EXPECT_EQ(text_of({waits(), std::nullopt, told, told}),
            "f: waited 2 s for mesh ranks 0, 1 of mesh (4)");
  EXPECT_EQ(text_of({waits(), waits(), told, told}),
            "f: waited 2 s for mesh ranks 0, 1 of mesh (4)");
}

TEST(VerdictOfATimeout, is_not_that_of_one_rank_that_hears_nobody) {
  const auto deaf = has_told("mesh ranks 0, 1, 3");
  EXPECT_EQ(text_of({waits(), std::nullopt, deaf, waits()}),
            "f: waited 2 s for mesh rank 1 of mesh (4)");
}

}  // namespace
