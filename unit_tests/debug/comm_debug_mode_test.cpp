// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <tessera/debug/comm_debug_mode.hpp>
#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

DeviceMesh line() {
  return mesh_of({world_size()});
}

template <class V = Matrix>
DTensor<V> rows() {
  return iota<V>(line(), {Shard(0)}, {4 * world_size(), 2 * world_size()});
}

bool is_alone() {
  return world_size() == 1;
}

const std::string addition = "add of float64 (8, 4) on (2) as S(0) and S(1) -> S(0)";
const std::string product = "multiply of float64 (8, 4) on (2) as S(0) and 2.5 -> S(0)";

/// Emits the exchange of an operator. Times are in seconds; 0 stands for a start that is not known.
void emit_exchange(double start, double seconds) {
  TraceEvent event{TraceKind::exchange, "tessera::redistribute", 2, 64, 64, 1, 1, seconds};
  event.start = start;
  event.uses_messages = true;
  emit(event);
}

/// Emits the call of an operator that moves an operand implicitly.
void emit_addition(double start, double seconds) {
  TraceEvent event{TraceKind::operation, "tessera::add", 2, 0, 0, 0, 0, seconds};
  const std::string description = addition;  // ends with this function
  event.start = start;
  event.description = description.c_str();
  event.is_implicit = true;
  emit(event);
}

/// Emits the call of an operator that moves nothing.
void emit_product() {
  TraceEvent event{TraceKind::operation, "tessera::multiply", 2, 0, 0, 0, 0, 0.0};
  event.description = product.c_str();
  event.is_trivial = true;
  emit(event);
}

/// Emits two additions, with their communication, in the region "solver", and a product.
void call_operators() {
  Kokkos::Profiling::pushRegion("solver");
  emit({TraceKind::agreement, "tessera::add", 2, 8, 8, 1, 1, 0.0});
  for (int i = 0; i < 2; ++i) {
    emit_exchange(0, 0);
    emit_addition(0, 0);
  }
  Kokkos::Profiling::popRegion();
  emit_product();
}

TEST(CommDebugMode, counts_what_moves_data_and_its_bytes) {
  const auto source = rows();
  redistribute(source, {Shard(1)});
  const CommDebugMode mode;
  redistribute(source, {Shard(1)});

  const std::int64_t moved = 4 * 2 * (world_size() - 1) * std::int64_t{sizeof(double)};
  ASSERT_EQ(mode.get_total_counts(), is_alone() ? 0 : 1);
  if (is_alone()) return;
  EXPECT_THAT(mode.get_comm_counts(), ElementsAre(Pair("redistribute", 1)));
  const auto& record = mode.records().front();
  EXPECT_EQ(record.bytes_sent, moved);
  EXPECT_EQ(record.bytes_received, moved);
  EXPECT_EQ(record.bytes_packed, moved);
  EXPECT_EQ(record.group_size, world_size());
  EXPECT_EQ(record.operation, "redistribute");
  EXPECT_THAT(record.call, HasSubstr("as S(0) to"));
  EXPECT_EQ(record.mesh, to_string(line()));
  EXPECT_GE(record.start, 0.0);
}

TEST(CommDebugMode, counts_no_bytes_as_packed_that_go_to_mpi_from_where_they_lie) {
  if (is_alone() || line().on_node().size() > 1)
    GTEST_SKIP() << "no messages: ranks of a node exchange through the window";
  const auto source = rows<HostMatrix>();  // device memory may go to MPI through pinned memory
  const CommDebugMode mode;
  const auto full = redistribute(source, {Replicate()});

  const auto& record = mode.records().back();
  EXPECT_EQ(record.bytes_sent, source.to_local().size() * (world_size() - 1) * sizeof(double));
  EXPECT_EQ(record.bytes_packed, 0);
}

TEST(CommDebugMode, counts_nothing_where_nothing_moves) {
  const auto source = rows();
  redistribute(source, {Shard(0)});
  const CommDebugMode mode;
  redistribute(source, {Shard(0)});

  EXPECT_EQ(mode.get_total_counts(), 0);
  EXPECT_EQ(mode.table(), "all: 0\n");
}

TEST(CommDebugMode, knows_regions_and_named_local_maps) {
  const auto mesh = line();
  const auto source = rows();
  const auto reduced = [&](const Matrix& view) { return all_reduce(view, ReduceOp::sum, mesh, 0); };
  const auto sum = local_map(reduced, {Replicate()}, {}, {.name = "sum"});
  const CommDebugMode mode;
  Kokkos::Profiling::pushRegion("solver");
  sum(source);
  Kokkos::Profiling::popRegion();
  full_tensor(source);

  if (is_alone()) return;
  const auto info = mode.get_sharding_info();
  ASSERT_EQ(info.size(), 2U);
  EXPECT_TRUE(info.contains("solver/sum"));
  EXPECT_THAT(info.at("").front(), HasSubstr("full_tensor"));
  EXPECT_EQ(mode.get_comm_counts().at("collective"), 1);
  const auto text = mode.table();
  EXPECT_THAT(text, HasSubstr("  solver: 1\n    sum: 1\n      1 x all_reduce over "));
}

