// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Compares redistribution with hand-written MPI and with what memory allows, on the ranks of one
// node.
//
// The first benchmark of a case measures the case, with all its variants interleaved. The
// benchmarks replay the recorded times, so that all ranks make the same calls.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string_view>
#include <thread>

#include <unistd.h>

#include <benchmark/benchmark.h>

#include "../ranks.hpp"
#include "table.hpp"

namespace {

using namespace tessera;
using namespace tessera::perf;

struct Options {
  int rounds = 9;
  bool is_brief = false;
};

/// Takes --tessera_rounds=N and --tessera_brief from the arguments.
Options take_options(std::vector<char*>& arguments) {
  constexpr std::string_view rounds = "--tessera_rounds=";
  Options options;
  std::erase_if(arguments, [&](const char* argument) {
    const std::string_view text = argument;
    const bool is_rounds = text.starts_with(rounds);
    if (is_rounds) options.rounds = std::max(1, std::atoi(argument + rounds.size()));
    if (text == "--tessera_brief") options.is_brief = true;
    return is_rounds || text == "--tessera_brief";
  });
  return options;
}

bool fits_memory(const Case& test_case, int ranks) {
  const auto bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  return memory_needed(test_case, ranks) <= bytes / 5 * 4;
}

/// Records the cases measured so far; a case that does not fit into memory has no variants.
class Record {
 public:
  Record(DeviceMesh mesh, int rounds) : mesh_(std::move(mesh)), rounds_(rounds) {}

  /// Returns the times of a variant, and measures its case if that has not been done yet. Returns
  /// null if the case does not fit into memory.
  const Timed* timed(const Case& test_case, const std::string& variant) {
    auto found = std::ranges::find(measured_, test_case.name(), name_of);
    if (found == measured_.end()) found = measured_.insert(found, measured(test_case));
    const auto timed = std::ranges::find(found->variants, variant, &Timed::name);
    return timed == found->variants.end() ? nullptr : &*timed;
  }
  const std::vector<Measured>& cases() const { return measured_; }
  int ranks() const { return mesh_.size(); }
  int rounds() const { return rounds_; }

 private:
  static std::string name_of(const Measured& measured) { return measured.test_case.name(); }

  Measured measured(const Case& test_case) const {
    if (!fits_memory(test_case, ranks())) return {test_case, {}};
    if (mesh_.rank() == 0) std::fprintf(stderr, "%s\n", test_case.name().c_str());
    return measure(test_case, mesh_, rounds_);
  }

  DeviceMesh mesh_;
  int rounds_;
  std::vector<Measured> measured_;
};

/// Adds the counts, which scripts/perf-compare compares.
void add_counters(benchmark::State& state, const Counted& counted) {
  state.counters["messages"] = static_cast<double>(counted.messages);
  state.counters["bytes"] = static_cast<double>(counted.bytes);
  state.counters["fences"] = static_cast<double>(counted.fences);
  state.counters["allocations"] = static_cast<double>(counted.allocations);
}

void register_variant(Record& record, const Case& test_case, const std::string& variant) {
  const auto replay = [&record, test_case, variant, round = 0](benchmark::State& state) mutable {
    const auto* const timed = record.timed(test_case, variant);
    if (timed == nullptr) return state.SkipWithError("more memory than the node has");
    const auto index = static_cast<std::size_t>(round++) % timed->seconds.size();
    for (auto _ : state) state.SetIterationTime(timed->seconds[index]);
    if (timed->counted) add_counters(state, *timed->counted);
  };
  const auto name = test_case.name() + "/" + variant;
  benchmark::RegisterBenchmark(name.c_str(), replay)
      ->Iterations(1)
      ->Repetitions(record.rounds())
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void add_context(int ranks) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string_view text(version, static_cast<std::size_t>(length));
  benchmark::AddCustomContext("mpi", std::string(text.substr(0, text.find('\n'))));
  benchmark::AddCustomContext("ranks", std::to_string(ranks));
}

void register_cases(Record& record, const std::vector<Case>& cases) {
  for (const auto& test_case : cases) {
    const auto geometry = geometry_of(test_case, 0, record.ranks());
    for (const auto& variant : variants(test_case, geometry))
      register_variant(record, test_case, variant.name);
  }
}

/// Runs the benchmarks without printing, so that the screen shows only the table.
void run(int rank) {
  Silent reporter;
  std::ostream nowhere(nullptr);
  if (rank != 0) {
    reporter.SetOutputStream(&nowhere);
    reporter.SetErrorStream(&nowhere);
  }
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  std::vector<char*> arguments(argv, argv + argc);
  const auto options = take_options(arguments);
  if (!initialize(arguments, mesh.rank())) return 2;
  Record record(mesh, options.rounds);
  register_cases(record, options.is_brief ? brief_cases() : all_cases());
  add_context(mesh.size());
  try {
    run(mesh.rank());
  } catch (const Error& error) {
    if (mesh.rank() == 0) std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  if (mesh.rank() == 0 && !record.cases().empty())
    std::fputs(table(record.cases()).c_str(), stdout);
}
