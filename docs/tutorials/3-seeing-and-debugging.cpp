// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Matrix = Kokkos::View<double**>;
using Vector = Kokkos::View<double*>;

namespace {

using docs::check;
using docs::contains;
using docs::message_of;

void owners(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {10, 4});
  std::string picture = visualize_sharding(x);
  if (mesh.rank() == 0) std::printf("%s\n", picture.c_str());
  check(picture == visualize_sharding(x.spec()), "the picture of its spec");
}

void pictures(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  DTensorSpec target(mesh.layout(), {Shard(1)}, {1000, 600});
  if (mesh.rank() == 0) {
    std::ofstream("owners.svg") << sharding_svg(x.spec());
    std::ofstream("plan.svg") << plan_svg(make_plan(x.spec(), target, element_type<double>()));
  }
  if (mesh.rank() == 0) check(std::filesystem::file_size("plan.svg") > 1000, "a picture");
}

Vector row_sums(Matrix piece) {
  Vector sums("sums", piece.extent(0));
  Kokkos::parallel_for(
      piece.extent(0), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t j = 0; j < piece.extent(1); ++j) sums(i) += piece(i, j);
      });
  return sums;
}

void counting(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(1)}, {12, 10});
  CommDebugMode mode;
  Kokkos::Profiling::pushRegion("step");
  auto rows = redistribute(x, {Shard(0)});
  auto sums = local_map(row_sums, {Shard(0)}, {}, {.name = "row_sums"})(rows);
  Kokkos::Profiling::popRegion();
  auto sums_everywhere = full_tensor(sums);
  std::string table = mode.table(2);
  const auto data_movements = mode.get_total_counts();  // 2
  if (mesh.rank() == 0) std::printf("%s\n", table.c_str());
  const bool is_alone = mesh.size() == 1;
  check(data_movements == (is_alone ? 0 : 2), "two data movements");
  check(is_alone || contains(table, "  step: "), "regions");
  check(is_alone || contains(table, "    row_sums: "), "and local_maps");
  check(is_alone || mode.get_comm_counts().at("metadata") == 1, "sizes of the sums");

  mode.write_json("comm.json");                 // of this rank
  mode.write_chrome_trace(mesh, "trace.json");  // of all ranks
  check(std::filesystem::exists("trace.json"), "a trace");
}

void logs(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  std::vector<std::string> lines;
  {
    LogScope scope([&](const LogRecord& record) { lines.push_back(to_string(record)); });
    set_log_settings({.levels = {{"redistribute", LogLevel::debug}}});
    redistribute(x, {Shard(1)});
    set_log_settings({});  // as without any: warnings, to the observers only
  }
  check(mesh.size() == 1 || !lines.empty(), "records");
  if (mesh.rank() == 0)
    for (const auto& line : lines) std::printf("%s\n", line.c_str());
}

void solve(const DTensor<Matrix>& x) {
  if (x.device_mesh().rank() == 0)
    full_tensor(x);
  else
    redistribute(x, {Shard(1)});  // the others go another way
}

void different_ways(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1000, 600});
  std::string text;
  try {
    solve(x);
  } catch (const InvalidArgument& error) {  // on every rank, with one text
    text = error.what();
    dump_flight_record("records");
  }
  redistribute(x, {Shard(1)});  // works
  if (mesh.rank() == 0) std::printf("%s\n", text.c_str());
  if (mesh.size() == 1) return;
  check(contains(text, "full_tensor of float64") && contains(text, "redistribute of float64"),
        "both calls");
  const auto file = "records/tessera-flight-" + std::to_string(mesh.rank()) + ".json";
  check(std::filesystem::exists(file), "a record of each rank");
}

void strictness(const DeviceMesh& mesh) {
  const auto before = agreement(mesh);
  set_agreement(mesh, {.level = Agreement::always, .timeout = 30});
  check(agreement(mesh).timeout == 30, "the time limit");
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 10});
  CommDebugMode mode;
  redistribute(x, {Shard(1)});
  redistribute(x, {Shard(1)});
  check(mesh.size() == 1 || mode.get_comm_counts().at("agreement") == 2, "compares every call");
  set_agreement(mesh, before);
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  docs::enter_folder("3-seeing-and-debugging");
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  owners(mesh);
  pictures(mesh);
  counting(mesh);
  logs(mesh);
  different_ways(mesh);
  strictness(mesh);
  return docs::status();
}
