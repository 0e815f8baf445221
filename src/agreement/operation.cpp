// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <tessera/agreement/detail/wait.hpp>
#include <tessera/mpi/detail/tags.hpp>
#include <tessera/mpi/trace.hpp>

#include "agreement/control.hpp"
#include "mpi/clock.hpp"

namespace tessera {

using detail::OperationId;
using detail::Standing;

namespace {

constexpr std::size_t most_agreed = 4096;

}  // namespace

inline void Operation::set_fingerprint(std::uint64_t fingerprint) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  fingerprint_ = fingerprint;
  const auto number = (fingerprint ^ log_->key) + sequence_ * odd;
  tag_ = detail::first_data_tag + static_cast<int>((number >> 32) * log_->control.tag_range >> 32);
  if (!log_->control.detached.empty()) await_those_mistaken_for_it();
}

/// Messages of both may have the same ranks and tag.
bool Operation::may_be_mistaken_for(const Operation& other) const {
  if (other.tag_ != tag_) return false;
  const auto both =
      std::ranges::count_if(log_->ranks, [&](int rank) { return other.log_->contains(rank); });
  return both > 1;
}

/// Seldom any, as MPI has many tags. All ranks have started them before this one.
void Operation::await_those_mistaken_for_it() {
  auto& control = log_->control;
  const auto is_mistaken = [&](const auto& background) {
    return may_be_mistaken_for(*background.operation);
  };
  if (std::ranges::none_of(control.detached, is_mistaken)) return;
  detail::Watch watch(control);
  while (control.advance_detached(this)) watch.pause([&] { return log_->ranks; }, [] {});
}

std::uint64_t Operation::stamp() const {
  const auto number = hash_combine(fingerprint_ ^ log_->key, sequence_);
  return (number | 1) << 1;
}

detail::Traces& Operation::traces() {
  if (traces_ == nullptr) traces_ = log_->lend_traces();
  return *traces_;
}

std::string Operation::rank_in_words(int rank) const {
  const auto position = std::ranges::find(log_->ranks, rank) - log_->ranks.begin();
  return fmt::format("mesh rank {} of mesh {}", position, log_->name);
}

std::string Operation::in_words() const {
  return log_->in_words(fingerprint_, name_.text).text;
}

const std::string& Operation::mesh() const {
  return log_->name;
}

/// Of a doomed call.
detail::Failure& Operation::failure() const {
  return *traces_->failure;
}

/// Not inlined, so that the code behind it is the caller's.
[[gnu::noinline]] void Operation::begin() noexcept {
  caller_ = __builtin_return_address(0);
  time_ = detail::coarse_time();
  outer_ = detail::innermost_call;
  detail::innermost_call = this;
  closes_ = outer_ == nullptr;
  if (closes_)
    sequence_ = log_->begin(true);
  else
    begin_within();
}

/// Begins a call inside another one.
void Operation::begin_within() noexcept {
  const auto* around = outer_;
  while (around != nullptr && !around->log_->set.contains(log_->set)) around = around->outer_;
  closes_ = around == nullptr;
  sequence_ = log_->begin(closes_);
}

detail::RecordedCall Operation::record() const {
  return {sequence_, fingerprint_, name_.text,      caller_,
          time_,     bytes_sent_,  bytes_received_, has_failed_};
}

void Operation::end() noexcept {
  if (traces_ != nullptr || has_failed_ || log_->control.has_news) return end_with_traces();
  detail::innermost_call = outer_;
  // The channel is emptied now and then also on ranks that never wait long.
  if (log_->remember(record())) log_->control.has_news = true;
  if (closes_) log_->set.close();
}

/// Ends a call that others may know something of, or the other way round.
void Operation::end_with_traces() noexcept {
  auto& control = log_->control;
  if (is_detached_)
    std::erase_if(control.detached,
                  [this](const auto& background) { return background.operation == this; });
  else
    detail::innermost_call = outer_;
  log_->remember(record());
  if (has_failed_ && detail::innermost_call == nullptr) detail::dump_after_failure();
  // Before what was heard is forgotten: calls inside this one will not be made any more.
  if (closes_) log_->set.close();
  try {
    if (is_doomed_ || control.has_news) control.end(*this);
  } catch (...) {
    // MPI fails: the next call meets it too.
  }
  if (traces_ != nullptr) log_->take_back(traces_);
}

bool Operation::has_peers() const {
  return log_ != nullptr && log_->ranks.size() > 1 && log_->control.is_listening();
}

OperationId Operation::id() const {
  return {log_->key, sequence_};
}

/// Whether there is something to compare.
bool Operation::state_call(std::uint64_t arguments, const CallText& call) {
  if (log_ == nullptr || log_->is_alone) return false;
  auto& control = log_->control;
  text_ = &call;
  set_fingerprint(hash_combine(name_.hash, arguments));
  if (!control.is_listening()) {
    text_ = nullptr;
    return false;
  }
  if (control.has_news) {
    control.catch_up(detail::seconds());
    control.poll();
  }
  const auto stated = control.statements_.find(id());
  if (stated != control.statements_.end()) {
    for (const auto& [rank, statement] : stated->second)
      doom(statement.standing == Standing::elsewhere ? &statement.call : nullptr);
    if (!one_has_failed_inside()) detail::Control::give_up();
  }
  return true;
}

