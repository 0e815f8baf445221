// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ctime>

#include <unistd.h>

#include <benchmark/benchmark.h>

#include "clock.hpp"
#include "waits.hpp"
#include "workspace.hpp"

namespace tessera::perf {

namespace {

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Returns twice the size of the level 3 cache in bytes, but at least 64 MiB; the system may not
/// report a size.
std::int64_t bytes_to_evict() {
  constexpr std::int64_t at_least = std::int64_t{64} << 20;
  return std::max(at_least, 2 * std::int64_t{sysconf(_SC_LEVEL3_CACHE_SIZE)});
}

}  // namespace

void barrier() {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  wait_all({&request, 1}, Waits::yielding);
}

Span time_calls(const std::function<void()>& run, int calls) {
  barrier();
  const double start = seconds();
  for (int i = 0; i < calls; ++i) run();
  const double end = seconds();
  const double last_end = reduced(end, MPI_MAX);
  const double first_start = reduced(start, MPI_MIN);
  const double ranks = reduced(1, MPI_SUM);
  return {last_end - first_start, reduced(end - start, MPI_SUM) / ranks};
}

// Each rank reads its share of the memory, which evicts the caches of its own core; all shares
// together evict the cache that the cores share. The memory has been written before, because pages
// that were never written would all be one page.
void evict_caches(int ranks) {
  static const auto count = bytes_to_evict() / std::int64_t{sizeof(double)} / ranks;
  static Buffer buffer;
  static const double* const data = std::fill_n(buffer.at_least(count), count, 1.0) - count;
  double sum = 0;
  for (std::int64_t i = 0; i < count; i += 8) sum += data[i];
  benchmark::DoNotOptimize(sum);
}

}  // namespace tessera::perf
