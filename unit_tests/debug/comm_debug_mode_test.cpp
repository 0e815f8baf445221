// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

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

TEST(CommDebugMode, counts_what_moves_data_and_its_bytes) {
  const auto source = rows();
  redistribute(source, {Shard(1)});
  const CommDebugMode mode;
  redistribute(source, {Shard(1)});

  const std::int64_t moved = 4 * 2 * (world_size() - 1) * std::int64_t{sizeof(double)};
  ASSERT_EQ(mode.get_total_counts(), is_alone() ? 0 : 1);
  if (is_alone()) return;
  EXPECT_THAT(mode.get_comm_counts(), ElementsAre(testing::Pair("redistribute", 1)));
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

TEST(CommDebugMode, writes_json) {
  const CommDebugMode mode;
  redistribute(rows(), {Shard(1)});

  const auto all = json::parse(mode.json());
  EXPECT_EQ(all.at("total"), mode.get_total_counts());
  EXPECT_EQ(all.at("records").size(), mode.records().size());
  EXPECT_THAT(message_of<IoError>([&] { mode.write_json("/no/such/folder/file"); }),
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

}  // namespace
}  // namespace tessera::test
