// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// What ranks tell one another about calls that fail, and what each makes of it.
#include <algorithm>
#include <set>

#include "agreement/control.hpp"
#include "agreement/live_controls.hpp"

namespace tessera::detail {
namespace {

constexpr std::size_t most_failed = 64;

/// A call that failed, and after which its rank went on behind the one it was in conflict with, is
/// instead of that one and of those between.
bool excludes(const Statement& failed, OperationId id) {
  const bool is_of_one_group = failed.about.group == id.group && failed.conflict.group == id.group;
  return failed.conflict == id || (is_of_one_group && failed.about < id && id < failed.conflict);
}

}  // namespace

bool may_have_left(const Problem& problem) {
  return problem.kind == ErrorKind::timeout || problem.kind == ErrorKind::mpi_error;
}

/// Another call of this rank had that number: it will not come to this one.
void Control::tell_not_made(int rank, OperationId id, std::uint64_t fingerprint) {
  for (auto* operation = innermost_call; operation != nullptr; operation = operation->outer_)
    if (has_number_of(*operation, id)) return tell_elsewhere(rank, id, *operation);
  for (const auto& [operation, object, advance, number] : detached)
    if (has_number_of(*operation, id)) return tell_elsewhere(rank, id, *operation);
  for (const auto& failed : failed_)
    if (excludes(failed.statement, id)) return tell_excluded(rank, id, failed.statement);
  tell_completed(rank, id, {}, fingerprint);
}

/// This rank was in another call, which has failed, and will not come.
void Control::tell_excluded(int rank, OperationId about, Statement failed) {
  failed.about = failed.conflict = about;
  failed.standing = Standing::elsewhere;
  send_statement(rank, failed);
}

/// Made instead of `id`, which therefore will never be made.
bool Control::has_number_of(const Operation& operation, OperationId id) const {
  const auto log = logs_.find(id.group);
  return &operation.log_->control == this && log != logs_.end() &&
         &operation.log_->set == &log->second.set && operation.sequence_ == id.sequence &&
         is_outermost(id.sequence);
}

/// The call around `id` fails on this rank, as all its ranks were told: `id` will not be made.
bool Control::is_within_failed(OperationId id) const {
  const auto log = logs_.find(id.group);
  if (log == logs_.end() || is_outermost(id.sequence)) return false;
  const auto& set = log->second.set;
  if (generation_of(id.sequence) != set.generation) return false;
  for (const auto* call = innermost_call; call != nullptr; call = call->outer_) {
    const bool is_around = call->closes_ && call->log_->set.contains(set);
    if (is_around && call->is_doomed()) return call->failure().has_joined;
  }
  return false;
}

/// `fingerprint`: of the call that the other rank has made under this number.
void Control::tell_completed(int rank, OperationId id, const RecordedCall& past,
                             std::uint64_t fingerprint) {
  const auto& log = logs_.at(id.group);
  const bool is_known = *past.name != '\0';
  const auto [name, text] = log.in_words(past.fingerprint, is_known ? past.name : "another call");
  const Call call{id, past.fingerprint, name, text, log.name, log.ranks};
  const auto later = past.fingerprint == fingerprint ? OperationId() : later_call(id, fingerprint);
  send_statement(rank,
                 {.about = id, .standing = Standing::completed, .call = call, .same_call = later});
}

void Control::tell_elsewhere(int rank, OperationId about, const Operation& instead) {
  const bool will_not_come = instead.excluded() == about || has_number_of(instead, about);
  if (!told_.emplace(about, instead.id(), rank, will_not_come).second) return;
  send_statement(rank, {.about = about,
                        .standing = Standing::elsewhere,
                        .call = instead.call(),
                        .problem = instead.is_doomed() ? instead.failure().problem : Problem(),
                        .conflict = will_not_come ? about : OperationId()});
}

void Control::handle_statement(int rank, Statement statement) {
  auto* const operation = find(statement.about);
  if (operation == nullptr) {
    if (has_begun(statement.about)) return handle_past(rank, statement);
    return handle_future(rank, std::move(statement));
  }
  const bool is_elsewhere = statement.standing == Standing::elsewhere;
  const bool is_completed = statement.standing == Standing::completed;
  const bool is_right = statement.call.fingerprint == operation->fingerprint_;
  if (is_completed && is_right && !operation->is_doomed()) return;
  // An answer to a question may come after the statement that says more.
  const bool sender_is_ahead = statement.same_call != OperationId();
  const auto* before = heard(statement.about, rank);
  const bool says_more = sender_is_ahead && before != nullptr && before->same_call == OperationId();
  if (is_completed && before != nullptr && !says_more) return;
  // A rank in a call that this one has left is merely late, unless it will not come.
  const bool will_not_come = statement.conflict == statement.about;
  if (is_elsewhere && !will_not_come && has_begun(statement.call.id)) return;
  if (operation->is_doomed() && operation->failure().has_joined)
    add_leftover(rank, statement, operation->tag(), operation->messages(rank, false));
  if (sender_is_ahead) {
    statement.call = operation->call();
    statement.call.id = statement.same_call;
  }
  const auto& heard = keep(rank, std::move(statement));
  operation->doom(is_elsewhere || sender_is_ahead ? &heard.call : nullptr);
  if (is_elsewhere) tell_elsewhere(rank, heard.call.id, *operation);
}

const Statement* Control::heard(OperationId about, int rank) const {
  const auto statements = statements_.find(about);
  if (statements == statements_.end()) return nullptr;
  const auto found = statements->second.find(rank);
  return found == statements->second.end() ? nullptr : &found->second;
}

/// What `rank` has stated about a call, or about one that is known to exclude it.
const Statement* Control::heard(OperationId about, OperationId instead, int rank) const {
  if (const auto* direct = heard(about, rank)) return direct;
  const auto* other = heard(instead, rank);
  const bool was_in_it = other != nullptr && other->standing != Standing::elsewhere &&
                         other->standing != Standing::completed;
  return was_in_it ? other : nullptr;
}

Control::FailedCall* Control::find_failed(OperationId id) {
  const auto found = std::ranges::find_if(
      failed_, [&](const FailedCall& failed) { return failed.statement.about == id; });
  return found == failed_.end() ? nullptr : &*found;
}

/// A second statement of a rank counts no messages: those of the first are still there.
const Statement& Control::keep(int rank, Statement statement) {
  auto& slot = statements_[statement.about][rank];
  statement.messages += slot.messages;
  slot = std::move(statement);
  return slot;
}

void Control::handle_past(int rank, const Statement& statement) {
  if (statement.standing == Standing::completed) return;
  const auto kind = statement.problem.kind;
  const bool is_of_other_rank = kind == ErrorKind::none || may_have_left(statement.problem);
  if (statement.standing == Standing::inside && is_of_other_rank)
    for (auto* call = innermost_call; call != nullptr; call = call->outer_)
      if (&call->log_->control == this) held_up_.emplace(call->id(), rank);
  auto* const failed = find_failed(statement.about);
  if (statement.standing == Standing::elsewhere) {
    if (failed == nullptr || has_begun(statement.call.id)) return;
    // That call and the one that failed here excluded one another.
    tell_excluded(rank, statement.call.id, failed->statement);
    skip(statement.call);
    return;
  }
  if (failed != nullptr)
    return add_leftover(rank, statement, failed->statement.tag, failed->received[rank]);
  const auto* past = past_call(statement.about);
  const bool has_been_in_it = past != nullptr && past->fingerprint == statement.call.fingerprint;
  if (!has_been_in_it) add_leftover(rank, statement, 0, 0);
  if (past == nullptr)
    tell_not_made(rank, statement.about, statement.call.fingerprint);
  else
    tell_completed(rank, statement.about, *past, statement.call.fingerprint);
}

void Control::handle_future(int rank, Statement statement) {
  if (statement.standing == Standing::completed) return;
  if (statement.standing == Standing::elsewhere) {
    if (statement.conflict == statement.about) keep(rank, std::move(statement));
    return;
  }
  if (statement.standing == Standing::abandoned) return add_leftover(rank, statement, 0, 0);
  const auto about = statement.about;
  const auto& heard = keep(rank, std::move(statement));
  if (is_within_failed(about)) return forget(about);
  if (auto* const excluded = find(heard.conflict)) excluded->doom(&heard.call);
  if (const auto* call = innermost(); call != nullptr && call->log_->contains(rank))
    tell_elsewhere(rank, about, *call);
}

bool Control::has_leftovers() {
  return std::ranges::any_of(live_controls(),
                             [](const Control* control) { return !control->leftovers_.empty(); });
}

void Control::add_leftover(int rank, const Statement& statement, std::int32_t tag,
                           std::int32_t received) {
  // After an error of MPI it is not certain that they come.
  if (statement.problem.kind == ErrorKind::mpi_error) return;
  const auto messages = statement.messages - (statement.tag == tag ? received : 0);
  if (messages > 0) leftovers_.push_back({rank, statement.tag, messages});
}

/// A call that one of this rank excludes, or one around it, will not be made. Of two such calls the
/// one on the larger set of processes counts.
void Control::skip(const Call& call) {
  auto& log = this->log(call.id.group, call.group, call.group_name);
  if (log.position >= 0 && !has_begun(call.id)) {
    log.begun = std::max(log.begun, call.id.sequence);
    if (is_outermost(call.id.sequence) && !is_counted_by_another(log)) log.set.close();
  }
  forget(call.id);
}

/// All ranks throw in their calls, of which `latest` has the highest number: they go on after it.
void Control::go_on_after(OperationId latest, const Operation& own) {
  auto& log = logs_.at(latest.group);
  log.begun = std::max(log.begun, latest.sequence);
  const auto next = generation_of(latest.sequence) + (own.closes_ ? 0 : 1);
  while (log.set.generation < next) log.set.close();
  forget(latest);
}

/// One of the blocking calls counts instead of a call on `log`, or this one instead of them.
bool Control::is_counted_by_another(const OperationLog& log) {
  for (auto* operation = innermost_call; operation != nullptr; operation = operation->outer_) {
    if (!operation->closes_) continue;
    if (operation->log_->set.contains(log.set)) return true;
    if (log.set.contains(operation->log_->set)) operation->closes_ = false;
  }
  return false;
}

void Control::forget(OperationId id) {
  if (const auto found = statements_.find(id); found != statements_.end()) {
    for (const auto& [rank, statement] : found->second)
      if (find(id) == nullptr && find_failed(id) == nullptr) add_leftover(rank, statement, 0, 0);
    statements_.erase(found);
  }
  std::erase_if(held_up_, [&](const auto& entry) { return entry.first == id; });
  std::erase_if(rounds_, [&](const auto& entry) { return std::get<0>(entry.first) == id; });
  known_to_agree_.erase(id);
}

/// What was heard of calls inside those that have failed here.
void Control::forget_within_failed() {
  std::vector<OperationId> within;
  for (const auto& [id, statements] : statements_)
    if (find(id) == nullptr && is_within_failed(id)) within.push_back(id);
  for (const auto& id : within) forget(id);
}

/// A call is over on this rank after something was heard. What is known about it is kept only as
/// far as others may ask.
void Control::end(Operation& operation) {
  const auto id = operation.id();
  auto& log = *operation.log_;
  if (operation.is_doomed()) {
    if (operation.failure().has_joined) {
      auto& failed = failed_.emplace_back(FailedCall{operation.own_statement(rank_), {}});
      for (const int rank : log.ranks) failed.received[rank] = operation.messages(rank, false);
      if (failed_.size() > most_failed) failed_.pop_front();
    } else {
      for (const auto& [rank, statement] : statements_[id])
        tell_completed(rank, id, *past_call(id), statement.call.fingerprint);
      statements_.erase(id);
    }
  }
  forget(id);
  if (innermost() != nullptr) return;
  forget_passed();
  if (detached.empty()) {
    told_.clear();
    settled_ = nullptr;
  }
  has_news = !statements_.empty() || !rounds_.empty() || !known_to_agree_.empty() || !is_drained();
}

/// What was heard of calls whose number this rank has used otherwise.
void Control::forget_passed() {
  std::set<OperationId> heard = known_to_agree_;
  for (const auto& [id, statements] : statements_) heard.insert(id);
  for (const auto& [round, fingerprint] : rounds_) heard.insert(std::get<0>(round));
  for (const auto& id : heard)
    if (has_begun(id) && find(id) == nullptr) forget(id);
}

/// Messages arrive in order: who hears that the outer call fails has heard of the inner ones.
void Control::abandon_within(const Operation* call) {
  for (auto* inner = innermost_call; inner != call; inner = inner->outer_)
    inner->join({}, Standing::abandoned);
}

void Control::give_up() {
  auto* const call = outermost_doomed();
  abandon_within(call);
  call->join({}, Standing::inside);
  throw Doomed();
}

void Control::time_out(Operation& call) {
  abandon_within(&call);
  call.join({ErrorKind::timeout, ""}, Standing::inside);
  throw Doomed();
}

}  // namespace tessera::detail
