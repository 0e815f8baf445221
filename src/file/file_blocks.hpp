// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For io: where elements lie in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include <tessera/file/file.hpp>

namespace tessera::detail {

struct Repeat {
  std::int64_t count;
  std::int64_t stride;  ///< bytes

  friend bool operator==(const Repeat&, const Repeat&) = default;
};

/// A FileBlock describes equal runs of bytes at regular places of a file. The first repeat, of
/// stride 1, is a run; each further one repeats all that is before it. Example: rows 2 and 3,
/// columns 1 to 4, of 10×10 doubles at byte 0: first_byte 168, repeats {32, 1}, {2, 80}.
struct FileBlock {
  std::int64_t first_byte = 0;
  std::vector<Repeat> repeats;

  /// Repeats all that is here `count` times, `stride` bytes apart. It joins runs that then follow
  /// each other.
  void repeat(std::int64_t count, std::int64_t stride);
  std::int64_t bytes() const;
  /// Returns the position one past the last byte.
  std::int64_t end_byte() const;
};

/// Returns where a box that is not empty lies in the file, with the longest runs possible.
FileBlock block_of(const FileArray& array, const Box& box);

/// Divides a block into segments of at most `limit` bytes each, in the order of the file, so that
/// counts fit an int. A run of less than 1 KiB counts as 1 KiB, because MPI-IO keeps a list of runs
/// in memory.
std::vector<FileBlock> segments_of(const FileBlock& block, std::int64_t limit);

/// Reads and writes blocks of a file that several ranks have opened.
struct BlockFile {
  /// Reads the blocks of this rank into `data`, one after another. File::read_box() says who calls
  /// it and what it throws. `function` is the name in errors.
  static void read(const File& file, std::span<const FileBlock> blocks, std::byte* data,
                   const char* function);
  /// Writes the blocks of this rank from `data`.
  static void write(File& file, std::span<const FileBlock> blocks, const std::byte* data,
                    const char* function);
};

/// A FileType owns the MPI datatype of a block: MPI_BYTE for a single run, else nested
/// MPI_Type_create_hvector, whose strides are 64-bit.
class FileType {
 public:
  explicit FileType(const FileBlock& block);
  ~FileType();
  FileType(const FileType&) = delete;
  FileType& operator=(const FileType&) = delete;

  MPI_Datatype handle() const { return handle_; }

 private:
  void replace(MPI_Datatype type);

  MPI_Datatype handle_ = MPI_BYTE;
};

}  // namespace tessera::detail
