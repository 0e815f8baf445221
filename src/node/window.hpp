// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: the protocol of chunks in memory that the ranks of a node share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "node/store_choice.hpp"

namespace tessera::detail {

/// How the memory that the ranks of a node share is laid out: one section per rank, in which it
/// writes and the others read.
///
/// A section begins with a cell for every reader and slot, then come the slots: two for each other
/// rank.
struct WindowShape {
  static constexpr int slots = 2;
  static constexpr std::int64_t cell_bytes = 128;  ///< two cache lines: they are fetched in pairs

  int ranks = 1;
  std::int64_t slot_bytes = 0;

  /// Slots as large as `section_bytes` allows, up to `largest_slot`; 0 if there is no room for any.
  static WindowShape fitting(int ranks, std::int64_t section_bytes, std::int64_t largest_slot);

  std::int64_t cells_bytes() const { return std::int64_t{ranks} * slots * cell_bytes; }
  std::int64_t section_bytes() const {
    return cells_bytes() + std::int64_t{ranks - 1} * slots * slot_bytes;
  }
  std::int64_t bytes() const { return ranks * section_bytes(); }
};

/// Where slots lie: two for each other rank, in the section of their writer.
struct SlotMemory {
  std::vector<std::byte*> sections;  ///< by writer
  std::int64_t slot_bytes = 0;
  bool is_on_device = false;

  std::byte* at(int writer, int reader, int slot) const {
    const int place = reader < writer ? reader : reader - 1;
    return sections[static_cast<std::size_t>(writer)] +
           (std::int64_t{place} * WindowShape::slots + slot) * slot_bytes;
  }
};

/// The protocol by which ranks of a node pass chunks of bytes to one another through memory that
/// they share. No MPI, no system call, never waits: threads can play ranks.
///
/// A chunk carries a stamp, a number unlike 0 that names the execution it belongs to. Of a slot,
/// the writer and its reader hold one word: 0 (free), the stamp (full), or the stamp + 1 (being
/// read). The writer fills free slots only, the reader takes those with the stamp that it expects.
/// A writer that gives up takes back what was not taken, so nothing of an execution that failed
/// stays behind. A second word asks the reader how long it takes, and tells the writer.
class Window {
 public:
  /// `memory`: shape.bytes(), all 0 at first, aligned to 128 bytes.
  Window(std::byte* memory, const WindowShape& shape, int position)
      : memory_(memory), shape_(shape), position_(position) {}

  const WindowShape& shape() const { return shape_; }
  int position() const { return position_; }
  SlotMemory slots() const;

  /// As the writer: whether `reader` has done with the slot.
  bool is_free(int reader, int slot) const {
    return word(position_, reader, slot).load(std::memory_order_acquire) == 0;
  }
  /// `is_timed`: the reader shall say how long it took.
  void publish(int reader, int slot, std::uint64_t stamp, bool is_timed) const {
    word(position_, reader, slot, 1).store(is_timed ? 1 : 0, std::memory_order_relaxed);
    word(position_, reader, slot).store(stamp, std::memory_order_release);
  }
  /// Whether the slot holds a chunk with this stamp, be it read just now or not.
  bool holds(int reader, int slot, std::uint64_t stamp) const {
    const auto state = word(position_, reader, slot).load(std::memory_order_acquire);
    return state == stamp || state == stamp + 1;
  }
  /// Whether the slot holds nothing of this execution any more, taken back or never there; not so
  /// while it is being read.
  bool take_back(int reader, int slot, std::uint64_t stamp) const {
    auto expected = stamp;
    if (!word(position_, reader, slot).compare_exchange_strong(expected, 0))
      return expected != stamp + 1;
    word(position_, reader, slot, 1).store(0, std::memory_order_relaxed);
    return true;
  }

  /// As a reader: whether the chunk with this stamp is there. It stays until release().
  bool take(int writer, int slot, std::uint64_t stamp) const {
    auto state = word(writer, position_, slot);
    if (state.load(std::memory_order_relaxed) != stamp) return false;
    auto expected = stamp;
    return state.compare_exchange_strong(expected, stamp + 1, std::memory_order_acquire);
  }
  /// Of a chunk that was taken.
  bool is_timed(int writer, int slot) const {
    return word(writer, position_, slot, 1).load(std::memory_order_relaxed) != 0;
  }
  /// `nanoseconds`: that reading took, 0 if it was not measured.
  void release(int writer, int slot, std::uint64_t nanoseconds) const {
    word(writer, position_, slot, 1).store(nanoseconds, std::memory_order_relaxed);
    word(writer, position_, slot).store(0, std::memory_order_release);
  }
  /// As the writer, of a free slot: what the last reader told.
  std::uint64_t reading_time(int reader, int slot) const {
    return word(position_, reader, slot, 1).load(std::memory_order_relaxed);
  }

