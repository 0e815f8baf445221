// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/comm/detail/clock.hpp>
#include <tessera/comm/detail/control.hpp>
#include <tessera/comm/detail/failure.hpp>
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
/// within 100 ms and a little; the others may be computing.
constexpr double hearing_seconds = 0.7;
constexpr std::size_t most_agreed = 4096;
constexpr std::size_t most_failed = 64;
/// The channel is emptied now and then also on ranks that never wait long.
constexpr std::uint64_t calls_between_polls = 256;

}  // namespace

Operation::Operation(detail::OperationLog* log, FunctionName name)
    : log_(log), name_(name), tag_(detail::plain_tag) {
  if (log_ == nullptr) return;
  auto& control = log_->control;
  sequence_ = log_->next++;
  outer_ = std::exchange(control.innermost, this);
  messages_.swap(log_->spare);
  if (sequence_ % calls_between_polls == 0 && has_peers()) control.poll();
}

Operation::~Operation() {
  if (log_ == nullptr) return;
  auto& control = log_->control;
  if (is_detached_)
    std::erase_if(control.detached,
                  [this](const auto& background) { return background.operation == this; });
  else
    control.innermost = outer_;
  if (outer_ == nullptr) control.told_.clear();
  log_->past[sequence_ % log_->past.size()] = {sequence_, fingerprint_, name_.text};
  messages_.clear();
  messages_.swap(log_->spare);
}

bool Operation::has_peers() const {
  return log_ != nullptr && log_->ranks.size() > 1 &&
         log_->control.options.level != Agreement::none;
}

OperationId Operation::id() const {
  return {log_->key, sequence_};
}

void Operation::state_call(std::uint64_t arguments, const CallText& call) {
  fingerprint_ = hash_combine(name_.hash, arguments);
  const auto number = hash_combine(fingerprint_, sequence_ ^ log_->key);
  tag_ = detail::first_data_tag +
         static_cast<int>(number % static_cast<std::uint64_t>(log_->control.tag_range));
  if (!log_->control.statements_.empty() && log_->control.statements_.contains(id())) {
    doom();
    make_text_ = call;
    log_->control.give_up();
  }
}

void Operation::agree(std::uint64_t arguments, const CallText& call, AgreedCall& last) {
  if (!has_peers()) return;
  state_call(arguments, call);
  const AgreedCall mine{fingerprint_, log_->epoch};
  const bool is_always = log_->control.options.level == Agreement::always;
  has_agreed_ = mine == last && !is_always;
  if (has_agreed_) return;
  if (is_always || !log_->agreed.contains(fingerprint_)) compare(call);
  has_agreed_ = true;
  last = {fingerprint_, log_->epoch};
}

void Operation::agree(std::uint64_t arguments, const CallText& call) {
  AgreedCall none;
  agree(arguments, call, none);
}

void Operation::agree_always(std::uint64_t arguments, const CallText& call) {
  if (!has_peers()) return;
  state_call(arguments, call);
  compare(call);
}

/// Dissemination: in round k each rank tells the one 2^k further on, so that after log2(n) rounds
/// it has heard from all, directly or through others that had heard nothing else.
void Operation::compare(const CallText& call) {
  auto& control = log_->control;
  make_text_ = call;
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
    while (!(other = control.take_round(source, round, id()))) {
      control.poll();
      if (control.must_give_up()) control.give_up();
      watch.pause([&] { return std::vector{source}; }, [] {});
    }
    if (*other != fingerprint_) {
      doom();
      control.give_up();
    }
  }
  keep_agreement(call());
  make_text_ = {};
  event.messages_sent = event.messages_received = round;
  event.bytes_sent = event.bytes_received = round * std::int64_t{sizeof fingerprint_};
  event.seconds = detail::seconds() - start;
  emit(event);
}

void Operation::keep_agreement(const std::string& text) {
  if (log_->agreed.size() == most_agreed) {
    log_->agreed.clear();
    ++log_->epoch;
  }
  log_->agreed.emplace(fingerprint_, text);
  has_agreed_ = true;
}

void Operation::detach(void* object, bool (*advance)(void* object)) {
  if (log_ == nullptr || is_detached_) return;
  log_->control.innermost = std::exchange(outer_, nullptr);
  log_->control.detached.push_back({this, object, advance});
  is_detached_ = true;
}

void Operation::attach() {
  if (log_ == nullptr || !is_detached_) return;
  auto& control = log_->control;
  std::erase_if(control.detached, [this](const auto& entry) { return entry.operation == this; });
  outer_ = std::exchange(control.innermost, this);
  is_detached_ = false;
}

void Operation::note_sent(int rank) {
  messages_.push_back({rank, true});
}

void Operation::note_received(int rank) {
  messages_.push_back({rank, false});
}

std::int32_t Operation::messages(int rank, bool is_sent) const {
  return static_cast<std::int32_t>(std::ranges::count_if(messages_, [&](const auto& message) {
    return message.rank == rank && message.is_sent == is_sent;
  }));
}

detail::Call Operation::call() const {
  if (failure_ && failure_->has_joined) return failure_->call;
  auto text = make_text_();
  if (text.empty()) text = log_->text_of(fingerprint_, name_.text);
  return {id(), fingerprint_, name_.text, std::move(text), log_->name, log_->ranks};
}

void Operation::doom(const detail::Call* conflict) {
  if (!failure_) failure_ = std::make_unique<Failure>();
  if (conflict != nullptr && !failure_->conflict) failure_->conflict = *conflict;
}

