// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For comm and node: memory of a device that the processes of a node share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// These functions are what the library needs of a device besides kernels: memory that the processes
// of a node share. Each backend has one source file, chosen when the library is configured.
// `device` is the number of the device in this process; it becomes the current device of the
// calling thread.
namespace tessera::detail {

/// A DeviceHandle names memory of a device to other processes of the node.
using DeviceHandle = std::array<char, 64>;

/// DeviceMemory owns memory of a device. `data` is null if the driver refused it; `error` then says
/// why.
struct DeviceMemory {
  std::shared_ptr<std::byte> data;  ///< freed, or unmapped, with the last of its owners
  std::string error;
};

/// DeviceKind is the kind of device that a build uses.
enum class DeviceKind : std::uint8_t { none, cuda, hip };

/// Returns the kind of device that this build uses.
DeviceKind device_kind();
/// Returns the name of the mechanism by which processes share its memory: "CUDA IPC".
const char* device_sharing_name();
/// Returns how much memory a rank may have for all its slots, bytes.
std::int64_t device_section_bytes();

/// Allocates memory on the device, and fills in its handle.
DeviceMemory make_device_memory(int device, std::int64_t bytes, DeviceHandle& handle);
/// Maps memory that another process has made. The other process must not free it before this one
/// has unmapped it.
DeviceMemory open_device_memory(int device, const DeviceHandle& handle, std::int64_t bytes);

/// Lets the device work on host memory of this process, at the same address, until the last owner
/// of the result lets go. Returns null if the device cannot.
std::shared_ptr<void> pin_host_memory(int device, std::byte* data, std::int64_t bytes);

/// Writes a number to `memory`, and returns whether the device has taken it.
bool write_number(int device, std::byte* memory, std::uint64_t number);
/// Reads the number at `memory`, which the device first copies to `own`, memory of this process.
/// Returns whether that worked.
bool read_number(int device, const std::byte* memory, std::byte* own, std::uint64_t& number);

}  // namespace tessera::detail
