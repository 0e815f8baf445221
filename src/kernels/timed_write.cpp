// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/timed_write.hpp"
#include "mpi/clock.hpp"

namespace tessera::detail {
namespace {

/// Less is copied in no time.
constexpr std::int64_t least_bytes = 128 << 10;

/// Less packed stays in the caches.
constexpr std::int64_t least_packed_bytes = 256 << 10;

}  // namespace

void TimedPacking::begin(std::int64_t bytes, StoreChoice& choice) {
  *this = {};
  if (bytes < least_packed_bytes) return;
  const auto [streams, is_timed] = choice.next();
  if (streams) stores_ = Stores::non_temporal;
  if (is_timed) since_ = seconds();
}

void TimedPacking::end(StoreChoice& choice) {
  if (since_ > 0) choice.add(stores_ == Stores::non_temporal, seconds() - since_);
}

TimedWrite::TimedWrite(MemorySpace space, std::int64_t bytes, Stores usual, StoreChoice& choice)
    : choice_(choice), bytes_(bytes), stores_(usual) {
  if (usual == Stores::cached && space == MemorySpace::host) choose();
}

TimedWrite::TimedWrite(std::int64_t bytes, StoreChoice& choice, Stores if_few)
    : choice_(choice), bytes_(bytes), stores_(if_few) {
  choose();
}

void TimedWrite::choose() {
  if (bytes_ < least_bytes) return;
  stores_ = choice_.next().streams ? Stores::non_temporal : Stores::cached;
  since_ = seconds();
}

TimedWrite::~TimedWrite() {
  if (since_ > 0)
    choice_.add(stores_ == Stores::non_temporal,
                (seconds() - since_) / static_cast<double>(bytes_));
}

}  // namespace tessera::detail
