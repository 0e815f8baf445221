// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "node/shared_memory.hpp"

namespace tessera::detail {

std::int64_t free_shared_memory() {
  struct statvfs system {};
  if (statvfs("/dev/shm", &system) != 0) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(system.f_bavail) * static_cast<std::int64_t>(system.f_frsize);
}

std::string unused_name() {
  std::random_device device;
  const auto number = std::uint64_t{device()} << 32 | device();
  return "/tessera-" + std::to_string(getpid()) + "-" + std::to_string(number);
}

void SharedMemory::fail(const char* what) {
  if (error_.empty()) error_ = std::string(what) + ": " + std::strerror(errno);
}

void SharedMemory::map(int file, std::int64_t bytes) {
  file_ = file;
  bytes_ = bytes;
  void* address =
      mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) return fail("mmap");
  data_ = static_cast<std::byte*>(address);
}

SharedMemory SharedMemory::make(std::int64_t bytes) {
  SharedMemory memory;
  memory.name_ = unused_name();
  const int file = shm_open(memory.name_.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file < 0) {
    memory.fail("shm_open");
    return memory;
  }
  memory.is_linked_ = true;
  memory.file_ = file;
  if (ftruncate(file, bytes) != 0)
    memory.fail("ftruncate");
  else
    memory.map(file, bytes);
  return memory;
}

SharedMemory SharedMemory::open(const std::string& name, std::int64_t bytes) {
  SharedMemory memory;
  memory.name_ = name;
  const int file = shm_open(name.c_str(), O_RDWR, 0600);
  if (file < 0)
    memory.fail("shm_open");
  else
    memory.map(file, bytes);
  return memory;
}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(error_, other.error_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(file_, other.file_);
  std::swap(is_linked_, other.is_linked_);
  return *this;
}

SharedMemory::~SharedMemory() {
  unlink();
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
  if (file_ >= 0) close(file_);
}

bool SharedMemory::reserve(std::int64_t offset, std::int64_t bytes) {
  int result = EINTR;
  while (result == EINTR) result = posix_fallocate(file_, offset, bytes);
  if (result == 0) return true;
  errno = result;
  fail("posix_fallocate");
  return false;
}

void SharedMemory::unlink() {
  if (std::exchange(is_linked_, false)) shm_unlink(name_.c_str());
}

}  // namespace tessera::detail