 private:
  std::byte* section(int writer) const { return memory_ + writer * shape_.section_bytes(); }
  std::atomic_ref<std::uint64_t> word(int writer, int reader, int slot, int index = 0) const {
    auto* cell = section(writer) +
                 (std::int64_t{reader} * WindowShape::slots + slot) * WindowShape::cell_bytes;
    return std::atomic_ref(reinterpret_cast<std::uint64_t*>(cell)[index]);
  }

  std::byte* memory_;
  WindowShape shape_;
  int position_;
};

class Lanes;

/// Chunks from and to one other rank, of one execution.
struct Lane {
  std::uint32_t written = 0;
  std::uint32_t read = 0;
  int open_streams = 0;  ///< that will still publish
  const std::byte* held = nullptr;
  double writing_since = 0;  ///< 0: not measured
  double reading_since = 0;
};

/// A chunk whose reader has not yet told how long it took.
struct TimedChunk {
  std::int64_t bytes = 0;  ///< 0: there is none
  bool streams = false;
  double seconds_of_writer = 0;
};

/// How chunks are written to one reader.
struct Writing {
  StoreChoice small;
  StoreChoice large;
  std::array<TimedChunk, WindowShape::slots> timed;  ///< by slot
};

/// A window as one process uses it: which of its executions may write to which reader.
///
/// Executions under way at once write to a reader one after another, in the order in which they
/// began, which is the order in which the reader expects them.
struct SharedWindow {
  explicit SharedWindow(const Window& shared)
      : window(shared),
        slots(shared.slots()),
        queues(static_cast<std::size_t>(shared.shape().ranks)),
        writings(queues.size()) {}

  Window window;
  SlotMemory slots;                               ///< those of the window itself
  std::vector<std::vector<const Lanes*>> queues;  ///< by reader
  std::vector<Writing> writings;                  ///< by reader
  std::vector<std::vector<Lane>> spare_lanes;     ///< for executions to come
};

/// The chunks of one execution of a plan: one lane to and one from every other rank of the node.
/// Chunks of a lane arrive in the order in which they are published.
class Lanes {
 public:
  /// `stamp`: even, unlike 0; every rank that takes part gives the same, and no other execution has
  /// it while chunks of this one may be unread. `slots`: where chunks lie if not in the window
  /// itself; on all ranks or none.
  Lanes(SharedWindow& shared, std::uint64_t stamp, const SlotMemory* slots = nullptr);
  /// Takes back what was published and gives back what was taken; waits for a reader that is just
  /// reading, for at most half a second.
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  std::int64_t slot_bytes() const { return slots_.slot_bytes; }

  /// Announces a stream of chunks to `reader`; before the first one to anybody.
  void open(int reader);
  /// One of the streams has been published as a whole. After the last one, others may write there.
  void close(int reader) noexcept;
  /// Memory for the next chunk; null while the reader has not done with what was in it.
  std::byte* next(int reader);
  /// Whether the chunk about to be written there had better go past the caches. Asked at most once,
  /// right before.
  bool streams(int reader, std::int64_t bytes);
  void publish(int reader);

  /// The next chunk of `writer`; null if it is not there. It stays until release(). Asked again
  /// before that, it gives the same.
  const std::byte* take(int writer);
  /// Reading begins, until release().
  void begin_reading(int writer);
  void release(int writer);

  /// Whether the reader has done with all that was published to it.
  bool is_read(int reader) const;
  /// The same for all readers.
  bool is_read() const;
  /// Ends it early, see the destructor.
  void abandon() noexcept;

 private:
  Lane& lane(int rank) { return lanes_[static_cast<std::size_t>(rank)]; }
  const Lane& lane(int rank) const { return lanes_[static_cast<std::size_t>(rank)]; }
  Writing& writing(int reader) { return shared_.writings[static_cast<std::size_t>(reader)]; }
  int ranks() const { return shared_.window.shape().ranks; }
  bool take_back() noexcept;

  SharedWindow& shared_;
  std::uint64_t stamp_;
  const SlotMemory& slots_;
  std::vector<Lane> lanes_;
};

}  // namespace tessera::detail
