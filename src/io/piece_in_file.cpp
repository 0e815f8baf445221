// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "io/piece_in_file.hpp"
#include "kernels/pack.hpp"
#include "sharding/strided_parts.hpp"

namespace tessera::detail {
namespace {

/// Returns the strides of the array in the file, bytes.
Extents file_strides(const FileArray& array) {
  auto strides = array.order == StorageOrder::row_major ? row_major_strides(array.shape)
                                                        : column_major_strides(array.shape);
  for (auto& stride : strides) stride *= array.element_size;
  return strides;
}

/// Returns the dims of a part, the one with the smallest stride in the file first. Dims of extent 1
/// are left out.
std::vector<std::size_t> fastest_first(const StridedPart& part) {
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < part.extents.size(); ++d)
    if (part.extents[d] != 1) dims.push_back(d);
  std::ranges::stable_sort(dims, {}, [&](std::size_t d) { return part.to.strides[d]; });
  return dims;
}

/// Calls visit(local array, its elements in the buffer) for each part.
template <class Visit>
void for_each_part(const std::vector<PartInFile>& parts, std::byte* buffer, const Visit& visit) {
  for (const auto& part : parts) {
    visit(part.local, row_major(buffer, part.local.type, part.local.extents, MemorySpace::host));
    buffer += part.local.bytes();
  }
}

}  // namespace

std::vector<PartInFile> parts_in_file(const FileArray& array, const Piece& piece,
                                      const ArrayRef& local) {
  std::vector<PartInFile> result;
  if (piece.is_empty() || array.element_size == 0) return result;
  for (const auto& part : strided_parts(piece, local.strides, file_strides(array))) {
    FileBlock block{array.offset + part.to.offset, {{array.element_size, 1}}};
    ArrayRef here{local.data + part.from.offset * local.type.size, local.type, {}, {}, local.space};
    for (const auto d : fastest_first(part)) {
      block.repeat(part.extents[d], part.to.strides[d]);
      here.extents.push_back(part.extents[d]);
      here.strides.push_back(part.from.strides[d]);
    }
    std::ranges::reverse(here.extents);
    std::ranges::reverse(here.strides);
    result.push_back({std::move(block), here});
  }
  return result;
}

std::vector<FileBlock> blocks_of(const std::vector<PartInFile>& parts) {
  std::vector<FileBlock> result;
  for (const auto& part : parts) result.push_back(part.block);
  return result;
}

bool is_as_in_file(const std::vector<PartInFile>& parts) {
  if (parts.empty()) return true;
  return parts.size() == 1 && parts.front().local.is_row_major() &&
         parts.front().local.space == MemorySpace::host;
}

void pack(const Execution& execution, const std::vector<PartInFile>& parts, std::byte* buffer) {
  for_each_part(parts, buffer, [&](const ArrayRef& local, const ArrayRef& packed) {
    copy(execution, local, packed);
  });
}

void unpack(const Execution& execution, const std::vector<PartInFile>& parts, std::byte* buffer) {
  for_each_part(parts, buffer, [&](const ArrayRef& local, const ArrayRef& packed) {
    copy(execution, packed, local);
  });
}

}  // namespace tessera::detail
