// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <mpi.h>

#include <tessera/comm/collectives.hpp>
#include <tessera/extents/box.hpp>

namespace tessera {

/// How File::open opens a file; for `read` it must exist.
enum class FileAccess : std::uint8_t {
  read,
  create,  ///< for reading and writing; what the file held is gone
};

/// In which order the elements of an array follow one another.
enum class StorageOrder : std::uint8_t {
  row_major,     ///< last dim fastest
  column_major,  ///< first dim fastest
};

/// A dense array in a file.
struct FileArray {
  std::int64_t offset = 0;        ///< of its first byte
  std::int64_t element_size = 1;  ///< bytes
  Extents shape;
  StorageOrder order = StorageOrder::row_major;
};

/// A file of bytes that the ranks of a group have open together, by MPI-IO.
///
/// Every failure is an IoError that names the path, on the rank that met it (opening: on all);
/// other ranks may not know: throw_together tells them. Sizes are 64-bit.
class File {
 public:
  /// Collective over the group. Errors: IoError.
  static File open(const Group& group, const std::filesystem::path& path, FileAccess access);

  File(File&& other) noexcept;
  /// Swaps the two.
  File& operator=(File&& other) noexcept;
  /// Closes it, collectively, if close() was not called and MPI still works.
  ~File();

  /// In bytes.
  std::int64_t size() const;

  /// Reads or writes at a byte offset. Local.
  ///
  /// Errors: IoError, also where the file ends before
  /// `data` is full.
  void read_at(std::int64_t offset, std::span<std::byte> data) const;
  /// Writes at a byte offset; a file that is too short grows. Local. Errors: IoError.
  void write_at(std::int64_t offset, std::span<const std::byte> data);

  /// Reads the elements of `box`, a part of the array's index space, into `data`: dense, in the
  /// order of the file.
  ///
  /// Collective over the group: every rank passes the same array and its own box, which may be
  /// empty. A rank that fails takes part to the end, then throws. Emits one event of kind io.
  /// Errors: IoError, also where the file is too short for the box.
  void read_box(const FileArray& array, const Box& box, std::byte* data) const;

  /// Writes them; boxes of different ranks must not overlap. As read_box otherwise.
  void write_box(const FileArray& array, const Box& box, const std::byte* data);

  /// Collective over the group. Errors: IoError.
  void close();

 private:
  File(const Group& group, const std::filesystem::path& path);
  Group group() const { return {communicator_, ranks_, position_}; }

  Communicator communicator_;
  std::vector<int> ranks_;
  int position_;
  std::filesystem::path path_;
  MPI_File handle_ = MPI_FILE_NULL;
};

/// Gives a file another name, in the place of what has it now. Local. Errors: IoError.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Removes a file if it is there. Local. Errors: IoError.
void remove_file(const std::filesystem::path& path);

}  // namespace tessera
