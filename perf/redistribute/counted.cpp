// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <tessera/mpi/trace.hpp>

#include "counted.hpp"

namespace tessera::perf {

namespace {

namespace tools = Kokkos::Tools::Experimental;

Counted counted;  // global, because the callbacks are plain functions

}  // namespace

Counted count(const std::function<void()>& call) {
  counted = {};
  const auto before = tools::get_callbacks();
  tools::set_begin_fence_callback([](const char* name, std::uint32_t, std::uint64_t*) {
    // Kokkos itself fences where tools listen, and before it frees memory; these fences do not
    // count.
    if (!std::string_view(name).starts_with("Kokkos::")) ++counted.fences;
  });
  tools::set_allocate_data_callback([](const Kokkos::Tools::SpaceHandle, const char*, const void*,
                                       std::uint64_t) { ++counted.allocations; });
  {
    const TraceScope scope([](const TraceEvent& event) {
      if (event.kind != TraceKind::exchange) return;
      counted.messages += event.messages_sent;
      counted.bytes += event.bytes_sent;
    });
    call();
  }
  tools::set_callbacks(before);
  const std::array<std::int64_t, 4> mine{counted.messages, counted.bytes, counted.fences,
                                         counted.allocations};
  std::array<std::int64_t, 4> all{};
  MPI_Allreduce(mine.data(), all.data(), 4, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return {all[0], all[1], all[2], all[3]};
}

}  // namespace tessera::perf
