// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For node and engine: what goes through the library's own memory on its way to MPI, and which path
// device memory takes.
#pragma once

#include <cstdint>
#include <string>

#include <tessera/comm/communicator.hpp>

#include "device/device_memory.hpp"

namespace tessera::detail {

/// Staging says what travels through the library's own (pinned) host memory on its way to MPI and
/// from it.
enum class Staging : std::uint8_t {
  nothing,        ///< MPI reads and writes device memory itself
  device_memory,  ///< device memory does, host memory does not
  all_memory,     ///< all does, as if MPI read no user memory: tests the path without a device
};

/// DevicePath says how device memory gets from one rank of a node to another.
enum class DevicePath : std::uint8_t {
  stage,  ///< host memory: the window, or pinned memory and messages
  mpi,    ///< messages, which MPI takes from device memory and puts there
  ipc,    ///< slots in device memory, which the ranks of a node have mapped
};

/// WantedPath is what TESSERA_DEVICE_PATH says.
struct WantedPath {
  bool is_auto = true;
  DevicePath path = DevicePath::stage;
  bool is_for_all_memory = false;  ///< host memory takes the path, too: tests it without a device
};

/// Parses a value of TESSERA_DEVICE_PATH. Errors: InvalidArgument.
WantedPath parse_device_path(const std::string& text);

/// GpuAwareness says whether MPI takes pointers to device memory, and what says so.
struct GpuAwareness {
  bool is_aware;
  std::string source;
};

/// Asks the MPI library of this process whether it takes pointers to device memory. The first of
/// these that answers counts: MPIX_GPU_query_support (MPICH); MPIX_Query_cuda_support or
/// MPIX_Query_rocm_support (Open MPI and others); Cray MPICH's variable MPICH_GPU_SUPPORT_ENABLED
/// together with its library for such memory.
GpuAwareness ask_mpi(DeviceKind kind);

/// Sets what is staged, and which path device memory takes on nodes, from TESSERA_DEVICE_PATH of
/// rank 0: auto, mpi, ipc or stage. Collective over the duplicate.
///
/// With auto and ipc, device memory is staged on nodes until learn_device_path(). Between nodes,
/// TESSERA_GPU_AWARE_MPI (0, 1 or stage_all) decides; without it, device memory is staged unless
/// MPI takes it on all ranks.
///
/// Errors: InvalidArgument for another value, on every rank.
void detect_staging(const Communicator& communicator);

}  // namespace tessera::detail