TEST(CommDebugMode, nests) {
  const auto source = rows();
  const CommDebugMode outer;
  redistribute(source, {Shard(1)});
  {
    const CommDebugMode inner;
    redistribute(source, {Replicate()});
    EXPECT_EQ(inner.get_total_counts(), is_alone() ? 0 : 1);
  }

  EXPECT_EQ(outer.get_total_counts(), is_alone() ? 0 : 2);
}

TEST(CommDebugMode, tells_more_at_higher_noise_levels) {
  const auto source = iota<Matrix>(line(), {Shard(0)}, {3 * world_size(), 7});
  const CommDebugMode mode;
  redistribute(source, {Shard(1)});

  EXPECT_THAT(message_of<InvalidArgument>([&] { (void)mode.table(4); }),
              HasSubstr("expected a noise level from 0 to 3, got 4"));
  if (is_alone()) return;
  EXPECT_THAT(mode.table(0), testing::Not(HasSubstr("B sent")));
  EXPECT_THAT(mode.table(1), HasSubstr("B sent"));
  EXPECT_THAT(mode.table(1), testing::Not(HasSubstr("agreement")));
  EXPECT_THAT(mode.table(2), HasSubstr("agreement of redistribute"));
  EXPECT_THAT(mode.table(3), HasSubstr("redistribute of float64 from"));
}

TEST(CommDebugMode, counts_operators_apart_from_what_they_communicate) {
  const CommDebugMode mode;
  call_operators();

  EXPECT_EQ(mode.get_total_counts(), 2);
  EXPECT_THAT(mode.get_comm_counts(),
              ElementsAre(Pair("agreement", 1), Pair("operator", 3), Pair("redistribute", 2)));
  EXPECT_THAT(mode.get_sharding_info(),
              ElementsAre(Pair("", ElementsAre(product)),
                          Pair("solver", ElementsAre("redistribute", addition + " (implicit)",
                                                     "redistribute", addition + " (implicit)"))));
}

TEST(CommDebugMode, records_calls_of_operators) {
  const CommDebugMode mode;
  call_operators();

  ASSERT_EQ(mode.records().size(), 6U);
  const auto& record = mode.records()[2];
  EXPECT_EQ(record.kind, TraceKind::operation);
  EXPECT_EQ(record.operation, "add");
  EXPECT_EQ(record.call, addition);
  EXPECT_EQ(record.group_size, 2);
  EXPECT_EQ(record.transport, "none");
  EXPECT_THAT(record.region, ElementsAre("solver"));
  EXPECT_TRUE(record.is_implicit);
  EXPECT_FALSE(record.is_trivial);
  EXPECT_FALSE(mode.records()[5].is_implicit);
  EXPECT_TRUE(mode.records()[5].is_trivial);
}

TEST(CommDebugMode, shows_operators_from_noise_level_1_on_and_trivial_ones_at_3) {
  const CommDebugMode mode;
  call_operators();

  EXPECT_EQ(mode.table(0),
            "all: 2\n"
            "  solver: 2\n"
            "    2 x redistribute over messages\n");
  EXPECT_EQ(mode.table(1),
            "all: 2\n"
            "  solver: 2\n"
            "    2 x redistribute over messages: 128 B sent, 128 B received, 0.000000 s\n"
            "    2 x " +
                addition + " (implicit): 0.000000 s\n");
  EXPECT_EQ(mode.table(2),
            "all: 3\n"
            "  solver: 3\n"
            "    1 x agreement of add: 8 B sent, 8 B received, 0.000000 s\n"
            "    2 x redistribute over messages: 128 B sent, 128 B received, 0.000000 s\n"
            "    2 x " +
                addition + " (implicit) in solver: 0.000000 s\n");
  const auto text = mode.table(3);
  EXPECT_THAT(text, HasSubstr("all: 3\n  1 x " + product + ": 0.000000 s\n"));
  EXPECT_THAT(text, HasSubstr(" s: multiply of 2 ranks, 0.000000 s: " + product + "\n"));
  EXPECT_THAT(text,
              HasSubstr(" s: add of 2 ranks, 0.000000 s: " + addition + " (implicit) in solver\n"));
  EXPECT_THAT(text, HasSubstr(" s: redistribute of 2 ranks, 64 B sent, 64 B received, "));
}

