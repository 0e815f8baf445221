// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <tessera/agreement/detail/wait.hpp>
#include <tessera/error/error.hpp>
#include <tessera/mpi/detail/runtime.hpp>
#include <tessera/mpi/detail/tags.hpp>

#include "agreement/control.hpp"
#include "agreement/live_controls.hpp"
#include "comm/communicator_state.hpp"
#include "comm/exchange.hpp"
#include "comm/tuning.hpp"
#include "mpi/check.hpp"
#include "mpi/clock.hpp"
#include "mpi/post.hpp"

namespace tessera {

Exchange::Exchange(const Communicator& communicator, TraceKind kind, const char* operation,
                   int group_size)
    : communicator_(communicator),
      owner_(communicator.state().control->innermost()),
      event_{kind, operation, group_size, 0, 0, 0, 0, 0.0} {
  auto& spare = communicator_.state().spare_segments;
  if (!spare.empty()) {
    segments_ = std::move(spare.back());
    spare.pop_back();
  }
  event_.start = detail::seconds();
  event_.call = owner_;
  // The other ranks may have given up this call: a late rank learns it before it sends or receives.
  communicator_.state().control->catch_up(event_.start);
  if (owner_ != nullptr && detail::Control::must_give_up()) detail::Control::give_up();
}

Exchange::~Exchange() {
  if (!comm::is_usable() || communicator_.is_freed()) return;
  try {
    if (owner_ != nullptr && !is_finished_)
      owner_->add_bytes(event_.bytes_sent, event_.bytes_received);
    if (open_ > 0) end_early();
    segments_.clear();
    communicator_.state().spare_segments.push_back(std::move(segments_));
  } catch (...) {
    // The exception that passes came first; what MPI reports now is dropped.
  }
}

/// Cancels receives, waits for sends, and leaves what is still under way to the control channel.
void Exchange::end_early() {
  try {
    abandon();
    drain();
  } catch (...) {
    // The exception that passes came first; what MPI reports now is dropped.
  }
  std::vector<MPI_Request> requests;
  for (const auto& segment : segments_)
    if (segment.is_open && segment.request != MPI_REQUEST_NULL) requests.push_back(segment.request);
  if (!requests.empty()) communicator_.state().control->leave_open(std::move(requests));
}

/// Waits until the peers have taken what was sent, or the limit in the docstring of Exchange is
/// over. The peers learn of the failure by this call's failure report, unless Agreement::none rules
/// out reports.
void Exchange::drain() {
  auto& control = *communicator_.state().control;
  if (owner_ != nullptr) owner_->announce_failure();
  const double start = detail::seconds();
  detail::Backoff backoff(true);
  for (const bool is_sent : {false, true})
    for (auto& segment : segments_) {
      if (!segment.is_open || segment.is_sent != is_sent) continue;
      while (!detail::drain({&segment.request, 1}, 0.0)) {
        const bool is_dead = has_failed_ || owner_ == nullptr || !control.is_listening() ||
                             owner_->may_have_lost_a_rank();
        const double limit = is_dead ? detail::drain_seconds_of_the_dead : control.options.timeout;
        if (detail::seconds() - start > limit) return;
        detail::advance_all();
        detail::Control::poll_all();
        control.poll();  // poll_all() skips a control that is about to be closed
        backoff.pause();
      }
    }
}

std::size_t Exchange::free_segment() {
  if (free_ != none) return std::exchange(free_, segments_[free_].next);
  segments_.emplace_back();
  return segments_.size() - 1;
}

template <class Byte>
Exchange::MessageId Exchange::post(Byte* data, std::int64_t bytes, int rank) {
  constexpr bool is_sent = std::is_const_v<Byte>;
  const auto& state = communicator_.state();
  const int tag = owner_ == nullptr ? detail::plain_tag : owner_->tag();
  event_.uses_messages = true;
  auto& messages = is_sent ? event_.messages_sent : event_.messages_received;
  std::size_t first = none;
  std::size_t last = none;
  while (bytes > 0) {
    const auto size = std::min(state.message_limit, bytes);
    const auto index = free_segment();
    auto& segment = segments_[index];
    segment = {MPI_REQUEST_NULL, rank, is_sent, false, none};
    check(detail::post(state.handle, data, size, rank, tag, segment.request), segment);
    segment.is_open = true;
    ++open_;
    ++messages;
    (last == none ? first : segments_[last].next) = index;
    last = index;
    data += size;
    bytes -= size;
  }
  return first;
}

Exchange::MessageId Exchange::receive(std::byte* data, std::int64_t bytes, int source) {
  event_.bytes_received += bytes;
  return post(data, bytes, source);
}

Exchange::MessageId Exchange::send(const std::byte* data, std::int64_t bytes, int destination) {
  event_.bytes_sent += bytes;
  return post(data, bytes, destination);
}

/// Throws MpiError unless `code` is success. MPI reports a dead rank by the messages with it.
void Exchange::check(int code, const Segment& segment) {
  has_failed_ = has_failed_ || code != MPI_SUCCESS;
  require<MpiError>(code == MPI_SUCCESS, [&] {
    const auto peer = owner_ == nullptr ? fmt::format("rank {}", segment.rank)
                                        : owner_->rank_in_words(segment.rank);
    return fmt::format("{}: expected to {} {}, got an error of MPI: {}",
                       owner_ == nullptr ? event_.operation : owner_->name(),
                       segment.is_sent ? "send to" : "receive from", peer,
                       detail::mpi_error_text(code));
  });
}

/// Tells the Operation which message was sent or received.
void Exchange::note(const Segment& segment) {
  if (owner_ != nullptr) owner_->note({segment.rank, segment.is_sent});
}

bool Exchange::complete(Segment& segment) {
  if (!segment.is_open) return true;
  int is_complete = 0;
  const int code = MPI_Test(&segment.request, &is_complete, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && !is_complete) return false;
  segment.is_open = false;
  --open_;
  check(code, segment);
  ++complete_;
  note(segment);
  return true;
}

bool Exchange::test(MessageId message) {
  for (auto part = message; part != none; part = segments_[part].next)
    if (!complete(segments_[part])) return false;
  for (auto part = message; part != none;)
    part = std::exchange(segments_[part].next, std::exchange(free_, part));
  return true;
}

bool Exchange::test() {
  for (auto& segment : segments_) complete(segment);
  return open_ == 0;
}

void Exchange::count_received(std::int64_t bytes) {
  event_.uses_window = true;
  ++event_.messages_received;
  event_.bytes_received += bytes;
}

void Exchange::count_sent(std::int64_t bytes) {
  event_.uses_window = true;
  ++event_.messages_sent;
  event_.bytes_sent += bytes;
  event_.bytes_packed += bytes;
}

void Exchange::count_packed(std::int64_t bytes) {
  event_.bytes_packed += bytes;
}

void Exchange::wait() {
  wait([] { return false; }, [] {});
}

void Exchange::wait(const std::function<bool()>& is_enough,
                    const std::function<void()>& meanwhile) {
  std::size_t seen = complete_;
  if (test() || is_enough()) return;
  detail::Watch watch(*communicator_.state().control);
  while (!test() && !is_enough()) {
    if (std::exchange(seen, progress()) != progress()) {
      meanwhile();
      watch.restart();
    }
    watch.pause([&] { return awaited(); }, [&] { abandon(); });
  }
}

bool Exchange::is_complete(MessageId message) const {
  for (auto part = message; part != none; part = segments_[part].next)
    if (segments_[part].is_open) return false;
  return true;
}

void Exchange::abandon() {
  if (std::exchange(is_abandoned_, true)) return;
  // All receives are cancelled before MPI makes progress: a segment that arrives in between would
  // match the receive of a later segment.
  for (auto& segment : segments_)
    if (segment.is_open && !segment.is_sent) MPI_Cancel(&segment.request);
  for (auto& segment : segments_) {
    if (!segment.is_open) continue;
    int is_cancelled = 0;
    if (!segment.is_sent) {
      MPI_Status status;
      int is_complete = 0;
      MPI_Test(&segment.request, &is_complete, &status);
      // A receive that has matched a message is not cancelled: the message arrives.
      if (is_complete) MPI_Test_cancelled(&status, &is_cancelled);
    }
    if (!is_cancelled) note(segment);
  }
}

std::vector<int> Exchange::awaited() const {
  std::vector<int> ranks;
  for (const auto& segment : segments_)
    if (segment.is_open && segment.request != MPI_REQUEST_NULL) ranks.push_back(segment.rank);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void Exchange::finish() {
  wait();
  is_finished_ = true;
  if (owner_ != nullptr) owner_->add_bytes(event_.bytes_sent, event_.bytes_received);
  if (!is_traced()) return;
  event_.seconds = detail::seconds() - event_.start;
  emit(event_);
}

}  // namespace tessera
