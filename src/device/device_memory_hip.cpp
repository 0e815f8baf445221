// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime_api.h>

#include "device/device_runtime.hpp"
#include "device/tuning.hpp"

namespace tessera::detail {
namespace {

struct HIP {
  using Error = hipError_t;
  using IpcHandle = hipIpcMemHandle_t;
  static constexpr auto prefix = "hip";
  static constexpr auto success = hipSuccess;
  static constexpr auto to_device = hipMemcpyHostToDevice;
  static constexpr auto to_host = hipMemcpyDeviceToHost;
  static constexpr auto within_device = hipMemcpyDeviceToDevice;

  static Error malloc(void** data, std::size_t bytes) { return hipMalloc(data, bytes); }
  static Error free(void* data) { return hipFree(data); }
  static Error get_handle(IpcHandle* handle, void* data) {
    return hipIpcGetMemHandle(handle, data);
  }
  static Error open_handle(void** data, IpcHandle handle) {
    return hipIpcOpenMemHandle(data, handle, hipIpcMemLazyEnablePeerAccess);
  }
  static Error close_handle(void* data) { return hipIpcCloseMemHandle(data); }
  static Error host_register(void* data, std::size_t bytes) {
    return hipHostRegister(data, bytes, hipHostRegisterMapped | hipHostRegisterPortable);
  }
  static Error host_unregister(void* data) { return hipHostUnregister(data); }
  static Error host_get_device_pointer(void** on_device, void* data) {
    return hipHostGetDevicePointer(on_device, data, 0);
  }
  static Error copy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
    return hipMemcpy(to, from, bytes, kind);
  }
  static Error synchronize() { return hipDeviceSynchronize(); }
  static Error set_device(int device) { return hipSetDevice(device); }
  static Error get_last_error() { return hipGetLastError(); }
  static const char* get_error_string(Error error) { return hipGetErrorString(error); }
};

using Runtime = DeviceRuntime<HIP>;

}  // namespace

DeviceKind device_kind() {
  return DeviceKind::hip;
}

const char* device_sharing_name() {
  return "HIP IPC";
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
