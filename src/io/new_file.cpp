// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tessera/error/error.hpp>

#include "io/new_file.hpp"

namespace tessera::detail {
namespace {

namespace fs = std::filesystem;

std::string reason_of(int error) {
  return std::generic_category().message(error);
}

/// Returns what `path` leads to, which need not exist.
fs::path followed(fs::path path, std::error_code& error) {
  constexpr int most_links = 40;
  for (int links = 0; links < most_links; ++links) {
    if (!fs::is_symlink(fs::symlink_status(path, error))) {
      error.clear();
      return path;
    }
    const auto next = fs::read_symlink(path, error);
    if (error) return path;
    path = path.parent_path() / next;
  }
  error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
  return path;
}

}  // namespace

NewFile::NewFile(const std::string& path) : path_(path) {
  std::error_code error;
  target_ = followed(fs::absolute(path, error), error);
  if (error) fail(error.message());
  struct stat existing = {};
  const bool exists = stat(target_.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail(reason_of(EISDIR));
  if (exists && !S_ISREG(existing.st_mode)) fail("expected a regular file or none");
  constexpr mode_t any_may_write = S_IWUSR | S_IWGRP | S_IWOTH;
  // The superuser may write everything, but a file without a write bit is meant to stay.
  if (exists && ((existing.st_mode & any_may_write) == 0 || access(target_.c_str(), W_OK) != 0))
    fail(reason_of(EACCES));
  has_other_links_ = exists && existing.st_nlink > 1;

  // Short, because a name may have no more than 255 bytes.
  temporary_ = target_.parent_path() / fmt::format(".tessera-{:08x}.tmp", std::random_device()());
  constexpr mode_t usual_mode = 0666;
  const int file = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, usual_mode);
  if (file < 0) fail(reason_of(errno));
  if (exists) {
    constexpr mode_t mode_bits = 07777;
    // As far as this user may.
    [[maybe_unused]] const int owned = fchown(file, existing.st_uid, existing.st_gid);
    [[maybe_unused]] const int done = fchmod(file, existing.st_mode & mode_bits);
  }
  close(file);
  is_there_ = true;
}

NewFile::~NewFile() {
  remove();
}

void NewFile::finish(std::int64_t expected_bytes) {
  std::error_code error;
  const auto bytes = fs::file_size(temporary_, error);
  if (error) fail(error.message());
  if (bytes != static_cast<std::uintmax_t>(expected_bytes))
    fail(fmt::format("expected a file of {} bytes after writing, got {}", expected_bytes, bytes));
  if (has_other_links_) {
    fs::copy_file(temporary_, target_, fs::copy_options::overwrite_existing, error);
    if (error) fail(error.message());
    remove();
  } else {
    fs::rename(temporary_, target_, error);
    if (error) fail(error.message());
    is_there_ = false;
  }
}

void NewFile::remove() noexcept {
  if (!std::exchange(is_there_, false)) return;
  std::error_code error;
  fs::remove(temporary_, error);
}

void NewFile::fail(const std::string& reason) const {
  throw IoError(fmt::format("write_npy: '{}': {}", path_, reason));
}

}  // namespace tessera::detail