TEST(CommDebugMode, writes_operators_as_json) {
  const CommDebugMode mode;
  call_operators();

  const auto all = json::parse(mode.json());
  EXPECT_EQ(all.at("total"), 2);
  EXPECT_EQ(all.at("counts").at("operator"), 3);
  const auto& record = all.at("records").at(2);
  EXPECT_EQ(record.at("kind"), "operator");
  EXPECT_EQ(record.at("operation"), "add");
  EXPECT_EQ(record.at("call"), addition);
  EXPECT_EQ(record.at("region"), json::array({"solver"}));
  EXPECT_EQ(record.at("bytes_sent"), 0);
  EXPECT_EQ(record.at("implicit"), true);
  EXPECT_EQ(record.at("trivial"), false);
  EXPECT_EQ(all.at("records").at(1).at("implicit"), false);
  EXPECT_EQ(all.at("records").at(5).at("trivial"), true);
}

TEST(CommDebugMode, writes_json) {
  const CommDebugMode mode;
  redistribute(rows(), {Shard(1)});

  const auto all = json::parse(mode.json());
  EXPECT_EQ(all.at("total"), mode.get_total_counts());
  EXPECT_EQ(all.at("records").size(), mode.records().size());
  EXPECT_THAT(message_of<IoError>([&] { mode.write_json("/no/such/folder/file"); }),
              HasSubstr("expected a file to write to, got /no/such/folder/file"));
}

/// Returns what a function writes to a file of that name, which differs from rank to rank.
template <class Write>
std::string written(const std::string& name, const Write& write) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("tessera-" + name + "-" + std::to_string(world_rank()) + "-of-" +
                     std::to_string(world_size()));
  write(file);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  return text.str();
}

TEST(CommDebugMode, writes_its_table_and_its_json_to_files) {
  const CommDebugMode mode;
  redistribute(rows(), {Shard(1)});

  EXPECT_EQ(written("table", [&](const auto& file) { mode.write_table(file); }), mode.table());
  EXPECT_EQ(written("table-2", [&](const auto& file) { mode.write_table(file, 2); }),
            mode.table(2));
  EXPECT_EQ(written("json", [&](const auto& file) { mode.write_json(file); }), mode.json());
  EXPECT_THAT(message_of<IoError>([&] { mode.write_table("/no/such/folder/file"); }),
              HasSubstr("expected a file to write to, got /no/such/folder/file"));
}

TEST(CommDebugMode, merges_the_traces_of_all_ranks) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("tessera-trace-" + std::to_string(world_size()) + ".json");
  const CommDebugMode mode;
  Kokkos::Profiling::pushRegion("solver");
  redistribute(rows(), {Shard(1)});
  Kokkos::Profiling::popRegion();
  mode.write_chrome_trace(line(), file);

  if (world_rank() == 0) {
    std::ifstream in(file);
    const auto all = json::parse(in).at("traceEvents");
    std::set<int> named;
    std::map<std::string, int> bars;
    for (const auto& event : all) {
      if (event.at("ph") == "M")
        named.insert(event.at("tid").get<int>());
      else
        ++bars[event.at("name")];
    }
    EXPECT_EQ(std::ssize(named), world_size());
    EXPECT_EQ(bars["redistribute"] % world_size(), 0);
    EXPECT_EQ(bars["solver"], is_alone() ? 0 : world_size());
    std::filesystem::remove(file);
  }
  EXPECT_THAT(message_of<IoError>([&] { mode.write_chrome_trace(line(), "/no/such/folder/file"); }),
              HasSubstr("expected a file to write to, got /no/such/folder/file"));
}

TEST(CommDebugMode, traces_operators_around_their_communications_and_in_their_regions) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("tessera-operators-" + std::to_string(world_size()) + ".json");
  const auto mesh = line();
  const CommDebugMode mode;
  Kokkos::Profiling::pushRegion("solver");
  for (const double start : {1.0, 2.0}) {
    emit_exchange(start + 0.25, 0.25);
    emit_addition(start, 0.75);
  }
  Kokkos::Profiling::popRegion();
  mode.write_chrome_trace(mesh, file);

  if (world_rank() > 0) return;
  std::ifstream in(file);
  const auto all = json::parse(in).at("traceEvents");
  std::filesystem::remove(file);
  std::vector<json> regions;
  std::vector<json> operators;
  for (const auto& event : all) {
    if (event.at("tid") != 0 || event.at("ph") != "X") continue;
    if (event.at("cat") == "region") regions.push_back(event);
    if (event.at("cat") == "operator") operators.push_back(event);
  }
  ASSERT_EQ(regions.size(), 1U);
  ASSERT_EQ(operators.size(), 2U);
  constexpr double rounding = 0.01;  // microseconds
  EXPECT_NEAR(regions[0].at("ts"), operators[0].at("ts"), rounding);
  EXPECT_NEAR(regions[0].at("dur"), 1.75e6, rounding);
  EXPECT_NEAR(operators[1].at("dur"), 0.75e6, rounding);
  EXPECT_EQ(operators[0].at("name"), "add");
  EXPECT_EQ(operators[0].at("args").at("call"), addition);
  EXPECT_EQ(operators[0].at("args").at("implicit"), true);
}

}  // namespace
}  // namespace tessera::test
