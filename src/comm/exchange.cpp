// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <tessera/comm/detail/check.hpp>
#include <tessera/comm/detail/clock.hpp>
#include <tessera/comm/detail/control.hpp>
#include <tessera/comm/detail/post.hpp>
#include <tessera/comm/detail/state.hpp>
#include <tessera/comm/detail/tags.hpp>
#include <tessera/comm/detail/wait.hpp>
#include <tessera/comm/exchange.hpp>
#include <tessera/comm/runtime.hpp>

namespace tessera {
namespace {

constexpr double drain_seconds_of_the_dead = 1;

}  // namespace

Exchange::Exchange(const Communicator& communicator, TraceKind kind, const char* operation,
                   int group_size)
    : communicator_(communicator),
      owner_(communicator.state().control->innermost()),
      event_{kind, operation, group_size, 0, 0, 0, 0, 0.0},
      start_(detail::seconds()) {
  // What a rank that comes late sends and receives, the others may have given up.
  communicator_.state().control->catch_up(start_);
  if (owner_ != nullptr && detail::Control::must_give_up()) detail::Control::give_up();
}

Exchange::~Exchange() {
  if ((receives_.empty() && sends_.empty()) || !comm::is_usable()) return;
  try {
    abandon();
    drain();
  } catch (...) {
    // What MPI reports now was preceded by the exception that passes.
  }
}

/// Until the peers have taken what was sent: they learn of it by the call's statement.
void Exchange::drain() {
  if (communicator_.is_freed()) return;
  auto& control = *communicator_.state().control;
  if (owner_ != nullptr) owner_->announce_failure();
  const double start = detail::seconds();
  detail::Backoff backoff(true);
  for (auto* transfers : {&receives_, &sends_})
    for (auto& [request, rank] : *transfers)
      while (!detail::drain({&request, 1}, 0.0)) {
        const bool is_dead = owner_ != nullptr && owner_->has_timed_out();
        const double limit = is_dead ? drain_seconds_of_the_dead : control.options.timeout;
        if (detail::seconds() - start > limit) return;
        for (auto* each : detail::live_controls()) each->advance_detached();
        control.poll();
        backoff.pause();
      }
}

template <class Byte>
void Exchange::post(Byte* data, std::int64_t bytes, int rank, std::vector<Transfer>& transfers) {
  const auto& state = communicator_.state();
  const int tag = owner_ == nullptr ? detail::plain_tag : owner_->tag();
  while (bytes > 0) {
    const auto size = std::min(state.message_limit, bytes);
    auto& transfer = transfers.emplace_back(Transfer{MPI_REQUEST_NULL, rank});
    detail::post(state.handle, data, size, rank, tag, transfer.request);
    data += size;
    bytes -= size;
  }
}

void Exchange::receive(std::byte* data, std::int64_t bytes, int source) {
  const auto before = receives_.size();
  post(data, bytes, source, receives_);
  event_.messages_received += static_cast<std::int64_t>(receives_.size() - before);
  event_.bytes_received += bytes;
}

void Exchange::send(const std::byte* data, std::int64_t bytes, int destination) {
  const auto before = sends_.size();
  post(data, bytes, destination, sends_);
  event_.messages_sent += static_cast<std::int64_t>(sends_.size() - before);
  event_.bytes_sent += bytes;
}

bool Exchange::test(std::vector<Transfer>& transfers, std::size_t& complete) {
  for (; complete < transfers.size(); ++complete) {
    int done = 0;
    detail::check_mpi(MPI_Test(&transfers[complete].request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (!done) return false;
  }
  return true;
}

bool Exchange::test() {
  if (!test(receives_, received_) || !test(sends_, sent_)) return false;
  book();
  return true;
}

/// Tells the call what was sent and received, and forgets it.
void Exchange::book() {
  if (owner_ != nullptr) {
    for (const auto& transfer : receives_) owner_->note({transfer.rank, false});
    for (const auto& transfer : sends_) owner_->note({transfer.rank, true});
  }
  receives_.clear();
  sends_.clear();
  received_ = sent_ = 0;
}

void Exchange::count_received(std::int64_t bytes) {
  ++event_.messages_received;
  event_.bytes_received += bytes;
}

void Exchange::count_sent(std::int64_t bytes) {
  ++event_.messages_sent;
  event_.bytes_sent += bytes;
}

void Exchange::wait() {
  detail::Watch watch(*communicator_.state().control);
  std::size_t seen = 0;
  while (!test()) {
    if (std::exchange(seen, progress()) != progress()) watch.restart();
    watch.pause([&] { return awaited(); }, [&] { abandon(); });
  }
}

void Exchange::abandon() {
  if (std::exchange(is_abandoned_, true)) return;
  for (auto& [request, rank] : receives_) {
    int is_cancelled = 0;
    if (request != MPI_REQUEST_NULL) {
      MPI_Cancel(&request);
      MPI_Status status;
      int is_complete = 0;
      MPI_Test(&request, &is_complete, &status);
      // What has matched a message arrives nevertheless.
      if (is_complete) MPI_Test_cancelled(&status, &is_cancelled);
    }
    if (!is_cancelled && owner_ != nullptr) owner_->note({rank, false});
  }
  if (owner_ != nullptr)
    for (const auto& transfer : sends_) owner_->note({transfer.rank, true});
}

std::vector<int> Exchange::awaited() const {
  std::vector<int> ranks;
  for (const auto& [request, rank] : receives_)
    if (request != MPI_REQUEST_NULL) ranks.push_back(rank);
  for (const auto& [request, rank] : sends_)
    if (request != MPI_REQUEST_NULL) ranks.push_back(rank);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void Exchange::finish() {
  wait();
  event_.seconds = detail::seconds() - start_;
  emit(event_);
}

}  // namespace tessera
