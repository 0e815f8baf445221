// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/comm/detail/clock.hpp>
#include <tessera/comm/detail/control.hpp>
#include <tessera/comm/detail/state.hpp>
#include <tessera/comm/detail/tags.hpp>
#include <tessera/comm/detail/wait.hpp>
#include <tessera/comm/trace.hpp>

namespace tessera {

using detail::OperationId;
using detail::Problem;
using detail::Standing;
using detail::Statement;

namespace {

/// How long a rank whose call fails waits to hear from the others. Those that wait for it answer
/// within their patience and a little; the others may be computing.
constexpr double hearing_seconds = 0.7;
constexpr std::size_t most_agreed = 4096;

thread_local std::exception_ptr common_exception;

}  // namespace

inline void Operation::set_fingerprint(std::uint64_t fingerprint) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  fingerprint_ = fingerprint;
  const auto number = (fingerprint ^ log_->key) + sequence_ * odd;
  tag_ = detail::first_data_tag + static_cast<int>((number >> 32) * log_->control.tag_range >> 32);
}

detail::Traces& Operation::traces() {
  if (traces_ == nullptr) traces_ = log_->lend_traces();
  return *traces_;
}

/// Of a doomed call.
detail::Failure& Operation::failure() const {
  return *traces_->failure;
}

