// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/block_array.hpp"
#include "sharding/strided_parts.hpp"

namespace tessera::detail {
namespace {

IndexRun::Side side_of(const IndexRun& run, BlockSide side) {
  return side == BlockSide::from ? run.from : run.to;
}

/// Returns `values` in the order in which dims follow one another on the wire.
Extents on_wire(Extents values, WireOrder order) {
  if (order == WireOrder::first_dim_fastest) std::reverse(values.begin(), values.end());
  return values;
}

/// Returns where a block that is one box on both sides lies.
ArrayRef box_in(const ArrayRef& array, const Blocks& blocks, const Block& block, BlockSide side,
                WireOrder order) {
  ArrayRef result = array;
  result.extents = block.shape;
  for (std::size_t d = 0; d < block.shape.size(); ++d)
    result.data +=
        side_of(blocks.runs(block, d).front(), side).offset * array.strides[d] * array.type.size;
  result.extents = on_wire(result.extents, order);
  result.strides = on_wire(result.strides, order);
  return result;
}

}  // namespace

bool is_one_box(const Blocks& blocks, const Block& block) {
  for (std::size_t d = 0; d < block.shape.size(); ++d) {
    const auto& runs = blocks.runs(block, d);
    if (runs.size() != 1 || !runs.front().is_interval()) return false;
  }
  return true;
}

BlockArray block_in(const ArrayRef& array, const Blocks& blocks, const Block& block, BlockSide side,
                    WireOrder order) {
  if (is_one_box(blocks, block)) return box_in(array, blocks, block, side, order);
  std::vector<const std::vector<IndexRun>*> runs;
  for (std::size_t d = 0; d < block.shape.size(); ++d) runs.push_back(&blocks.runs(block, d));
  if (order == WireOrder::first_dim_fastest) std::ranges::reverse(runs);
  const auto strides = on_wire(array.strides, order);
  BlockArray result;
  for (const auto& part : strided_parts(runs, strides, strides)) {
    const auto& here = side == BlockSide::from ? part.from : part.to;
    result.push_back({array.data + here.offset * array.type.size, array.type, part.extents,
                      here.strides, array.space});
  }
  return result;
}

BlockArray message_in(const ArrayRef& array, const Blocks& blocks, std::span<const Block> message,
                      BlockSide side, WireOrder order) {
  auto result = block_in(array, blocks, message.front(), side, order);
  for (const auto& block : message.subspan(1)) {
    const auto next = block_in(array, blocks, block, side, order);
    for (std::size_t i = 0; i < next.size(); ++i) result.push_back(next[i]);
  }
  return result;
}

BlockArray Arrivals::next(std::span<const Block> message) {
  if (!phase_.arrives_packed)
    return message_in(destination_, phase_.receive, message, BlockSide::to, order_);
  // The extents alone are of interest, which do not depend on strides.
  const auto none = Extents::filled(message.front().shape.size(), 0);
  const ArrayRef like{nullptr, destination_.type, none, none, destination_.space};
  const auto arrays = message_in(like, phase_.receive, message, BlockSide::to, order_);
  const auto at = bytes_;
  bytes_ += arrays.bytes();
  return dense_like(arrays, destination_.data + at, destination_.type, destination_.space);
}

BlockChunks::BlockChunks(const BlockArray& array, std::int64_t most_bytes) {
  if (array.is_one()) {
    only_ = Chunking(array.first().extents, array.wire().type.size, most_bytes);
    return;
  }
  const auto element = array.wire().type.size;
  std::int64_t bytes = 0;  // of the arrays since the last chunk
  std::size_t first = 0;
  const auto close = [&](std::size_t last) {
    if (last > first) several_.push_back({first, last, bytes / element});
    first = last;
    bytes = 0;
  };
  for (std::size_t i = 0; i < array.size(); ++i) {
    const auto size = array[i].size() * element;
    if (bytes + size > most_bytes) close(i);
    bytes += size;
    if (bytes <= most_bytes) continue;
    const Chunking parts(array[i].extents, element, most_bytes);
    for (std::int64_t k = 0; k < parts.chunks(); ++k)
      several_.push_back({i, i + 1, parts.chunk(k).size(), true, parts.chunk(k)});
    first = i + 1;
    bytes = 0;
  }
  close(array.size());
}

std::int64_t BlockChunks::largest_chunk() const {
  if (several_.empty()) return only_.chunk(0).size();
  return std::ranges::max_element(several_, {}, &Chunk::size)->size;
}

BlockArray BlockChunks::chunk(const BlockArray& array, std::int64_t index) const {
  if (several_.empty()) {
    if (only_.chunks() == 1) return array;
    const auto box = only_.chunk(index);
    return {array.first().part(box.offset, box.shape), array.wire()};
  }
  const auto& chunk = several_[static_cast<std::size_t>(index)];
  if (chunk.is_part)
    return {array[chunk.first].part(chunk.box.offset, chunk.box.shape), array.wire()};
  BlockArray result(array[chunk.first], array.wire());
  for (auto i = chunk.first + 1; i < chunk.last; ++i) result.push_back(array[i]);
  return result;
}

BlockArray in_slot(const std::byte* slot, const BlockArray& chunk, MemorySpace space) {
  return dense_like(chunk, const_cast<std::byte*>(slot), chunk.wire().type, space);
}

BlockArray dense_like(const BlockArray& chunk, std::byte* data, ElementType type,
                      MemorySpace space) {
  BlockArray result(row_major(data, type, chunk.first().extents, space));
  for (std::size_t i = 1; i < chunk.size(); ++i) {
    data += result[i - 1].bytes();
    result.push_back(row_major(data, type, chunk[i].extents, space));
  }
  return result;
}

}  // namespace tessera::detail
