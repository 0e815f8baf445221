// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// How a call fails: what its ranks tell one another, and what all of them throw.
#include <algorithm>
#include <utility>

#include <tessera/agreement/detail/backoff.hpp>

#include "agreement/control.hpp"
#include "agreement/live_controls.hpp"
#include "mpi/clock.hpp"

namespace tessera {

using detail::OperationId;
using detail::Problem;
using detail::Standing;
using detail::Statement;

namespace {

/// How long a rank whose call fails waits to hear from the others. Those that wait for it answer
/// within their patience and a little; the others may be computing.
constexpr double hearing_seconds = 0.7;
/// Of these, a turn of waiting counts as no more, unless a rank may be dead: where many processes
/// share a core it takes longer, and so do the answers.
constexpr double longest_turn_seconds = 0.005;

thread_local std::exception_ptr common_exception;

}  // namespace

void Operation::doom(const detail::Call* conflict) {
  if (!is_doomed_) traces().failure.emplace();
  is_doomed_ = true;
  if (conflict == nullptr) return;
  // Ranks may be ahead by different numbers of calls: the last one is where all go on.
  const bool is_later =
      conflict->id.group == excluded().group && conflict->id.sequence > excluded().sequence;
  if (failure().conflict && !is_later) return;
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
  if (!was_leaving) {
    failure().call = call();
    log_->keep_text(sequence_, failure().call.text);
  }
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
  for (const auto& [rank, statement] : control.statements_[id()])
    control.add_leftover(rank, statement, tag_, messages(rank, false));
  if (closes_)
    for (auto* each : detail::live_controls()) each->forget_within_failed();
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

/// Of kind none where the exception only passes on that a call was given up. Where it comes from a
/// call on a part of the ranks, its text names ranks of that part: this call names its own.
Problem Operation::own_problem(const std::exception_ptr& thrown) const {
  auto own = detail::problem_of(thrown);
  const auto& control = log_->control;
  if (thrown == control.settled_ && !control.settled_cause_.empty())
    own.text = control.settled_cause_;
  else if (own.kind == detail::ErrorKind::other)
    own.text = std::string(name()) + ": " + own.text;
  return own;
}

bool Operation::may_have_lost_a_rank() const {
  if (!is_doomed_) return false;
  if (may_have_left(failure().problem)) return true;
  const auto stated = log_->control.statements_.find(id());
  return stated != log_->control.statements_.end() &&
         std::ranges::any_of(stated->second, [&](const auto& statement) {
           return may_have_left(statement.second.problem);
         });
}

/// Until all ranks of the group have been heard, or have had the time; or a call around this one is
/// given up.
void Operation::await_statements() {
  auto& control = log_->control;
  detail::Backoff backoff(true);
  double last_turn = failure().since;
  double listened = 0;
  for (;;) {
    detail::advance_all();
    detail::Control::poll_all();
    if (detail::Control::outermost_doomed() != this) return;
    const double now = detail::seconds();
    listened += std::min(now - std::exchange(last_turn, now), longest_turn_seconds);
    bool are_all_heard = control.is_drained() && !detail::Control::has_leftovers();
    bool is_one_leaving = false;
    for (const int rank : court().ranks) {
      if (rank == control.rank_) continue;
      const auto* heard = this->heard(rank);
      const bool is_leaving = heard != nullptr && heard->standing == Standing::leaving;
      is_one_leaving |= is_leaving;
      are_all_heard &= heard != nullptr && !is_leaving;
    }
    if (are_all_heard) return;
    const double waited = now - failure().since;
    if (is_one_leaving && waited > control.options.timeout) return;
    // A rank that is dead does not answer later because the others are slow.
    if (!is_one_leaving && (may_have_lost_a_rank() ? waited : listened) > hearing_seconds) return;
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
    auto& heard = all.emplace_back(detail::Heard{static_cast<int>(i)});
    const auto* stated = this->heard(court.ranks[i]);
    if (court.ranks[i] == control.rank_)
      heard.statement = own_statement(control.rank_);
    else if (stated != nullptr && stated->standing != Standing::leaving)
      heard.statement = *stated;
    heard.is_held_up = control.held_up_.contains({id(), court.ranks[i]});
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
  auto result = verdict(name_.text, court, control.options.timeout, all);
  if (result.kind == detail::ErrorKind::timeout) tell_those_who_come_late(result, silent);
  auto latest = id();
  for (const auto& [rank, statement, is_held_up] : all)
    if (statement && statement->call.id.group == log_->key)
      latest = std::max(latest, statement->call.id);
  if (detail::is_outermost(sequence_) && detail::is_outermost(latest.sequence) && latest != id())
    control.go_on_after(latest, *this);
  const auto skip = [&](const detail::Call& call) {
    if (call.id.group != log_->key && !control.has_begun(call.id)) control.skip(call);
  };
  for (const auto& [rank, statement, is_held_up] : all)
    if (statement) skip(statement->call);
  if (failure().conflict) skip(*failure().conflict);
  ++detail::doubts;
  control.settled_by_ = is_whole ? log_->key : 0;
  control.settled_cause_ = detail::cause(all);
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
  has_failed_ = true;
  if (!has_peers()) {
    // No other rank throws it with this one: a call around this one tells them.
    if (thrown == common_exception) common_exception = nullptr;
    std::rethrow_exception(thrown);
  }
  auto& control = log_->control;
  if (thrown == common_exception) {
    common_exception = nullptr;
    control.settled_ = thrown;
    control.settled_by_ = log_->key;
    control.settled_cause_.clear();
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
  const bool has_to_settle = is_own || detail::Control::outermost_doomed() == this;
  if (has_to_settle) {
    join(own, Standing::inside);
    await_statements();
  }
  if (detail::Control::outermost_doomed() != this) {
    join({}, Standing::abandoned);
    throw detail::Doomed();
  }
  const auto problem = settle();
  const bool is_users = own.kind == detail::ErrorKind::other;
  const bool is_same_kind =
      problem.kind == own.kind || (is_users && problem.kind == detail::ErrorKind::error);
  if (is_own && is_same_kind && (is_users || problem.text == own.text)) {
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
