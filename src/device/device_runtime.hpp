// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <tuple>

#include "device/device_memory.hpp"

namespace tessera::detail {

/// Implements what device_memory.hpp declares, by a runtime like CUDA's. `Runtime` has the
/// functions of that runtime, without the prefix of their names.
template <class Runtime>
class DeviceRuntime {
 public:
  using Error = typename Runtime::Error;
  using IpcHandle = typename Runtime::IpcHandle;

  static DeviceMemory make(int device, std::int64_t bytes, DeviceHandle& handle) {
    use(device);
    void* memory = nullptr;
    auto error = Runtime::malloc(&memory, static_cast<std::size_t>(bytes));
    if (!succeeded(error)) return refused("Malloc", error);
    DeviceMemory result{{static_cast<std::byte*>(memory), free_memory}, ""};
    IpcHandle exported;
    error = Runtime::get_handle(&exported, memory);
    if (!succeeded(error)) return refused("IpcGetMemHandle", error);
    static_assert(sizeof exported <= std::tuple_size_v<DeviceHandle>);
    std::memcpy(handle.data(), &exported, sizeof exported);
    return result;
  }

  static DeviceMemory open(int device, const DeviceHandle& handle) {
    use(device);
    IpcHandle exported;
    std::memcpy(&exported, handle.data(), sizeof exported);
    void* memory = nullptr;
    const auto error = Runtime::open_handle(&memory, exported);
    if (!succeeded(error)) return refused("IpcOpenMemHandle", error);
    return {{static_cast<std::byte*>(memory), unmap}, ""};
  }

  static std::shared_ptr<void> pin(int device, std::byte* data, std::int64_t bytes) {
    use(device);
    if (!succeeded(Runtime::host_register(data, static_cast<std::size_t>(bytes)))) return nullptr;
    const std::shared_ptr<std::byte> pinned(data, unpin);
    void* on_device = nullptr;
    const bool is_same =
        succeeded(Runtime::host_get_device_pointer(&on_device, data)) && on_device == data;
    return is_same ? pinned : nullptr;
  }

  static bool write(int device, std::byte* memory, std::uint64_t number) {
    use(device);
    return succeeded(Runtime::copy(memory, &number, sizeof number, Runtime::to_device)) &&
           succeeded(Runtime::synchronize());
  }

  static bool read(int device, const std::byte* memory, std::byte* own, std::uint64_t& number) {
    use(device);
    return succeeded(Runtime::copy(own, memory, sizeof number, Runtime::within_device)) &&
           succeeded(Runtime::copy(&number, own, sizeof number, Runtime::to_host));
  }

 private:
  /// Returns whether a call succeeded. Clears an error, so that the next call of the runtime does
  /// not report it.
  static bool succeeded(Error error) {
    if (error == Runtime::success) return true;
    static_cast<void>(Runtime::get_last_error());
    return false;
  }

  /// Makes `device` the current device of this thread for good, as Kokkos does.
  static void use(int device) { static_cast<void>(succeeded(Runtime::set_device(device))); }

  static DeviceMemory refused(const std::string& function, Error error) {
    return {nullptr, Runtime::prefix + function + ": " + Runtime::get_error_string(error)};
  }

  static void free_memory(std::byte* data) { static_cast<void>(succeeded(Runtime::free(data))); }
  static void unmap(std::byte* data) { static_cast<void>(succeeded(Runtime::close_handle(data))); }
  static void unpin(std::byte* data) {
    static_cast<void>(succeeded(Runtime::host_unregister(data)));
  }
};

}  // namespace tessera::detail
