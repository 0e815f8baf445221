// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <tuple>

#include <fmt/format.h>
#include <hip/hip_runtime_api.h>

#include <tessera/comm/detail/device_memory.hpp>

namespace tessera::detail {
namespace {

static_assert(sizeof(hipIpcMemHandle_t) <= std::tuple_size_v<DeviceHandle>);

/// Of what failed, the next call of the runtime must not hear.
bool succeeded(hipError_t error) {
  if (error == hipSuccess) return true;
  static_cast<void>(hipGetLastError());
  return false;
}

/// As Kokkos does, for this thread and for good.
void use(int device) {
  static_cast<void>(succeeded(hipSetDevice(device)));
}

DeviceMemory refused(const char* what, hipError_t error) {
  return {nullptr, fmt::format("{}: {}", what, hipGetErrorString(error))};
}

void free_memory(std::byte* data) {
  static_cast<void>(succeeded(hipFree(data)));
}

void unmap(std::byte* data) {
  static_cast<void>(succeeded(hipIpcCloseMemHandle(data)));
}

}  // namespace

const char* way_to_share_device_memory() {
  return "HIP IPC";
}

bool is_shared_memory_on_device() {
  return true;
}

std::int64_t device_section_bytes() {
  return 64 << 20;
}

DeviceMemory make_device_memory(int device, std::int64_t bytes, DeviceHandle& handle) {
  use(device);
  void* memory = nullptr;
  auto error = hipMalloc(&memory, static_cast<std::size_t>(bytes));
  if (!succeeded(error)) return refused("hipMalloc", error);
  DeviceMemory result{{static_cast<std::byte*>(memory), free_memory}, ""};
  hipIpcMemHandle_t exported;
  error = hipIpcGetMemHandle(&exported, memory);
  if (!succeeded(error)) return refused("hipIpcGetMemHandle", error);
  std::memcpy(handle.data(), &exported, sizeof exported);
  return result;
}

DeviceMemory open_device_memory(int device, const DeviceHandle& handle, std::int64_t) {
  use(device);
  hipIpcMemHandle_t exported;
  std::memcpy(&exported, handle.data(), sizeof exported);
  void* memory = nullptr;
  const auto error = hipIpcOpenMemHandle(&memory, exported, hipIpcMemLazyEnablePeerAccess);
  if (!succeeded(error)) return refused("hipIpcOpenMemHandle", error);
  return {{static_cast<std::byte*>(memory), unmap}, ""};
}

std::shared_ptr<void> pin_host_memory(int device, std::byte* data, std::int64_t bytes) {
  use(device);
  if (!succeeded(hipHostRegister(data, static_cast<std::size_t>(bytes),
                                 hipHostRegisterMapped | hipHostRegisterPortable)))
    return nullptr;
  const auto release = [](std::byte* pinned) {
    static_cast<void>(succeeded(hipHostUnregister(pinned)));
  };
  std::shared_ptr<std::byte> pinned(data, release);
  void* on_device = nullptr;
  const bool is_same = succeeded(hipHostGetDevicePointer(&on_device, data, 0)) && on_device == data;
  return is_same ? pinned : nullptr;
}

bool write_number(int device, std::byte* memory, std::uint64_t number) {
  use(device);
  return succeeded(hipMemcpy(memory, &number, sizeof number, hipMemcpyHostToDevice)) &&
         succeeded(hipDeviceSynchronize());
}

bool read_number(int device, const std::byte* memory, std::byte* own, std::uint64_t& number) {
  use(device);
  return succeeded(hipMemcpy(own, memory, sizeof number, hipMemcpyDeviceToDevice)) &&
         succeeded(hipMemcpy(&number, own, sizeof number, hipMemcpyDeviceToHost));
}

}  // namespace tessera::detail
