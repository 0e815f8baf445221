// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace tessera::detail {

/// POSIX shared memory that several processes have mapped.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// Makes `bytes` bytes of 0 under a name that nobody has, for others to open().
  static SharedMemory make(std::int64_t bytes);
  /// Maps what another process has made.
  static SharedMemory open(const std::string& name, std::int64_t bytes);
  SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  /// The system gives memory to this part now: where there is too little, it says so here and not
  /// by a signal later. Whether it could.
  bool reserve(std::int64_t offset, std::int64_t bytes);
  /// Nobody can open it any more; what is mapped stays.
  void unlink();

  /// Null where the system refused.
  std::byte* data() const { return data_; }
  const std::string& name() const { return name_; }
  /// What the system refused, and why; "" if nothing.
  const std::string& error() const { return error_; }

 private:
  void fail(const char* what);
  void map(int file, std::int64_t bytes);

  std::string name_;
  std::string error_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  int file_ = -1;
  bool is_linked_ = false;
};

/// Bytes of shared memory that the system has left; the largest number where it does not say.
std::int64_t free_shared_memory();

/// A name for shared memory that nobody else has.
std::string unused_name();

}  // namespace tessera::detail
