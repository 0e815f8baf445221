// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Every case in three forms (all ranks wrong, one rank wrong, each rank wrong in another way), new to
// the ranks and known to them: the same exception on every rank within a second, and the next call
// works.
#include <chrono>
#include <regex>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "../support/errors.hpp"
#include "../support/gathered.hpp"
#include "cases.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

/// What a call did on one rank.
struct Outcome {
  std::string type;  ///< "none" where it threw nothing
  std::string text;
  double seconds = 0;
};

template <class E>
bool is_a(const Error& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}

std::string type_of(const Error& error) {
  if (is_a<InvalidArgument>(error)) return invalid_argument;
  if (is_a<PlacementMismatch>(error)) return placement_mismatch;
  if (is_a<MeshMismatch>(error)) return mesh_mismatch;
  if (is_a<MpiError>(error)) return mpi_error;
  if (is_a<IoError>(error)) return io_error;
  return is_a<Timeout>(error) ? "Timeout" : "Error";
}

Outcome outcome_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  Outcome result{"none", "", 0};
  try {
    call();
  } catch (const Error& error) {
    result = {type_of(error), error.what(), 0};
  } catch (const std::exception& error) {
    result = {"std::exception", error.what(), 0};
  }
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - start;
  result.seconds = duration.count();
  return result;
}

std::vector<Case> all_cases() {
  std::vector<Case> result;
  for (const auto& part : {mesh_cases(), tensor_cases(), redistribute_cases(), collective_cases(),
                           local_map_cases(), io_cases(), differing_cases()})
    result.insert(result.end(), part.begin(), part.end());
  return result;
}

const std::vector<Case>& cases() {
  static const auto result = all_cases();
  return result;
}

/// The next case from `first` on of which all ranks learn.
const Case& case_for_all(std::size_t first) {
  for (std::size_t i = first;; ++i) {
    const auto& candidate = cases()[i % cases().size()];
    if (candidate.reach == Reach::all && candidate.ranks <= world_size()) return candidate;
  }
}

void right_call(const Given& given) {
  redistribute(given.tensor, {Shard(1)});
}

/// A description that an error gives of two calls that differ: "… got A (on rank 0) and A (on …)".
std::string given_twice(const std::string& text) {
  static const std::regex two(
      "got (.*) \\(on ranks? [0-9, ]+\\) and (.*) \\(on ranks? [0-9, ]+\\)$");
  std::smatch parts;
  if (!std::regex_search(text, parts, two)) return "";
  return parts[1] == parts[2] ? parts[1].str() : "";
}

class BadInput : public ::testing::TestWithParam<std::size_t> {
 protected:
  BadInput() : mesh_(mesh_of({world_size()}, {"x"})) {
    reversed(mesh_);
    given_ = {mesh_, iota<Matrix>(mesh_, {Shard(0)}, shape)};
  }

  const Case& bad() const { return cases()[GetParam()]; }
  int size() const { return mesh_.size(); }
  int wrong_rank() const { return static_cast<int>(GetParam()) % size(); }

  /// Makes the calls new to the ranks, or known to them.
  void prepare(bool is_known) {
    set_agreement(mesh_, agreement(mesh_));
    if (!is_known) return;
    right_call(given_);
    if (bad().is_right_alone) outcome_of([&] { bad().call(given_); });
  }

  /// All ranks threw the same; what it was.
  Outcome expect_same_everywhere(const Outcome& mine) {
    EXPECT_NE(mine.type, "none");
    EXPECT_EQ(given_twice(mine.text), "");
    for (const auto& other : gathered(mesh_.group(), mine.type + ": " + mine.text))
      EXPECT_EQ(other, mine.type + ": " + mine.text);
    return mine;
  }

  /// The ranks that threw threw the same.
  void expect_same_where_thrown(const Outcome& mine) {
    std::set<std::string> texts;
    for (const auto& text :
         gathered(mesh_.group(), mine.type == "none" ? std::string() : mine.text))
      if (!text.empty()) texts.insert(text);
    EXPECT_EQ(texts.size(), 1U) << ::testing::PrintToString(texts);
  }

  void expect_works_again(const Outcome& outcome) {
    EXPECT_LT(outcome.seconds, 1.0);
    const auto columns = redistribute(given_.tensor, {Shard(1)});
    EXPECT_EQ(wrong_iota(columns), "");
  }

  void one_rank_is_wrong(bool is_known) {
    const bool is_wrong = mesh_.rank() == wrong_rank();
    prepare(is_known);
    const auto outcome = outcome_of([&] {
      if (is_wrong)
        bad().call(given_);
      else if (bad().reach != Reach::this_rank)
        right_call(given_);
    });
    if (bad().reach == Reach::this_rank) {
      EXPECT_EQ(outcome.type, is_wrong ? bad().type : "none");
      EXPECT_THAT(outcome.text, HasSubstr(is_wrong ? bad().text : ""));
    } else if (bad().reach == Reach::cold && is_known) {
      expect_same_where_thrown(outcome);
    } else {
      expect_same_everywhere(outcome);
      EXPECT_THAT(outcome.text, testing::AnyOf(HasSubstr(bad().text),
                                               HasSubstr("expected the same call on every rank")));
    }
    expect_works_again(outcome);
  }

