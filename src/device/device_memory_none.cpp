// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// In a build without a device, host memory takes its place, to test the path without one.
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/device_memory.hpp"
#include "device/tuning.hpp"

namespace tessera::detail {
namespace {

DeviceMemory refused(const char* what) {
  return {nullptr, fmt::format("{}: {}", what, std::strerror(errno))};
}

/// Maps `file`. Closes it when the memory is unmapped, or at once if it cannot be mapped.
DeviceMemory mapped(int file, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  void* const address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) {
    auto result = refused("mmap");
    close(file);
    return result;
  }
  return {{static_cast<std::byte*>(address),
           [size, file](std::byte* data) {
             munmap(data, size);
             close(file);
           }},
          ""};
}

}  // namespace

DeviceKind device_kind() {
  return DeviceKind::none;
}

const char* device_sharing_name() {
  return "host memory in place of a device's";
}

std::int64_t device_section_bytes() {
  return host_memory_for_slots;
}

DeviceMemory make_device_memory(int, std::int64_t bytes, DeviceHandle& handle) {
#if defined(__linux__)
  const int file = memfd_create("tessera-device", MFD_CLOEXEC);
  if (file < 0) return refused("memfd_create");
  if (ftruncate(file, bytes) != 0) {
    auto result = refused("ftruncate");
    close(file);
    return result;
  }
  handle = {};
  fmt::format("/proc/{}/fd/{}", getpid(), file).copy(handle.data(), handle.size() - 1);
  return mapped(file, bytes);
#else
  static_cast<void>(bytes);
  static_cast<void>(handle);
  return {nullptr, "no device in this build"};
#endif
}

DeviceMemory open_device_memory(int, const DeviceHandle& handle, std::int64_t bytes) {
  const int file = open(handle.data(), O_RDWR | O_CLOEXEC);
  return file < 0 ? refused(handle.data()) : mapped(file, bytes);
}

std::shared_ptr<void> pin_host_memory(int, std::byte*, std::int64_t) {
  return nullptr;
}

bool write_number(int, std::byte* memory, std::uint64_t number) {
  std::memcpy(memory, &number, sizeof number);
  return true;
}

bool read_number(int, const std::byte* memory, std::byte* own, std::uint64_t& number) {
  std::memcpy(own, memory, sizeof number);
  std::memcpy(&number, own, sizeof number);
  return true;
}

}  // namespace tessera::detail