/// Whether a rank has an error behind the comparison of this call: then all ranks have made the
/// same call. This one goes on, and perhaps makes the same mistake.
bool Operation::one_has_failed_inside() const {
  if (detail::Control::outermost_doomed() != this) return false;
  const auto stated = log_->control.statements_.find(id());
  if (stated == log_->control.statements_.end()) return false;
  return std::ranges::any_of(stated->second, [&](const auto& entry) {
    const detail::Statement& statement = entry.second;
    const auto kind = statement.problem.kind;
    return statement.standing == Standing::inside && statement.call.id == id() &&
           statement.call.fingerprint == fingerprint_ && kind != detail::ErrorKind::none &&
           kind != detail::ErrorKind::timeout;
  });
}

/// Where the caller has made the same call before and nothing was heard, this is all.
void Operation::agree(std::uint64_t arguments, const CallText& call, AgreedCall& last) {
  if (log_ == nullptr) return;
  if (!log_->control.has_news && last.arguments == arguments && last.name == name_.hash &&
      last.epoch == log_->epoch) {
    set_fingerprint(last.fingerprint);
    has_agreed_ = true;
  } else {
    agree_slowly(arguments, call, last);
  }
}

void Operation::agree_slowly(std::uint64_t arguments, const CallText& call, AgreedCall& last) {
  if (!state_call(arguments, call)) return;
  const bool is_always = log_->control.options.level == Agreement::always;
  if (is_always || !log_->agreed.contains(fingerprint_)) compare(call);
  text_ = nullptr;
  has_agreed_ = true;
  if (!is_always) last = {name_.hash, arguments, fingerprint_, log_->epoch};
}

void Operation::agree(std::uint64_t arguments, const CallText& call) {
  AgreedCall none;
  agree(arguments, call, none);
}

void Operation::state(std::uint64_t arguments, const CallText& call) {
  const bool has_peers = state_call(arguments, call);
  if (has_peers && log_->control.options.level == Agreement::always) compare(call);
  text_ = nullptr;
}

void Operation::agree_always(std::uint64_t arguments, const CallText& call) {
  if (state_call(arguments, call)) compare(call);
  text_ = nullptr;
}

/// Dissemination: in round k each rank tells the one 2^k further on, so that after log2(n) rounds
/// it has heard from all, directly or through others that had heard nothing else.
void Operation::compare(const CallText& call) {
  auto& control = log_->control;
  const int size = static_cast<int>(log_->ranks.size());
  TraceEvent event{TraceKind::agreement, name_.text, size, 0, 0, 0, 0, 0.0};
  const double start = detail::seconds();
  const auto n = log_->ranks.size();
  const auto position = static_cast<std::size_t>(log_->position);
  int round = 0;
  for (std::size_t distance = 1; distance < n; distance *= 2, ++round) {
    control.send_round(log_->ranks[(position + distance) % n], round, id(), fingerprint_);
    const int source = log_->ranks[(position + n - distance) % n];
    detail::Watch watch(control);
    std::optional<std::uint64_t> other;
    while (!(other = control.take_round(source, round, id())) && !control.is_known_to_agree(id())) {
      control.poll();
      if (detail::Control::must_give_up()) {
        if (one_has_failed_inside()) break;
        detail::Control::give_up();
      }
      watch.pause([&] { return std::vector{source}; }, [] {});
    }
    if (!other) break;
    if (*other != fingerprint_) {
      doom();
      detail::Control::give_up();
    }
  }
  if (log_->agreed.size() == most_agreed) {
    log_->agreed.clear();
    ++log_->epoch;
  }
  log_->agreed.emplace(fingerprint_, detail::CallInWords{name_.text, call()});
  has_agreed_ = true;
  event.messages_sent = event.messages_received = round;
  event.bytes_sent = event.bytes_received = round * std::int64_t{sizeof fingerprint_};
  event.seconds = detail::seconds() - start;
  event.start = start;
  event.uses_messages = true;
  event.call = this;
  emit(event);
}

void Operation::detach(void* object, bool (*advance)(void* object)) {
  if (log_ == nullptr || is_detached_) return;
  if (std::exchange(closes_, false)) log_->set.close();
  detail::innermost_call = std::exchange(outer_, nullptr);
  auto& detached = log_->control.detached;
  auto& number = traces().detached_as;
  if (number == 0) number = ++log_->control.ever_detached;
  const auto later = std::ranges::find_if(
      detached, [&](const auto& background) { return background.number > number; });
  detached.insert(later, {this, object, advance, number});
  is_detached_ = true;
  is_apart_ = false;
}

void Operation::attach() {
  if (log_ == nullptr || !is_detached_) return;
  auto& control = log_->control;
  std::erase_if(control.detached, [this](const auto& entry) { return entry.operation == this; });
  outer_ = std::exchange(detail::innermost_call, this);
  is_detached_ = false;
}

void Operation::attach_apart() {
  attach();
  is_apart_ = true;
}

void Operation::note(const detail::DataMessage& message) {
  traces().messages.push_back(message);
}

std::int32_t Operation::messages(int rank, bool is_sent) const {
  if (traces_ == nullptr) return 0;
  return static_cast<std::int32_t>(std::ranges::count_if(
      traces_->messages,
      [&](const auto& message) { return message.rank == rank && message.is_sent == is_sent; }));
}

detail::Call Operation::call() const {
  if (is_doomed_ && failure().has_joined) return failure().call;
  auto text = text_ == nullptr ? "" : (*text_)();
  if (text.empty()) text = log_->in_words(fingerprint_, name_.text).text;
  return {id(), fingerprint_, name_.text, std::move(text), log_->name, log_->ranks};
}

}  // namespace tessera
