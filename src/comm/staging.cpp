// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include <dlfcn.h>
#include <mpi.h>
#if defined(__linux__)
#include <link.h>
#endif

#include <fmt/format.h>

#include <tessera/comm/collectives.hpp>
#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>

#include "comm/communicator_state.hpp"
#include "comm/environment.hpp"
#include "comm/staging.hpp"

namespace tessera::detail {
namespace {

constexpr auto variable = "TESSERA_GPU_AWARE_MPI";

/// Returns a function that not every MPI library has; null if this one has not.
template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

std::optional<GpuAwareness> ask_mpich(DeviceKind kind) {
  constexpr auto name = "MPIX_GPU_query_support";
  constexpr int cuda = 0;
  constexpr int hip = 2;
  auto* const query = find<int(int, int*)>(name);
  int is_aware = 0;
  if (query == nullptr || query(kind == DeviceKind::hip ? hip : cuda, &is_aware) != MPI_SUCCESS)
    return {};
  return GpuAwareness{is_aware != 0, name};
}

std::optional<GpuAwareness> ask_open_mpi(DeviceKind kind) {
  const auto* name =
      kind == DeviceKind::hip ? "MPIX_Query_rocm_support" : "MPIX_Query_cuda_support";
  auto* const query = find<int()>(name);
  if (query == nullptr) return {};
  return GpuAwareness{query() != 0, name};
}

bool is_loaded([[maybe_unused]] const char* library) {
#if defined(__linux__)
  const auto find_name = [](dl_phdr_info* info, std::size_t, void* wanted) {
    return std::strstr(info->dlpi_name, static_cast<const char*>(wanted)) != nullptr ? 1 : 0;
  };
  return dl_iterate_phdr(find_name, const_cast<char*>(library)) != 0;
#else
  return false;
#endif
}

std::optional<GpuAwareness> ask_cray(DeviceKind kind) {
  const char* const enabled = std::getenv("MPICH_GPU_SUPPORT_ENABLED");
  const auto* library = kind == DeviceKind::hip ? "libmpi_gtl_hsa" : "libmpi_gtl_cuda";
  if (enabled == nullptr || std::string_view(enabled) != "1" || !is_loaded(library)) return {};
  return GpuAwareness{true, fmt::format("MPICH_GPU_SUPPORT_ENABLED and {}", library)};
}

std::optional<Staging> parse_staging(const std::string& text) {
  if (text.empty()) return {};
  if (text == "0") return Staging::device_memory;
  if (text == "1") return Staging::nothing;
  require(text == "stage_all", [&] {
    return fmt::format("{}: expected 0, 1 or stage_all, got \"{}\"", variable, text);
  });
  return Staging::all_memory;
}

}  // namespace

WantedPath parse_device_path(const std::string& text) {
  if (text.empty() || text == "auto") return {};
  if (text == "stage") return {false, DevicePath::stage};
  if (text == "mpi") return {false, DevicePath::mpi};
  if (text == "mpi_all") return {false, DevicePath::mpi, true};
  if (text == "ipc") return {false, DevicePath::ipc};
  require(text == "ipc_all", [&] {
    return fmt::format("TESSERA_DEVICE_PATH: expected auto, mpi, ipc or stage, got \"{}\"", text);
  });
  return {false, DevicePath::ipc, true};
}

GpuAwareness ask_mpi(DeviceKind kind) {
  if (kind == DeviceKind::none) return {false, "no device in this build"};
  for (auto* const ask : {ask_mpich, ask_open_mpi, ask_cray})
    if (auto answer = ask(kind)) return *std::move(answer);
  return {false, "MPI does not say"};
}

/// Sets what is staged if TESSERA_DEVICE_PATH leaves it to detection (auto and ipc).
static void detect_gpu_awareness(const Group& group, CommunicatorState& state) {
  struct Answer {
    std::int32_t has_device;
    std::int32_t is_aware;
  };
  const auto wanted = parse_staging(variable_of_first(group, variable));
  auto mine = ask_mpi(device_kind());
  const Answer answer{device_kind() != DeviceKind::none, mine.is_aware};
  const auto all = all_gather_value(group, answer, TraceKind::metadata, setup_operation);
  const auto first_without = [&](std::int32_t Answer::*what) {
    return std::ranges::find(all, 0, what);
  };
  const auto& path = state.wanted_path;
  const auto hostly = first_without(&Answer::has_device);
  state.may_share_device_memory = hostly == all.end() || path.is_for_all_memory;
  if (!path.is_auto && !state.may_share_device_memory)
    log(LogLevel::warning, "comm", [&] {
      return fmt::format("TESSERA_DEVICE_PATH=ipc: no device in the build of rank {}",
                         hostly - all.begin());
    });
  if (wanted) {
    state.staging = *wanted;
    state.staging_source = variable;
    return;
  }
  const auto unaware = first_without(&Answer::is_aware);
  state.staging = unaware == all.end() ? Staging::nothing : Staging::device_memory;
  state.staging_source = std::move(mine.source);
  if (mine.is_aware && unaware != all.end())
    state.staging_source = fmt::format("not so on rank {}", unaware - all.begin());
}

void detect_staging(const Communicator& communicator) {
  auto& state = communicator.state();
  const auto group = all_ranks(communicator);
  constexpr auto path_variable = "TESSERA_DEVICE_PATH";
  const auto wanted = parse_device_path(variable_of_first(group, path_variable));
  state.wanted_path = wanted;
  if (wanted.is_auto || wanted.path == DevicePath::ipc) return detect_gpu_awareness(group, state);
  state.device_path = wanted.path;
  state.staging = wanted.path == DevicePath::mpi ? Staging::nothing : Staging::device_memory;
  state.staging_source = path_variable;
}

}  // namespace tessera::detail