Statement Operation::own_statement(int receiver) const {
  return {.about = id(),
          .standing = failure_->standing,
          .call = failure_->call,
          .problem = failure_->problem,
          .has_agreed = has_agreed_,
          .conflict = failure_->conflict ? failure_->conflict->id : OperationId(),
          .tag = tag_,
          .messages = messages(receiver, true)};
}

void Operation::join(const Problem& problem, Standing standing) {
  doom();
  if (failure_->has_joined) return;
  auto& control = log_->control;
  failure_->call = call();
  failure_->problem = problem;
  failure_->standing = standing;
  failure_->since = detail::seconds();
  failure_->has_joined = true;
  for (const int rank : log_->ranks)
    if (rank != control.rank_) control.send_statement(rank, own_statement(rank));
  if (failure_->conflict)
    for (const int rank : failure_->conflict->group)
      if (rank != control.rank_) control.tell_elsewhere(rank, failure_->conflict->id);
  for (const auto& [rank, statement] : control.statements_[id()])
    control.add_leftover(rank, statement, tag_, messages(rank, false));
}

void Operation::give_up() {
  join({}, Standing::inside);
  throw detail::Doomed();
}

void Operation::announce_failure() {
  if (has_peers())
    join({detail::ErrorKind::other, std::string(name()) + ": an exception between two messages"},
         Standing::failed);
}

/// Until all ranks of the group have been heard, or have had the time; or a call around this one is
/// given up.
void Operation::await_statements() {
  auto& control = log_->control;
  const auto matter = settled_as();
  const auto& group = matter == id() ? log_->ranks : failure_->conflict->group;
  detail::Backoff backoff(true);
  for (;;) {
    control.poll();
    if (control.outermost_doomed() != this) return;
    const auto& heard = control.statements_[matter];
    const auto is_heard = [&](int rank) { return rank == control.rank_ || heard.contains(rank); };
    if (std::ranges::all_of(group, is_heard)) return;
    if (detail::seconds() - failure_->since > hearing_seconds) return;
    backoff.pause();
  }
}

/// Where two groups' calls exclude one another, the larger group's is looked at, so that all have
/// the same list of ranks.
OperationId Operation::settled_as() const {
  const auto& conflict = failure_->conflict;
  const bool is_other = conflict && conflict->group.size() > log_->ranks.size() &&
                        std::ranges::find(conflict->group, log_->control.rank_) !=
                            conflict->group.end();
  return is_other ? conflict->id : id();
}

/// What all throw. Afterwards the call is over everywhere.
Problem Operation::settle() {
  auto& control = log_->control;
  const auto matter = settled_as();
  const auto& court = matter == id()
                          ? *log_
                          : control.log(matter.group, failure_->conflict->group,
                                        failure_->conflict->group_name);
  std::vector<detail::Heard> all;
  for (std::size_t i = 0; i < court.ranks.size(); ++i) {
    auto& heard = all.emplace_back(detail::Heard{static_cast<int>(i), {}});
    const auto& stated = control.statements_[matter];
    if (court.ranks[i] == control.rank_)
      heard.statement = own_statement(control.rank_);
    else if (const auto found = stated.find(court.ranks[i]); found != stated.end())
      heard.statement = found->second;
  }
  const auto is_elsewhere = [&](const detail::Heard& heard) {
    return heard.statement && heard.statement->call.id != id();
  };
  const bool is_conflict = std::ranges::any_of(all, is_elsewhere);
  const bool is_whole = std::ranges::all_of(all, [](const detail::Heard& heard) {
    return heard.statement && heard.statement->standing != Standing::completed;
  });
  // A rank that was still comparing learns that the others had done with it: all know the same.
  const bool have_others_agreed = std::ranges::any_of(all, [&](const detail::Heard& heard) {
    return heard.statement && heard.statement->has_agreed && heard.statement->call.id == id() &&
           heard.statement->call.fingerprint == fingerprint_;
  });
  if (have_others_agreed && !has_agreed_) keep_agreement(failure_->call.text);
  if (is_conflict) {
    for (auto& heard : all) heard.rank = court.ranks[static_cast<std::size_t>(heard.rank)];
    std::ranges::sort(all, {}, &detail::Heard::rank);
  }
  const auto result = verdict(name_.text, court, matter.sequence, control.options.timeout, all);
  auto& failed = control.failed_.emplace_back(
      detail::Control::FailedCall{id(), static_cast<std::int32_t>(tag_), {}});
  for (const int rank : log_->ranks) failed.received[rank] = messages(rank, false);
  if (control.failed_.size() > most_failed) control.failed_.pop_front();
  for (const auto& [rank, statement] : all)
    if (statement && statement->standing == Standing::elsewhere &&
        !control.has_begun(statement->call.id))
      control.skip(statement->call);
  if (matter != id()) control.skip(*failure_->conflict);
  control.forget(id());
  control.settled_by_ = is_whole ? log_->key : 0;
  return result;
}

void Operation::fail() {
  const auto thrown = std::current_exception();
  if (!has_peers()) std::rethrow_exception(thrown);
  auto& control = log_->control;
  auto own = detail::problem_of(thrown);
  if (own.kind == detail::ErrorKind::other) own.text = std::string(name()) + ": " + own.text;
  const bool is_own = own.kind != detail::ErrorKind::none;
  if (is_own && thrown == control.settled_ && control.settled_by_ == log_->key)
    std::rethrow_exception(thrown);
  if (is_own) {
    make_text_ = {};
    join(own, Standing::failed);
  }
  await_statements();
  if (control.outermost_doomed() != this) {
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
