// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Measures what the agreement on a call costs. If the ranks know the call: instructions per call,
// and messages; if the call is new: time. Run it on two or more ranks. Each rank repeats a call a
// fixed number of times, so that all ranks make the same calls.
#include <optional>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include <tessera/tessera.hpp>

#include "../ranks.hpp"

namespace {

using namespace tessera;

/// Counts the instructions of the calling thread outside the kernel, if the system permits it.
class Instructions {
 public:
  Instructions() {
    perf_event_attr what{};
    what.size = sizeof what;
    what.type = PERF_TYPE_HARDWARE;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, 0));
  }
  ~Instructions() {
    if (file_ >= 0) close(file_);
  }
  Instructions(const Instructions&) = delete;
  Instructions& operator=(const Instructions&) = delete;

  std::optional<double> count() const {
    std::uint64_t value = 0;
    if (file_ < 0 || read(file_, &value, sizeof value) != ssize_t{sizeof value}) return {};
    return static_cast<double>(value);
  }

 private:
  int file_ = -1;
};

const DeviceMesh& world() {
  static const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  return mesh;
}

/// Does all that a call of redistribute does for the agreement, and nothing else.
void agreement_on_a_known_call(benchmark::State& state) {
  auto* const calls = detail::MeshAccess::calls(world());
  const auto text = [] { return std::string("a call"); };
  AgreedCall last;
  Operation(calls, "known").agree(1, text, last);
  int messages = 0;
  const TraceScope scope([&](const TraceEvent&) { ++messages; });
  const Instructions instructions;
  const auto before = instructions.count();
  for (auto _ : state) {
    Operation operation(calls, "known");
    operation.agree(1, text, last);
    benchmark::DoNotOptimize(operation.tag());
  }
  const auto after = instructions.count();
  if (before && after)
    state.counters["instructions"] = (*after - *before) / static_cast<double>(state.iterations());
  state.counters["messages"] = messages;
}
BENCHMARK(agreement_on_a_known_call)->Iterations(200000);

void agreement_on_a_new_call(benchmark::State& state) {
  const auto text = [] { return std::string("a call"); };
  for (auto _ : state) Operation(detail::MeshAccess::calls(world()), "new").agree_always(1, text);
}
BENCHMARK(agreement_on_a_new_call)->Iterations(2000);

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  return perf::run_benchmarks(argc, argv, world().rank());
}
