// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tessera::detail {

/// A NewFile is a file that is written under another name until it is complete. Only one rank has
/// it. Its errors are IoErrors that name the path as the user gave it.
class NewFile {
 public:
  /// Makes an empty file next to the one that `path` leads to, through symbolic links. Errors:
  /// IoError, if that is something else than a regular file or must not be written.
  explicit NewFile(const std::string& path);
  /// Removes the file unless it was finished.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Returns the absolute path of the file while it is written.
  std::string temporary() const { return temporary_.string(); }

  /// Makes its content that of `path`. An existing file keeps its mode and its hard links. Errors:
  /// IoError, also if the size is not the expected one.
  void finish(std::int64_t expected_bytes);

 private:
  void remove() noexcept;
  [[noreturn]] void fail(const std::string& reason) const;

  std::string path_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  bool has_other_links_ = false;
  bool is_there_ = false;  ///< whether it exists under the other name
};

}  // namespace tessera::detail
