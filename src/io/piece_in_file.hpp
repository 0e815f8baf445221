// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tessera/file/file.hpp>
#include <tessera/sharding/sections.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "file/file_blocks.hpp"

namespace tessera::detail {

/// Describes elements of a local piece that lie regularly in a file.
struct PartInFile {
  FileBlock block;
  ArrayRef local;  ///< its dims follow one another as in the file, the slowest first
};

/// Returns where the elements of `piece`, which `local` holds, lie in the file. There are several
/// parts if the piece is no box.
std::vector<PartInFile> parts_in_file(const FileArray& array, const Piece& piece,
                                      const ArrayRef& local);

/// Returns the blocks of all parts.
std::vector<FileBlock> blocks_of(const std::vector<PartInFile>& parts);

/// Returns whether the elements lie in `local` as they follow one another in the file, on the host.
bool is_as_in_file(const std::vector<PartInFile>& parts);

/// Copies between the local piece and a buffer on the host in which the elements of the parts, as
/// in the file, follow one another.
void pack(const Execution& execution, const std::vector<PartInFile>& parts, std::byte* buffer);
void unpack(const Execution& execution, const std::vector<PartInFile>& parts, std::byte* buffer);

}  // namespace tessera::detail
