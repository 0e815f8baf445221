// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include <tessera/comm/collectives.hpp>

#include "../support/gathered.hpp"
#include "../support/meshes.hpp"

namespace tessera::test {

/// All ranks in one mesh dim.
inline DeviceMesh world_mesh() {
  return mesh_of({world_size()});
}

inline void barrier() {
  tessera::barrier(world_mesh().group(), TraceKind::agreement, "test");
}

/// A path that all ranks of a run agree on, removed at the end.
class SharedPath {
 public:
  SharedPath() {
    const auto id = all_gather_value(world_mesh().group(), getpid(), TraceKind::metadata, "test");
    folder_ = std::filesystem::temp_directory_path() / ("tessera_npy_" + std::to_string(id[0]));
    if (is_first()) std::filesystem::create_directory(folder_);
    barrier();
  }
  ~SharedPath() {
    barrier();
    if (is_first()) std::filesystem::remove_all(folder_);
  }

  std::string path() const { return folder_ / "array.npy"; }
  const std::filesystem::path& folder() const { return folder_; }

  /// Writes the whole file, on all ranks' behalf.
  void write(const std::string& bytes) const {
    barrier();
    if (is_first()) std::ofstream(path(), std::ios::binary) << bytes;
    barrier();
  }

  std::string read() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static bool is_first() { return world_mesh().rank() == 0; }

  std::filesystem::path folder_;
};

/// Magic, version, length and text of a header.
inline std::string npy_header(const std::string& text, char version = 1) {
  const auto length = text.size();
  std::string result = "\x93NUMPY" + std::string{version, '\0'};
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte)
    result += static_cast<char>(length >> (8 * byte) & 0xff);
  return result + text;
}

inline std::string dictionary(const std::string& descr, bool is_fortran_order,
                              const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (is_fortran_order ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline std::string reversed(std::string bytes, std::size_t size) {
  for (std::size_t i = 0; i < bytes.size(); i += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
  return bytes;
}

/// The same text on every rank.
inline bool is_same_everywhere(const std::string& text) {
  const auto all = gathered(world_mesh().group(), text);
  return std::ranges::all_of(all, [&](const auto& other) { return other == all[0]; });
}

}  // namespace tessera::test
