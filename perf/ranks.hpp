// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Runs Google Benchmark on several ranks.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace tessera::perf {

/// Returns the median; of an even number of values the upper one.
inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Prints nothing.
class Silent : public benchmark::BenchmarkReporter {
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

/// Hands the program's arguments to Google Benchmark; only rank 0 writes a file. Returns whether
/// Google Benchmark knows all of them.
inline bool initialize(std::vector<char*> arguments, int rank) {
  std::string no_file = "--benchmark_out=";
  if (rank != 0) arguments.push_back(no_file.data());
  auto count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  return !benchmark::ReportUnrecognizedArguments(count, arguments.data());
}

/// Runs the registered benchmarks on every rank; rank 0 reports. Returns the exit status.
inline int run_benchmarks(int argc, char** argv, int rank) {
  if (!initialize({argv, argv + argc}, rank)) return 2;
  Silent silent;
  if (rank == 0)
    benchmark::RunSpecifiedBenchmarks();
  else
    benchmark::RunSpecifiedBenchmarks(&silent);
  benchmark::Shutdown();
  return 0;
}

}  // namespace tessera::perf
