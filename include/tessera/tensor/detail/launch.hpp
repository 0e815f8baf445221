// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/comm/detail/cores.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera::detail {

/// Least number of bytes of host memory for which a kernel is run by all threads.
///
/// Less work runs on the calling thread, because starting and joining threads takes longer than the
/// work. The kernels also use the value as the least size of a task and of a result for which
/// operands in another memory order are transposed, the engine as the least size of an unpacked
/// chunk that is timed. Not measured on its own; judgement. Shown by: perf_redistribute, rows
/// */64x64 (16 KiB per shard) and */128x256 with OMP_NUM_THREADS of 2 and more and a core for each
/// thread; recorded runs have one thread per rank.
inline constexpr std::int64_t serial_bytes = 16 * 1024;

constexpr bool is_on_device(MemorySpace space) {
  return has_device && space == MemorySpace::device;
}

template <class Space>
using LaunchPolicy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

/// Waits for kernels on the host that may still run after their launch. Only the backend HPX has
/// such kernels.
inline void finish_host(const Execution& execution) {
  static const bool is_asynchronous =
      std::string_view(Kokkos::DefaultHostExecutionSpace::name()) == "HPX";
  if (is_asynchronous)
    execution.instance<MemorySpace::host>().fence("tessera::detail: before the host goes on");
}

/// Returns whether all threads share the work on `bytes` bytes of host memory. They do not for less
/// than serial_bytes, or if the threads of all ranks outnumber the cores: then each kernel would
/// wait at its end for a thread that has no core.
inline bool is_for_threads(const Execution& execution, std::int64_t bytes) {
  if (bytes < serial_bytes) return false;
  const int threads = execution.instance<MemorySpace::host>().concurrency();
  return threads > 1 && threads <= cores_per_rank();
}

/// Calls functor(i) for all i in [0, items) on host memory of `bytes` bytes. If `functor` takes a
/// range and no threads share the work, it calls functor(0, items) instead. Work of a device on
/// that memory must be complete before.
template <class Functor>
void launch_on_host(const Execution& execution, const char* label, std::int64_t items,
                    std::int64_t bytes, const Functor& functor) {
  if (items > 1 && is_for_threads(execution, bytes)) {
    Kokkos::parallel_for(label,
                         LaunchPolicy<Kokkos::DefaultHostExecutionSpace>(
                             execution.instance<MemorySpace::host>(), 0, items),
                         functor);
  } else {
    finish_host(execution);
    if constexpr (std::is_invocable_v<const Functor&, std::int64_t, std::int64_t>)
      functor(0, items);
    else
      for (std::int64_t i = 0; i < items; ++i) functor(i);
  }
}

/// Calls functor(i) for all i in [0, items) on device memory.
template <class Functor>
void launch_on_device(const Execution& execution, const char* label, std::int64_t items,
                      const Functor& functor) {
  if constexpr (has_device)
    Kokkos::parallel_for(label,
                         LaunchPolicy<Kokkos::DefaultExecutionSpace>(
                             execution.instance<MemorySpace::device>(), 0, items),
                         functor);
}

}  // namespace tessera::detail
