// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "device/device_runtime.hpp"
#include "device/tuning.hpp"

namespace tessera::detail {
namespace {

struct CUDA {
  using Error = cudaError_t;
  using IpcHandle = cudaIpcMemHandle_t;
  static constexpr auto prefix = "cuda";
  static constexpr auto success = cudaSuccess;
  static constexpr auto to_device = cudaMemcpyHostToDevice;
  static constexpr auto to_host = cudaMemcpyDeviceToHost;
  static constexpr auto within_device = cudaMemcpyDeviceToDevice;

  static Error malloc(void** data, std::size_t bytes) { return cudaMalloc(data, bytes); }
  static Error free(void* data) { return cudaFree(data); }
  static Error get_handle(IpcHandle* handle, void* data) {
    return cudaIpcGetMemHandle(handle, data);
  }
  static Error open_handle(void** data, IpcHandle handle) {
    return cudaIpcOpenMemHandle(data, handle, cudaIpcMemLazyEnablePeerAccess);
  }
  static Error close_handle(void* data) { return cudaIpcCloseMemHandle(data); }
  static Error host_register(void* data, std::size_t bytes) {
    return cudaHostRegister(data, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable);
  }
  static Error host_unregister(void* data) { return cudaHostUnregister(data); }
  static Error host_get_device_pointer(void** on_device, void* data) {
    return cudaHostGetDevicePointer(on_device, data, 0);
  }
  static Error copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpy(to, from, bytes, kind);
  }
  static Error synchronize() { return cudaDeviceSynchronize(); }
  static Error set_device(int device) { return cudaSetDevice(device); }
  static Error get_last_error() { return cudaGetLastError(); }
  static const char* get_error_string(Error error) { return cudaGetErrorString(error); }
};

using Runtime = DeviceRuntime<CUDA>;

}  // namespace

DeviceKind device_kind() {
  return DeviceKind::cuda;
}

const char* device_sharing_name() {
  return "CUDA IPC";
}

std::int64_t device_section_bytes() {
  return device_memory_for_slots;
}

DeviceMemory make_device_memory(int device, std::int64_t bytes, DeviceHandle& handle) {
  return Runtime::make(device, bytes, handle);
}

DeviceMemory open_device_memory(int device, const DeviceHandle& handle, std::int64_t) {
  return Runtime::open(device, handle);
}

std::shared_ptr<void> pin_host_memory(int device, std::byte* data, std::int64_t bytes) {
  return Runtime::pin(device, data, bytes);
}

bool write_number(int device, std::byte* memory, std::uint64_t number) {
  return Runtime::write(device, memory, number);
}

bool read_number(int device, const std::byte* memory, std::byte* own, std::uint64_t& number) {
  return Runtime::read(device, memory, own, number);
}

}  // namespace tessera::detail
