// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/comm/detail/clock.hpp>
#include <tessera/redistribute/detail/timed_write.hpp>

namespace tessera::detail {
namespace {

/// Less is copied in no time.
constexpr std::int64_t least_bytes = 128 << 10;

}  // namespace

TimedWrite::TimedWrite(const ArrayRef& part, Stores usual, StoreChoice& choice)
    : choice_(choice), bytes_(static_cast<double>(part.bytes())), stores_(usual) {
  if (usual == Stores::streaming || part.space != MemorySpace::host || part.bytes() < least_bytes)
    return;
  if (choice.next().streams) stores_ = Stores::streaming;
  since_ = seconds();
}

TimedWrite::~TimedWrite() {
  if (since_ > 0) choice_.add(stores_ == Stores::streaming, (seconds() - since_) / bytes_);
}

}  // namespace tessera::detail
