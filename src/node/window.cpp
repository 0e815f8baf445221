// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <tessera/agreement/detail/backoff.hpp>

#include "mpi/clock.hpp"
#include "node/window.hpp"

namespace tessera::detail {
namespace {

constexpr std::int64_t slot_alignment = 4096;
constexpr double seconds_for_readers = 0.5;
/// Smaller chunks stay in the cache.
constexpr std::int64_t least_streamed_bytes = 4 << 10;
constexpr std::int64_t least_large_bytes = 64 << 10;

int slot_of(std::uint32_t chunk) {
  return static_cast<int>(chunk % WindowShape::slots);
}

}  // namespace

WindowShape WindowShape::fitting(int ranks, std::int64_t section_bytes, std::int64_t largest_slot) {
  WindowShape shape{ranks, 0};
  if (ranks < 2) return shape;
  const auto room = section_bytes - shape.cells_bytes();
  const auto most = std::min(largest_slot, room / (std::int64_t{ranks - 1} * slots));
  shape.slot_bytes = std::max<std::int64_t>(0, most / slot_alignment * slot_alignment);
  return shape;
}

SlotMemory Window::slots() const {
  SlotMemory result{{}, shape_.slot_bytes};
  for (int writer = 0; writer < shape_.ranks; ++writer)
    result.sections.push_back(section(writer) + shape_.cells_bytes());
  return result;
}

Lanes::Lanes(SharedWindow& shared, std::uint64_t stamp, const SlotMemory* slots)
    : shared_(shared), stamp_(stamp), slots_(slots != nullptr ? *slots : shared.slots) {
  if (!shared_.spare_lanes.empty()) {
    lanes_ = std::move(shared_.spare_lanes.back());
    shared_.spare_lanes.pop_back();
  }
  lanes_.assign(static_cast<std::size_t>(ranks()), Lane{});
}

Lanes::~Lanes() {
  abandon();
  const double start = seconds();
  Backoff backoff(true);
  while (!is_read() && !take_back() && seconds() - start < seconds_for_readers) backoff.pause();
  shared_.spare_lanes.push_back(std::move(lanes_));
}

void Lanes::open(int reader) {
  if (lane(reader).open_streams++ > 0) return;
  shared_.queues[static_cast<std::size_t>(reader)].push_back(this);
}

void Lanes::close(int reader) noexcept {
  if (--lane(reader).open_streams > 0) return;
  std::erase(shared_.queues[static_cast<std::size_t>(reader)], this);
}

std::byte* Lanes::next(int reader) {
  const int slot = slot_of(lane(reader).written);
  if (shared_.queues[static_cast<std::size_t>(reader)].front() != this) return nullptr;
  const auto& window = shared_.window;
  return window.is_free(reader, slot) ? slots_.at(window.position(), reader, slot) : nullptr;
}

bool Lanes::streams(int reader, std::int64_t bytes) {
  if (bytes < least_streamed_bytes) return false;
  auto& to = lane(reader);
  auto& own = writing(reader);
  const auto choice_for = [&](std::int64_t size) -> StoreChoice& {
    return size < least_large_bytes ? own.small : own.large;
  };
  const int slot = slot_of(to.written);
  auto& chunk = own.timed[static_cast<std::size_t>(slot)];
  const auto nanoseconds = shared_.window.reading_time(reader, slot);
  if (chunk.bytes > 0 && nanoseconds > 0)
    choice_for(chunk.bytes)
        .add(chunk.streams, (chunk.seconds_of_writer + 1e-9 * static_cast<double>(nanoseconds)) /
                                static_cast<double>(chunk.bytes));
  chunk = {};
  const auto [streams, is_timed] = choice_for(bytes).next();
  if (!is_timed) return streams;
  chunk = {bytes, streams};
  to.writing_since = seconds();
  return streams;
}

void Lanes::publish(int reader) {
  auto& to = lane(reader);
  const int slot = slot_of(to.written++);
  const bool is_timed = to.writing_since > 0;
  if (is_timed)
    writing(reader).timed[static_cast<std::size_t>(slot)].seconds_of_writer =
        seconds() - std::exchange(to.writing_since, 0);
  shared_.window.publish(reader, slot, stamp_, is_timed);
}

const std::byte* Lanes::take(int writer) {
  auto& from = lane(writer);
  const auto& window = shared_.window;
  const int slot = slot_of(from.read);
  if (from.held == nullptr && window.take(writer, slot, stamp_))
    from.held = slots_.at(writer, window.position(), slot);
  return from.held;
}

void Lanes::begin_reading(int writer) {
  auto& from = lane(writer);
  if (shared_.window.is_timed(writer, slot_of(from.read))) from.reading_since = seconds();
}

void Lanes::release(int writer) {
  auto& from = lane(writer);
  std::uint64_t nanoseconds = 0;
  if (from.reading_since > 0)
    nanoseconds =
        static_cast<std::uint64_t>(1e9 * (seconds() - std::exchange(from.reading_since, 0)));
  shared_.window.release(writer, slot_of(from.read++), nanoseconds);
  from.held = nullptr;
}

bool Lanes::is_read(int reader) const {
  if (lane(reader).written == 0) return true;
  return !shared_.window.holds(reader, 0, stamp_) && !shared_.window.holds(reader, 1, stamp_);
}

bool Lanes::is_read() const {
  for (int rank = 0; rank < ranks(); ++rank)
    if (!is_read(rank)) return false;
  return true;
}

/// Whether no chunk of this execution is being read any more.
bool Lanes::take_back() noexcept {
  bool is_over = true;
  for (int rank = 0; rank < ranks(); ++rank)
    for (int slot = 0; slot < WindowShape::slots && lane(rank).written > 0; ++slot)
      if (!shared_.window.take_back(rank, slot, stamp_)) is_over = false;
  return is_over;
}

void Lanes::abandon() noexcept {
  for (int rank = 0; rank < ranks(); ++rank) {
    while (lane(rank).open_streams > 0) close(rank);
    if (lane(rank).held != nullptr) release(rank);
  }
  if (!is_read()) take_back();
}

}  // namespace tessera::detail
