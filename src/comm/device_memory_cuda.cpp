// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <tuple>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <tessera/comm/detail/device_memory.hpp>

namespace tessera::detail {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) <= std::tuple_size_v<DeviceHandle>);

/// Of what failed, the next call of the runtime must not hear.
bool succeeded(cudaError_t error) {
  if (error == cudaSuccess) return true;
  static_cast<void>(cudaGetLastError());
  return false;
}

/// As Kokkos does, for this thread and for good.
void use(int device) {
  static_cast<void>(succeeded(cudaSetDevice(device)));
}

DeviceMemory refused(const char* what, cudaError_t error) {
  return {nullptr, fmt::format("{}: {}", what, cudaGetErrorString(error))};
}

void free_memory(std::byte* data) {
  static_cast<void>(succeeded(cudaFree(data)));
}

void unmap(std::byte* data) {
  static_cast<void>(succeeded(cudaIpcCloseMemHandle(data)));
}

}  // namespace

const char* way_to_share_device_memory() {
  return "CUDA IPC";
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
  auto error = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
  if (!succeeded(error)) return refused("cudaMalloc", error);
  DeviceMemory result{{static_cast<std::byte*>(memory), free_memory}, ""};
  cudaIpcMemHandle_t exported;
  error = cudaIpcGetMemHandle(&exported, memory);
  if (!succeeded(error)) return refused("cudaIpcGetMemHandle", error);
  std::memcpy(handle.data(), &exported, sizeof exported);
  return result;
}

DeviceMemory open_device_memory(int device, const DeviceHandle& handle, std::int64_t) {
  use(device);
  cudaIpcMemHandle_t exported;
  std::memcpy(&exported, handle.data(), sizeof exported);
  void* memory = nullptr;
  const auto error = cudaIpcOpenMemHandle(&memory, exported, cudaIpcMemLazyEnablePeerAccess);
  if (!succeeded(error)) return refused("cudaIpcOpenMemHandle", error);
  return {{static_cast<std::byte*>(memory), unmap}, ""};
}

std::shared_ptr<void> pin_host_memory(int device, std::byte* data, std::int64_t bytes) {
  use(device);
  if (!succeeded(cudaHostRegister(data, static_cast<std::size_t>(bytes),
                                  cudaHostRegisterMapped | cudaHostRegisterPortable)))
    return nullptr;
  const auto release = [](std::byte* pinned) {
    static_cast<void>(succeeded(cudaHostUnregister(pinned)));
  };
  std::shared_ptr<std::byte> pinned(data, release);
  void* on_device = nullptr;
  const bool is_same =
      succeeded(cudaHostGetDevicePointer(&on_device, data, 0)) && on_device == data;
  return is_same ? pinned : nullptr;
}

bool write_number(int device, std::byte* memory, std::uint64_t number) {
  use(device);
  return succeeded(cudaMemcpy(memory, &number, sizeof number, cudaMemcpyHostToDevice)) &&
         succeeded(cudaDeviceSynchronize());
}

bool read_number(int device, const std::byte* memory, std::byte* own, std::uint64_t& number) {
  use(device);
  return succeeded(cudaMemcpy(own, memory, sizeof number, cudaMemcpyDeviceToDevice)) &&
         succeeded(cudaMemcpy(&number, own, sizeof number, cudaMemcpyDeviceToHost));
}

}  // namespace tessera::detail