  void each_rank_is_wrong_in_another_way(bool is_known) {
    prepare(is_known);
    const auto& mine = case_for_all(GetParam() + 7 * static_cast<std::size_t>(mesh_.rank()));
    const auto outcome = outcome_of([&] { mine.call(given_); });
    expect_same_everywhere(outcome);
    expect_works_again(outcome);
  }

  DeviceMesh mesh_;
  Given given_;
};

TEST_P(BadInput, on_all_ranks_throws_on_all_ranks) {
  if (bad().ranks > size() || bad().is_right_alone) return;
  for (const bool is_known : {false, true}) {
    prepare(is_known);

    // Ranks come one after another: the first one has failed before the last one calls.
    std::this_thread::sleep_for(std::chrono::milliseconds(mesh_.rank()));
    const auto outcome = outcome_of([&] { bad().call(given_); });

    EXPECT_EQ(outcome.type, bad().type);
    EXPECT_THAT(outcome.text, HasSubstr(bad().text));
    const bool names_itself = outcome.text.find("; other errors (on rank") != std::string::npos;
    EXPECT_TRUE(names_itself || outcome.text.find("(on rank") == std::string::npos) << outcome.text;
    if (bad().reach != Reach::this_rank) expect_same_everywhere(outcome);
    expect_works_again(outcome);
  }
}

TEST_P(BadInput, on_one_rank_throws_on_all_ranks) {
  if (bad().ranks > size() || size() == 1 || bad().reach == Reach::together) return;
  one_rank_is_wrong(false);
  one_rank_is_wrong(true);
}

TEST_P(BadInput, of_another_kind_on_each_rank_throws_the_same_on_all_ranks) {
  if (bad().ranks > size() || size() == 1 || bad().reach != Reach::all) return;
  each_rank_is_wrong_in_another_way(false);
  each_rank_is_wrong_in_another_way(true);
}

std::vector<std::size_t> numbers() {
  std::vector<std::size_t> result(cases().size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = i;
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, BadInput, ::testing::ValuesIn(numbers()),
                         [](const auto& info) { return cases()[info.param].name; });

TEST(BadInputTable, has_at_least_200_calls) {
  EXPECT_GE(cases().size(), 200U);
}

TEST(PartOfAMesh, has_no_tensor_for_the_whole_mesh) {
  if (world_size() % 2 != 0 || world_size() < 4) GTEST_SKIP() << "needs an even number of ranks";
  const auto whole = init_device_mesh(MPI_COMM_WORLD, {2, world_size() / 2}, {"dp", "tp"});
  const auto part = iota<Matrix>(whole["tp"], {Shard(0)}, shape);
  const Placements target{Replicate(), Shard(0)};

  const auto message = message_of<MeshMismatch>([&] { redistribute(part, whole, target); });
  EXPECT_THAT(message, HasSubstr("redistribute: expected a tensor on a mesh that is the same for "
                                 "all ranks of mesh (dp=2, tp="));
  EXPECT_THAT(message, HasSubstr("use from_local"));

  // What the message says.
  const auto all = from_local(part.to_local(), whole, target, shape);
  EXPECT_EQ(wrong_iota(redistribute(all, {Shard(0), Replicate()})), "");
}

/// A mesh of the user's that happens to have the ranks of a part is one mesh for all ranks.
TEST(PartOfAMesh, is_not_a_mesh_of_the_same_ranks) {
  if (world_size() % 2 != 0 || world_size() < 4) GTEST_SKIP() << "needs an even number of ranks";
  const auto whole = init_device_mesh(MPI_COMM_WORLD, {2, world_size() / 2}, {"dp", "tp"});
  whole["tp"];
  const auto half = init_device_mesh(MPI_COMM_WORLD, {world_size() / 2});
  const auto tensor = iota<Matrix>(half, {Shard(0)}, shape);
  EXPECT_EQ(wrong_iota(redistribute(tensor, whole, {Replicate(), Shard(0)})), "");
}

TEST(BadCommunicator, inter_communicator_is_invalid) {
  if (world_size() < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  const bool is_low = world_rank() < world_size() / 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_low ? 0 : 1, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? world_size() / 2 : 0, 1, &between);

  const auto message = message_of<InvalidArgument>([&] { init_device_mesh(between, {1}); });
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);

  EXPECT_THAT(message, HasSubstr("expected an intra-communicator, got an inter-communicator"));
}

}  // namespace
}  // namespace tessera::test
