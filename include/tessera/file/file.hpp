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

namespace detail {
struct BlockFile;
}

/// FileAccess says how File::open opens a file. For `read` and `write` the file must exist.
enum class FileAccess : std::uint8_t {
  read,
  write,   ///< reading and writing
  create,  ///< reading and writing; the previous content is lost
};

/// StorageOrder says in which order the elements of an array follow one another.
enum class StorageOrder : std::uint8_t {
  row_major,     ///< last dim fastest
  column_major,  ///< first dim fastest
};

/// A FileArray describes a dense array in a file.
struct FileArray {
  std::int64_t offset = 0;        ///< position of the first byte in the file, bytes
  std::int64_t element_size = 1;  ///< bytes
  Extents shape;
  StorageOrder order = StorageOrder::row_major;
};

/// A File is a file of bytes that the ranks of a group have opened together, by MPI-IO.
///
/// Every failure is an IoError that names the path, but for open() where MPI has no communicator
/// left, which is an MpiError. It is thrown on the rank that met it, by open() on all ranks. Other
/// ranks may not know of it: throw_together tells them. Sizes are 64-bit.
class File {
 public:
  /// Opens the file at `path` on all ranks. Collective over the group. Errors: IoError, MpiError.
  static File open(const Group& group, const std::filesystem::path& path, FileAccess access);

  File(File&& other) noexcept;
  /// Swaps the two files.
  File& operator=(File&& other) noexcept;
  /// Closes the file, collectively, if close() was not called and MPI still works.
  ~File();

  /// Returns the size of the file, bytes.
  std::int64_t size() const;

  /// Reads `data` at a byte offset. Local.
  ///
  /// Errors: IoError, also if the file ends before `data` is full.
  void read_at(std::int64_t offset, std::span<std::byte> data) const;
  /// Writes `data` at a byte offset; a file that is too short grows. Local. Errors: IoError.
  void write_at(std::int64_t offset, std::span<const std::byte> data);

  /// Reads the elements of `box`, a part of the array's index space, into `data`, which is dense
  /// and in the order of the file.
  ///
  /// Collective over the group: every rank passes the same array and its own box, which may be
  /// empty. A rank that fails takes part to the end, then throws. Emits one event of kind io.
  /// Errors: IoError, also if the file is too short for the box.
  void read_box(const FileArray& array, const Box& box, std::byte* data) const;

  /// Writes the elements of `box` from `data`. Boxes of different ranks must not overlap. In all
  /// else it works like read_box.
  void write_box(const FileArray& array, const Box& box, const std::byte* data);

  /// Closes the file. Collective over the group. Errors: IoError.
  void close();

 private:
  friend detail::BlockFile;

  File(const Group& group, const std::filesystem::path& path);
  Group group() const { return {communicator_, ranks_, position_}; }

  Communicator communicator_;
  std::vector<int> ranks_;
  int position_;
  std::filesystem::path path_;
  MPI_File handle_ = MPI_FILE_NULL;
};

}  // namespace tessera