void Operation::begin() noexcept {
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

void Operation::end() noexcept {
  if (traces_ != nullptr || log_->control.has_news) return end_with_traces();
  detail::innermost_call = outer_;
  // The channel is emptied now and then also on ranks that never wait long.
  if (log_->remember({sequence_, fingerprint_})) log_->control.has_news = true;
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
  log_->remember({sequence_, fingerprint_});
  try {
    if (is_doomed_ || control.has_news) control.end(*this);
  } catch (...) {
    // MPI fails: the next call meets it too.
  }
  if (closes_) log_->set.close();
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
  set_fingerprint(hash_combine(name_.hash, arguments));
  if (!control.is_listening()) return false;
  text_ = &call;
  if (control.has_news) control.poll();
  const auto stated = control.statements_.find(id());
  if (stated != control.statements_.end()) {
    for (const auto& [rank, statement] : stated->second)
      doom(statement.standing == Standing::elsewhere ? &statement.call : nullptr);
    detail::Control::give_up();
  }
  return true;
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
      if (detail::Control::must_give_up()) detail::Control::give_up();
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
}

void Operation::attach() {
  if (log_ == nullptr || !is_detached_) return;
  auto& control = log_->control;
  std::erase_if(control.detached, [this](const auto& entry) { return entry.operation == this; });
  outer_ = std::exchange(detail::innermost_call, this);
  is_detached_ = false;
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

void Operation::doom(const detail::Call* conflict) {
  if (!is_doomed_) traces().failure.emplace();
  is_doomed_ = true;
  if (conflict == nullptr || failure().conflict) return;
  failure().conflict = *conflict;
  if (failure().has_joined) tell_those_excluded();
}

/// The call that this one is known to exclude; all zero if none.
OperationId Operation::excluded() const {
  return is_doomed_ && failure().conflict ? failure().conflict->id : OperationId();
}

Statement Operation::own_statement(int receiver) const {
  return {.about = id(),
          .standing = failure().standing,
          .call = failure().call,
          .problem = failure().problem,
          .conflict = excluded(),
          .tag = tag_,
          .messages = messages(receiver, true)};
}

void Operation::join(const Problem& problem, Standing standing) {
  doom();
  log_->control.has_news = true;
  const bool was_leaving = failure().has_joined && failure().standing == Standing::leaving;
  if (failure().has_joined && !was_leaving) return;
  auto& control = log_->control;
  if (!was_leaving) failure().call = call();
  failure().problem = problem;
  failure().standing = standing;
  failure().has_joined = true;
  failure().since = detail::seconds();
  for (const int rank : log_->ranks) {
    if (rank == control.rank_) continue;
    auto statement = own_statement(rank);
    if (was_leaving) statement.messages = 0;  // they are known already
    control.send_statement(rank, statement);
  }
  tell_those_excluded();
  if (was_leaving) return;
  for (const auto& [rank, statement] : control.statements_[id()]) {
    // Who has waited in vain for this rank may have freed what it sent to it.
    const bool is_late =
        traces_->messages.empty() && statement.problem.kind == detail::ErrorKind::timeout;
    if (!is_late) control.add_leftover(rank, statement, tag_, messages(rank, false));
  }
}

/// The ranks of the call that this one excludes.
void Operation::tell_those_excluded() {
  auto& control = log_->control;
  if (!failure().conflict) return;
  for (const int rank : failure().conflict->group)
    if (rank != control.rank_) control.tell_elsewhere(rank, failure().conflict->id, *this);
}

void Operation::give_up() {
  join({}, Standing::inside);
  throw detail::Doomed();
}

void Operation::announce_failure() {
  if (has_peers()) join({}, Standing::leaving);
}

void Operation::announce(const std::exception_ptr& thrown) noexcept {
  if (!has_peers()) return;
  const auto own = own_problem(thrown);
  try {
    if (own.kind != detail::ErrorKind::none) join(own, Standing::inside);
  } catch (...) {
    // MPI fails: fail() meets it too.
  }
}

/// Of kind none where the exception only passes on that a call was given up.
Problem Operation::own_problem(const std::exception_ptr& thrown) const {
  auto own = detail::problem_of(thrown);
  if (own.kind == detail::ErrorKind::other) own.text = std::string(name()) + ": " + own.text;
  return own;
}

bool Operation::has_timed_out() const {
  const auto is_timeout = [](const auto& stated) {
    return stated.second.problem.kind == detail::ErrorKind::timeout;
  };
  if (!is_doomed_) return false;
  if (failure().problem.kind == detail::ErrorKind::timeout) return true;
  const auto stated = log_->control.statements_.find(id());
  return stated != log_->control.statements_.end() &&
         std::ranges::any_of(stated->second, is_timeout);
}

/// Until all ranks of the group have been heard, or have had the time; or a call around this one is
/// given up.
void Operation::await_statements() {
  auto& control = log_->control;
  detail::Backoff backoff(true);
  for (;;) {
    for (auto* each : detail::live_controls()) each->advance_detached();
    detail::Control::poll_all();
    if (detail::Control::outermost_doomed() != this) return;
    bool are_all_heard = control.is_drained(), is_one_leaving = false;
    for (const int rank : court().ranks) {
      if (rank == control.rank_) continue;
      const auto* heard = this->heard(rank);
      const bool is_leaving = heard != nullptr && heard->standing == Standing::leaving;
      is_one_leaving |= is_leaving;
      are_all_heard &= heard != nullptr && !is_leaving;
    }
    if (are_all_heard) return;
    const double limit = is_one_leaving ? control.options.timeout : hearing_seconds;
    if (detail::seconds() - failure().since > limit) return;
    backoff.pause();
  }
}

/// The group whose ranks settle what all throw. Where two groups' calls exclude one another, it is
/// the larger one, so that all have the same list of ranks.
const detail::OperationLog& Operation::court() const {
  const auto& conflict = failure().conflict;
  const bool is_other =
      conflict && conflict->group.size() > log_->ranks.size() &&
      std::ranges::find(conflict->group, log_->control.rank_) != conflict->group.end();
  if (!is_other) return *log_;
  return log_->control.log(conflict->id.group, conflict->group, conflict->group_name);
}

/// What `rank` has stated about the call of the court, or about the one that excludes it.
const Statement* Operation::heard(int rank) const {
  const auto& control = log_->control;
  if (&court() == log_) return control.heard(id(), excluded(), rank);
  return control.heard(excluded(), id(), rank);
}

/// What all throw.
Problem Operation::settle() {
  auto& control = log_->control;
  const auto& court = this->court();
  std::vector<detail::Heard> all;
  for (std::size_t i = 0; i < court.ranks.size(); ++i) {
    auto& heard = all.emplace_back(detail::Heard{static_cast<int>(i), {}});
    const auto* stated = this->heard(court.ranks[i]);
    if (court.ranks[i] == control.rank_)
      heard.statement = own_statement(control.rank_);
    else if (stated != nullptr && stated->standing != Standing::leaving)
      heard.statement = *stated;
  }
  const auto is_elsewhere = [&](const detail::Heard& heard) {
    return heard.statement && heard.statement->call.id.group != log_->key;
  };
  const bool is_conflict = std::ranges::any_of(all, is_elsewhere);
  // Whether a rank that has completed the call hears of the conflict is chance.
  for (auto& heard : all)
    if (is_conflict && heard.statement && heard.statement->standing == Standing::completed)
      heard.statement.reset();
  const bool is_whole = std::ranges::all_of(all, [](const detail::Heard& heard) {
    return heard.statement && heard.statement->standing != Standing::completed;
  });
  std::vector<int> silent;
  for (const auto& heard : all)
    if (!heard.statement) silent.push_back(court.ranks[static_cast<std::size_t>(heard.rank)]);
  if (is_conflict) {
    for (auto& heard : all) heard.rank = court.ranks[static_cast<std::size_t>(heard.rank)];
    std::ranges::sort(all, {}, &detail::Heard::rank);
  }
  const auto result = verdict(name_.text, court, control.options.timeout, all);
  if (result.kind == detail::ErrorKind::timeout) tell_those_who_come_late(result, silent);
  for (const auto& [rank, statement] : all)
    if (statement && statement->call.id != id() && !control.has_begun(statement->call.id))
      control.skip(statement->call);
  if (failure().conflict && !control.has_begun(failure().conflict->id))
    control.skip(*failure().conflict);
  control.settled_by_ = is_whole ? log_->key : 0;
  return result;
}

void Operation::tell_those_who_come_late(const Problem& problem, const std::vector<int>& silent) {
  failure().problem = problem;
  for (const int rank : silent) {
    auto statement = own_statement(rank);
    statement.messages = 0;  // they are known already
    log_->control.send_statement(rank, statement);
  }
}

void detail::note_common_exception() {
  common_exception = std::current_exception();
}

void Operation::fail() {
  const auto thrown = std::current_exception();
  if (!has_peers()) std::rethrow_exception(thrown);
  auto& control = log_->control;
  if (thrown == common_exception) {
    common_exception = nullptr;
    control.settled_ = thrown;
    control.settled_by_ = log_->key;
    control.has_news = true;
    std::rethrow_exception(thrown);
  }
  const auto own = own_problem(thrown);
  const bool is_own = own.kind != detail::ErrorKind::none;
  if (is_own && thrown == control.settled_ && control.settled_by_ == log_->key)
    std::rethrow_exception(thrown);
  text_ = nullptr;
  const bool is_abandoned =
      is_doomed_ && failure().has_joined && failure().standing == Standing::abandoned;
  // A call around this one fails, perhaps on another communicator.
  if (!is_own && (is_abandoned || detail::Control::outermost_doomed() == nullptr)) {
    join({}, Standing::abandoned);
    throw detail::Doomed();
  }
  // In the background the other ranks were told long ago, and may come only now.
  if (is_own && is_doomed_ && failure().has_joined) failure().since = detail::seconds();
  if (is_own)
    join(own, Standing::inside);
  else if (detail::Control::outermost_doomed() == this)
    join({}, Standing::inside);
  await_statements();
  if (detail::Control::outermost_doomed() != this) {
    join({}, Standing::abandoned);
    throw detail::Doomed();
  }
  const auto problem = settle();
  const bool is_users = own.kind == detail::ErrorKind::other;
  if (is_own && problem.kind == own.kind && (is_users || problem.text == own.text)) {
    control.settled_ = thrown;
    std::rethrow_exception(thrown);
  }
  try {
    detail::throw_problem(problem);
  } catch (...) {
    control.settled_ = std::current_exception();
    throw;
  }
}

}  // namespace tessera
