// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For node and engine: what goes through the library's own memory on its way to MPI, and which path device memory takes.
#pragma once

#include <cstdint>
#include <string>

#include <tessera/comm/communicator.hpp>

#include "device/device_memory.hpp"

namespace tessera::detail {

/// What travels through the library's own (pinned) host memory on its way to MPI and from it.
enum class Staging : std::uint8_t {
  nothing,        ///< MPI reads and writes device memory itself
  device_memory,  ///< but not host memory
  all_memory,  ///< as if MPI could read no memory of the user's: to test the way without a device
};

/// How device memory gets from one rank of a node to another one.
enum class DevicePath : std::uint8_t {
  stage,  ///< through host memory: that of the window, or pinned memory and messages
  mpi,    ///< in messages that MPI takes from device memory and puts there
  ipc,    ///< through slots in device memory, which the ranks of a node have mapped
};

/// What TESSERA_DEVICE_PATH says.
struct WantedPath {
  bool is_auto = true;
  DevicePath path = DevicePath::stage;
  bool is_for_all_memory = false;  ///< as if all of it were a device's: to test the way without one
};

/// Errors: InvalidArgument.
WantedPath parse_device_path(const std::string& text);

/// Whether MPI says that it takes pointers to device memory, and how it says so.
struct GpuAwareness {
  bool is_aware;
  std::string source;
};

/// As this process sees it: the first that answers of MPIX_GPU_query_support (MPICH),
/// MPIX_Query_cuda_support or MPIX_Query_rocm_support (Open MPI and others), and Cray MPICH's
/// variable MPICH_GPU_SUPPORT_ENABLED together with its library for such memory.
GpuAwareness ask_mpi(DeviceKind kind);

/// Fills in what is staged, and which way device memory takes on nodes, as TESSERA_DEVICE_PATH says
/// (that of rank 0: auto, mpi, ipc or stage). With auto and ipc it is staged on nodes until
/// learn_device_path(); between them, as TESSERA_GPU_AWARE_MPI says (0, 1 or stage_all), else
/// unless all ranks' MPI says that it takes device memory. Collective over the duplicate.
///
/// Errors: InvalidArgument for another value, on every rank.
void learn_staging(const Communicator& communicator);

}  // namespace tessera::detail
