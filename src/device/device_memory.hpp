// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For comm and node: memory of a device that the processes of a node share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// What the library asks of a device besides kernels: memory that processes of a node share. One
// source file for each backend, chosen when the library is configured. `device`: its number in this
// process, which becomes the calling thread's.
namespace tessera::detail {

/// Names memory to other processes of the node.
using DeviceHandle = std::array<char, 64>;

/// Memory of a device. Null where the driver refused, which `error` then tells.
struct DeviceMemory {
  std::shared_ptr<std::byte> data;  ///< freed, or unmapped, with the last of its owners
  std::string error;
};

/// Whose memory it is.
enum class DeviceKind : std::uint8_t { none, cuda, hip };

/// That of the build.
DeviceKind device_kind();
/// The way in which processes share its memory: "CUDA IPC".
const char* way_to_share_device_memory();
/// Bytes that a rank may have for all its slots.
std::int64_t device_section_bytes();

/// Memory on the device, and its handle.
DeviceMemory make_device_memory(int device, std::int64_t bytes, DeviceHandle& handle);
/// Maps what another process has made, and must not free before this one has unmapped it.
DeviceMemory open_device_memory(int device, const DeviceHandle& handle, std::int64_t bytes);

/// Lets the device work on host memory of this process, at the same address; null where it can not.
/// Until the last owner lets go.
std::shared_ptr<void> pin_host_memory(int device, std::byte* data, std::int64_t bytes);

/// Puts a number there. Whether the device has taken it.
bool write_number(int device, std::byte* memory, std::uint64_t number);
/// The number at `memory`, which the device first copies to `own` memory.
bool read_number(int device, const std::byte* memory, std::byte* own, std::uint64_t& number);

}  // namespace tessera::detail
