// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For redistribute: blocks of a plan in local arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <tessera/plan/plan.hpp>
#include <tessera/tensor/array_ref.hpp>

#include "plan/chunking.hpp"

namespace tessera::detail {

/// Says how elements travel.
struct OnWire {
  ElementType type = {};
  bool is_scaled = false;  ///< when they arrive
};

/// Says where the elements of a message lie in local memory: in one strided array or, where the
/// runs of a block are not regular, in several. On the wire the arrays follow one another, each
/// row-major. Their number and their extents follow from the blocks, so that they are the same for
/// sender and receiver.
///
/// Elements may have another type on the wire than in memory, and may be scaled when they arrive.
class BlockArray {
 public:
  BlockArray() = default;
  BlockArray(const ArrayRef& only) : BlockArray(only, {only.type}) {}
  BlockArray(const ArrayRef& only, const OnWire& wire)
      : first_(only), is_empty_(false), wire_(wire) {}

  std::size_t size() const { return is_empty_ ? 0 : 1 + others_.size(); }
  bool is_one() const { return others_.empty(); }
  const ArrayRef& operator[](std::size_t i) const { return i == 0 ? first_ : others_[i - 1]; }
  const ArrayRef& first() const { return first_; }
  ElementType type() const { return first_.type; }
  MemorySpace space() const { return first_.space; }
  const OnWire& wire() const { return wire_; }
  void travel_as(const OnWire& wire) { wire_ = wire; }

  void push_back(const ArrayRef& array) {
    if (std::exchange(is_empty_, false)) {
      first_ = array;
      wire_ = {array.type};
    } else {
      others_.push_back(array);
    }
  }
  /// Moves all arrays by `bytes`.
  void move_by(std::ptrdiff_t bytes) {
    first_.data += bytes;
    for (auto& array : others_) array.data += bytes;
  }
  /// Returns the number of elements.
  std::int64_t elements() const {
    std::int64_t result = is_empty_ ? 0 : first_.size();
    for (const auto& array : others_) result += array.size();
    return result;
  }
  /// Returns the number of bytes on the wire.
  std::int64_t bytes() const { return elements() * wire_.type.size; }
  /// Returns whether the elements lie in memory as they travel.
  bool is_row_major() const {
    return is_one() && first_.type == wire_.type && !wire_.is_scaled && first_.is_row_major();
  }

 private:
  ArrayRef first_;
  std::vector<ArrayRef> others_;
  bool is_empty_ = true;
  OnWire wire_ = {};
};

/// Selects the local piece of the sender or that of the receiver.
enum class BlockSide { from, to };

/// Returns where a block lies in `array`, the local piece of one side. On the wire the last dim is
/// the fastest, or the first one, as `order` says.
BlockArray block_in(const ArrayRef& array, const Blocks& blocks, const Block& block, BlockSide side,
                    WireOrder order);

/// Returns where the blocks of a message lie, one after another.
BlockArray message_in(const ArrayRef& array, const Blocks& blocks, std::span<const Block> message,
                      BlockSide side, WireOrder order);

/// Finds where the messages of other ranks go in the destination of a phase. It is asked for them in
/// the order of Phase::receive.
class Arrivals {
 public:
  Arrivals(const Phase& phase, const ArrayRef& destination, WireOrder order)
      : phase_(phase), destination_(destination), order_(order) {}

  BlockArray next(std::span<const Block> message);

 private:
  const Phase& phase_;
  const ArrayRef& destination_;
  WireOrder order_;
  std::int64_t bytes_ = 0;  ///< of the messages before, where they arrive packed
};

/// Calls visit(blocks) for what travels in one message, blocks of one other rank that follow one
/// another, and for each block of the rank itself.
template <class Visit>
void for_each_message(const Blocks& blocks, int mesh_rank, const Visit& visit) {
  const std::span all(blocks.begin(), blocks.end());
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    const int peer = all[first].peer;
    last = first + 1;
    while (peer != mesh_rank && last < all.size() && all[last].peer == peer) ++last;
    visit(all.subspan(first, last - first));
  }
}

/// Returns whether a block is one box on both sides.
bool is_one_box(const Blocks& blocks, const Block& block);

/// Divides what lies in a BlockArray into the chunks in which it travels. A chunk is a part of one
/// array, or several arrays that follow one another. Chunks depend on extents and sizes alone, so
/// that sender and receiver make the same ones.
class BlockChunks {
 public:
  BlockChunks() = default;
  /// Makes chunks of at most `most_bytes` bytes, but at least one element. Expects no extent 0.
  BlockChunks(const BlockArray& array, std::int64_t most_bytes);

  std::int64_t chunks() const { return several_.empty() ? only_.chunks() : std::ssize(several_); }
  /// Returns the number of elements of the largest chunk.
  std::int64_t largest_chunk() const;
  /// Returns a chunk of an array of which this was made, or of one with the same extents.
  BlockArray chunk(const BlockArray& array, std::int64_t index) const;

 private:
  /// Holds whole arrays first … last - 1, or `box`, a part of array `first`.
  struct Chunk {
    std::size_t first;
    std::size_t last;
    std::int64_t size;  ///< elements
    bool is_part = false;
    Box box = {};
  };

  Chunking only_;               ///< of the one array
  std::vector<Chunk> several_;  ///< all chunks, if there are several arrays
};

/// Returns the arrays of a chunk as they lie in a slot of the window, or in a message.
BlockArray in_slot(const std::byte* slot, const BlockArray& chunk,
                   MemorySpace space = MemorySpace::host);
/// Returns the arrays of a chunk one after another at `data`, with elements of another type.
BlockArray dense_like(const BlockArray& chunk, std::byte* data, ElementType type,
                      MemorySpace space);

}  // namespace tessera::detail
