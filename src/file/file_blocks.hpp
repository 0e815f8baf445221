// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
