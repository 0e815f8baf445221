// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "file/file_blocks.hpp"
#include "file/tuning.hpp"
#include "mpi/check.hpp"

namespace tessera::detail {
namespace {

std::int64_t weight(const FileBlock& block) {
  if (block.repeats.size() == 1) return block.repeats[0].count;
  std::int64_t result = std::max(block.repeats[0].count, run_weight);
  for (std::size_t i = 1; i < block.repeats.size(); ++i) result *= block.repeats[i].count;
  return result;
}

void append_segments(const FileBlock& block, std::int64_t limit, std::vector<FileBlock>& result) {
  if (weight(block) <= limit) {
    result.push_back(block);
    return;
  }
  const auto [count, stride] = block.repeats.back();
  const auto step = std::max<std::int64_t>(1, limit / (weight(block) / count));
  for (std::int64_t begin = 0; begin < count; begin += step) {
    auto part = block;
    part.first_byte += begin * stride;
    part.repeats.back().count = std::min(step, count - begin);
    if (step > 1 || part.repeats.size() == 1) {
      result.push_back(part);
      continue;
    }
    part.repeats.pop_back();
    append_segments(part, limit, result);
  }
}

}  // namespace

void FileBlock::repeat(std::int64_t count, std::int64_t stride) {
  if (count == 1) return;
  auto& last = repeats.back();
  if (stride == last.count * last.stride)
    last.count *= count;
  else
    repeats.push_back({count, stride});
}

std::int64_t FileBlock::bytes() const {
  std::int64_t result = 1;
  for (const auto& repeat : repeats) result *= repeat.count;
  return result;
}

std::int64_t FileBlock::end_byte() const {
  std::int64_t result = first_byte + 1;
  for (const auto& repeat : repeats) result += (repeat.count - 1) * repeat.stride;
  return result;
}

FileBlock block_of(const FileArray& array, const Box& box) {
  const bool row_major = array.order == StorageOrder::row_major;
  const auto strides =
      row_major ? row_major_strides(array.shape) : column_major_strides(array.shape);
  const auto dims = array.shape.size();
  FileBlock result{array.offset, {{array.element_size, 1}}};
  for (std::size_t i = 0; i < dims; ++i) {
    const auto d = row_major ? dims - 1 - i : i;
    const auto stride = strides[d] * array.element_size;
    result.first_byte += box.offset[d] * stride;
    result.repeat(box.shape[d], stride);
  }
  return result;
}

std::vector<FileBlock> segments_of(const FileBlock& block, std::int64_t limit) {
  std::vector<FileBlock> result;
  append_segments(block, limit, result);
  return result;
}

FileType::FileType(const FileBlock& block) {
  if (block.repeats.size() <= 1) return;
  MPI_Datatype next = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(block.repeats[0].count), MPI_BYTE, &next),
            "MPI_Type_contiguous");
  replace(next);
  for (std::size_t i = 1; i < block.repeats.size(); ++i) {
    const auto [count, stride] = block.repeats[i];
    check_mpi(MPI_Type_create_hvector(static_cast<int>(count), 1, stride, handle_, &next),
              "MPI_Type_create_hvector");
    replace(next);
  }
  check_mpi(MPI_Type_commit(&handle_), "MPI_Type_commit");
}

FileType::~FileType() {
  replace(MPI_BYTE);
}

void FileType::replace(MPI_Datatype type) {
  if (handle_ != MPI_BYTE) MPI_Type_free(&handle_);
  handle_ = type;
}

}  // namespace tessera::detail
