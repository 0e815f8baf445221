// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>

#include <tessera/agreement/detail/open_messages.hpp>
#include <tessera/agreement/detail/wait.hpp>
#include <tessera/mpi/detail/tags.hpp>

#include "agreement/control.hpp"
#include "agreement/live_controls.hpp"
#include "mpi/check.hpp"
#include "mpi/clock.hpp"
#include "mpi/post.hpp"

namespace tessera::detail {
namespace {

/// Begins every message of the channel.
struct Header {
  enum Kind : std::int32_t { round, query, agreed, statement };
  Kind kind;
  std::int32_t number;  ///< of the round; in a query 1 where the fingerprint is being compared
  OperationId id;
  std::uint64_t fingerprint;
};

std::vector<std::byte> bytes_of(const Header& header) {
  const auto bytes = std::as_bytes(std::span(&header, 1));
  return {bytes.begin(), bytes.end()};
}

/// A message that has arrived, taken out of matching.
struct Probed {
  MPI_Message message = MPI_MESSAGE_NULL;
  int source = 0;
  std::int64_t bytes = 0;
};

/// `is_heard`: false where MPI fails, perhaps because it knows that a rank is dead.
std::optional<Probed> probe(MPI_Comm comm, int source, int tag, bool& is_heard) {
  Probed result;
  int found = 0;
  MPI_Status status;
  const int code = MPI_Improbe(source, tag, comm, &found, &result.message, &status);
  is_heard = code == MPI_SUCCESS;
  if (!is_heard || !found) return std::nullopt;
  MPI_Count bytes = 0;
  check_mpi(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
  result.source = status.MPI_SOURCE;
  result.bytes = bytes;
  return result;
}

/// From whichever rank; while one is dead, MPI may look for messages of one rank at a time only.
std::optional<Probed> probe_any(MPI_Comm comm, int ranks, int tag) {
  bool is_heard = true;
  auto result = probe(comm, MPI_ANY_SOURCE, tag, is_heard);
  for (int rank = 0; !is_heard && !result && rank < ranks; ++rank) {
    bool is_alive = true;
    result = probe(comm, rank, tag, is_alive);
  }
  return result;
}

/// A message may be there and yet be seen by a later call only.
constexpr int looks = 8;

/// Receives what others have asked meanwhile, and what calls that failed have left unreceived, and
/// drops it: MPICH 5 does not free a communicator while there are such messages.
void drop_unread(MPI_Comm handle, int ranks) noexcept {
  try {
    for (int look = 0; look < looks && handle != MPI_COMM_NULL; ++look)
      while (auto probed = probe_any(handle, ranks, MPI_ANY_TAG)) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(probed->bytes));
        MPI_Request request = MPI_REQUEST_NULL;
        post_matched(bytes.data(), probed->bytes, probed->message, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
  } catch (...) {
    // MPI fails: then nothing is left to be dropped.
  }
}

}  // namespace

void keep_for_ever(const std::shared_ptr<void>& memory) {
  static auto& all = *new std::vector<std::shared_ptr<void>>;
  all.push_back(memory);
}

bool OperationLog::contains(int rank) const {
  return std::ranges::find(ranks, rank) != ranks.end();
}

Traces* OperationLog::lend_traces() {
  spare_traces.reserve(spare_traces.size() + 1);  // for take_back
  if (spare_traces.empty()) return new Traces;
  auto* const result = spare_traces.back().release();
  spare_traces.pop_back();
  return result;
}

void OperationLog::take_back(Traces* traces) {
  traces->messages.clear();
  traces->failure.reset();
  traces->detached_as = 0;
  spare_traces.emplace_back(traces);
}

void OperationLog::keep_text(std::uint64_t sequence, const std::string& text) {
  constexpr std::size_t most_kept = 16;
  failed.push_back({sequence, text});
  if (failed.size() > most_kept) failed.pop_front();
}

CallInWords OperationLog::in_words(std::uint64_t fingerprint, const char* otherwise) const {
  const auto found = agreed.find(fingerprint);
  return found == agreed.end() ? CallInWords{otherwise, otherwise} : found->second;
}

Control::Control(MPI_Comm handle, int rank, std::vector<int> processes)
    : tag_range(static_cast<std::uint64_t>(largest_tag() - first_data_tag)),
      last_poll(seconds()),
      handle_(handle),
      rank_(rank),
      processes_(std::move(processes)) {}

Control::~Control() = default;

void Control::forget_agreements() {
  ++doubts;
  for (auto& [key, log] : logs_) {
    log.agreed.clear();
    ++log.epoch;
  }
}

void Control::finish_detached() noexcept {
  const double start = seconds();
  bool has_asked = false;
  for (Backoff backoff(true); advance_detached();) {
    const double waited = seconds() - start;
    if (waited > options.timeout) return;
    try {
      if (waited > options.patience) poll();
      if (waited > options.patience && !std::exchange(has_asked, true))
        for (const auto& background : detached)
          query(*background.operation, background.operation->log_->ranks);
    } catch (...) {
      return;  // MPI fails
    }
    backoff.pause();
  }
}

/// How long a communicator that is about to be freed waits for its peers to take what was sent to
/// them: they do so as they free theirs.
constexpr double closing_seconds = 0.1;

void Control::close() noexcept {
  finish_detached();
  for (auto& [key, log] : logs_)
    for (const auto& call : log.past)
      log.set.forgotten = std::max(log.set.forgotten, call.sequence);
  const int ranks = static_cast<int>(processes_.size());
  drop_unread(handle_, ranks);
  for (auto& [bytes, request] : transfers_) {
    if (drain({&request, 1}, closing_seconds)) continue;
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    keep_for_ever(std::make_shared<std::vector<std::byte>>(std::move(bytes)));
  }
  transfers_.clear();
  for (const double start = seconds();
       !open_messages_.empty() && seconds() < start + closing_seconds;) {
    drop_unread(handle_, ranks);
    test_open_messages();
  }
  for (auto& [number, requests, memory] : open_messages_) {
    for (auto& request : requests)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    for (const auto& each : memory) keep_for_ever(each);
  }
  open_messages_.clear();
  leftovers_.clear();
  drop_unread(handle_, ranks);
  handle_ = MPI_COMM_NULL;
}

OperationLog& Control::log(std::uint64_t key, std::span<const int> ranks, const std::string& name) {
  const auto found = logs_.find(key);
  if (found != logs_.end()) return found->second;
  const auto own = std::ranges::find(ranks, rank_);
  const int position = own == ranks.end() ? -1 : static_cast<int>(own - ranks.begin());
  std::vector<int> processes;
  for (const int member : ranks) processes.push_back(processes_[static_cast<std::size_t>(member)]);
  OperationLog made{*this,    key, {ranks.begin(), ranks.end()}, process_set(std::move(processes)),
                    position, name};
  made.is_alone = ranks.size() == 1;
  return logs_.emplace(key, std::move(made)).first->second;
}

std::vector<const OperationLog*> Control::logs() const {
  std::vector<const OperationLog*> result;
  for (const auto& [key, log] : logs_) result.push_back(&log);
  std::ranges::sort(result, {}, &OperationLog::key);
  return result;
}

std::vector<RecordedCall> Control::calls_under_way(const OperationLog& log) const {
  std::vector<RecordedCall> result;
  for (const auto* call = innermost_call; call != nullptr; call = call->outer_)
    if (call->log_ == &log) result.push_back(call->record());
  std::ranges::reverse(result);
  for (const auto& background : detached)
    if (background.operation->log_ == &log) result.push_back(background.operation->record());
  return result;
}

std::vector<int> Control::processes_of(const OperationLog& log) const {
  std::vector<int> result;
  for (const int rank : log.ranks) result.push_back(processes_[static_cast<std::size_t>(rank)]);
  return result;
}

void Control::send(int rank, std::vector<std::byte> bytes) {
  if (handle_ == MPI_COMM_NULL) return;
  auto& transfer = transfers_.emplace_back(Transfer{std::move(bytes)});
  const int code = MPI_Isend(transfer.bytes.data(), static_cast<int>(transfer.bytes.size()),
                             MPI_BYTE, rank, control_tag, handle_, &transfer.request);
  // A rank that is dead, as MPI says, is known by its silence.
  if (code != MPI_SUCCESS) transfers_.pop_back();
}

void Control::send_round(int rank, std::int32_t round, OperationId id, std::uint64_t fingerprint) {
  send(rank, bytes_of({Header::round, round, id, fingerprint}));
}

void Control::query(const Operation& call, std::span<const int> ranks) {
  for (const int rank : ranks)
    if (rank != rank_)
      send(rank, bytes_of({Header::query, call.has_agreed_ ? 0 : 1, call.id(), call.fingerprint_}));
}

void Control::send_statement(int rank, const Statement& statement) {
  auto bytes = bytes_of({Header::statement, 0, statement.about, 0});
  const auto text = to_bytes(statement);
  bytes.insert(bytes.end(), text.begin(), text.end());
  send(rank, std::move(bytes));
}

void Control::poll() {
  if (handle_ == MPI_COMM_NULL) return;
  last_poll = seconds();
  while (auto probed = probe_any(handle_, static_cast<int>(processes_.size()), control_tag)) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(probed->bytes));
    check_mpi(MPI_Mrecv(bytes.data(), static_cast<int>(probed->bytes), MPI_BYTE, &probed->message,
                        MPI_STATUS_IGNORE),
              "MPI_Mrecv");
    handle(probed->source, bytes);
  }
  receive_leftovers();
  std::erase_if(transfers_, [](Transfer& transfer) { return drain({&transfer.request, 1}, 0.0); });
  test_open_messages();
}

void Control::test_open_messages() {
  std::erase_if(open_messages_, [](OpenMessages& open) { return drain(open.requests, 0.0); });
}

void Control::leave_open(std::vector<MPI_Request> requests) {
  open_messages_.push_back({++ever_left_open, std::move(requests)});
}

void Control::keep_memory(std::uint64_t before, const std::shared_ptr<void>& memory) {
  for (auto& open : open_messages_)
    if (open.number > before) open.memory.push_back(memory);
}

void Control::poll_all() {
  for (auto* control : live_controls()) {
    if (control->is_listening())
      control->poll();
    else
      control->test_open_messages();
  }
}

void Control::catch_up(double now) {
  const double away = now - last_poll;
  if (away <= options.patience) return;
  // Where others may have waited in vain: what they have said before they left comes before what
  // they have left.
  constexpr double until_all_is_heard = 5e-4;
  const double at_least = away > options.timeout / 2 ? until_all_is_heard : 0;
  do poll_all();
  while (seconds() < now + at_least);
  last_poll = seconds();  // also of one that is being made, and not among all yet
}

void Control::handle(int rank, std::span<const std::byte> bytes) {
  has_news = true;
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.kind == Header::statement)
    return handle_statement(rank, statement_from(bytes.subspan(sizeof header)));
  if (header.kind == Header::query)
    return handle_query(rank, header.id, header.fingerprint, header.number == 1);
  if (has_begun(header.id) && find(header.id) == nullptr) return;
  if (header.kind == Header::agreed)
    known_to_agree_.insert(header.id);
  else
    rounds_[{header.id, header.number, rank}] = header.fingerprint;
}

std::optional<std::uint64_t> Control::take_round(int rank, std::int32_t round, OperationId id) {
  const auto found = rounds_.find({id, round, rank});
  if (found == rounds_.end()) return std::nullopt;
  const auto result = found->second;
  rounds_.erase(found);
  return result;
}

Operation* Control::innermost() const {
  auto* result = innermost_call;
  while (result != nullptr && &result->log_->control != this) result = result->outer_;
  return result;
}

Operation* Control::find(OperationId id) const {
  for (auto* operation = innermost_call; operation != nullptr; operation = operation->outer_)
    if (&operation->log_->control == this && operation->id() == id) return operation;
  for (const auto& background : detached)
    if (background.operation->id() == id) return background.operation;
  return nullptr;
}

Operation* Control::outermost_doomed() {
  Operation* result = nullptr;
  for (auto* operation = innermost_call; operation != nullptr; operation = operation->outer_) {
    if (operation->is_doomed()) result = operation;
    if (operation->is_apart_) break;
  }
  return result;
}

bool Control::has_begun(OperationId id) const {
  const auto found = logs_.find(id.group);
  if (found == logs_.end()) return false;
  const auto& log = found->second;
  return id.sequence <= log.begun || generation_of(id.sequence) < log.set.generation;
}

const RecordedCall* Control::past_call(OperationId id) const {
  static constexpr RecordedCall forgotten{};
  const auto& log = logs_.at(id.group);
  const auto found = std::ranges::find(log.past, id.sequence, &RecordedCall::sequence);
  if (found != log.past.end()) return &*found;
  const auto oldest = log.past[log.oldest].sequence;
  return id.sequence < oldest ? &forgotten : nullptr;
}

/// The first after `id` on its group that has this fingerprint and is not completed: the ranks have
/// made different numbers of calls, and can all throw in this one. All zero if there is none.
OperationId Control::later_call(OperationId id, std::uint64_t fingerprint) const {
  OperationId result;
  const auto look_at = [&](const RecordedCall& call) {
    const bool is_it = call.fingerprint == fingerprint && is_outermost(call.sequence) &&
                       call.sequence > id.sequence;
    if (is_it && (result == OperationId() || call.sequence < result.sequence))
      result = {id.group, call.sequence};
  };
  if (fingerprint == 0 || !is_outermost(id.sequence)) return result;
  const auto& log = logs_.at(id.group);
  for (const auto& call : log.past)
    if (call.has_failed) look_at(call);
  std::ranges::for_each(calls_under_way(log), look_at);
  return result;
}

void Control::handle_query(int rank, OperationId id, std::uint64_t fingerprint, bool is_comparing) {
  // Whoever still compares what this rank knows to be agreed has missed the end of it.
  const auto tell_agreed = [&] { send(rank, bytes_of({Header::agreed, 0, id, fingerprint})); };
  if (auto* const operation = find(id)) {
    if (operation->fingerprint_ != 0 && operation->fingerprint_ != fingerprint)
      operation->doom();
    else if (operation->has_agreed_ && is_comparing)
      tell_agreed();
  } else if (has_begun(id)) {
    const auto* past = past_call(id);
    if (past == nullptr) return tell_not_made(rank, id, fingerprint);
    const bool is_forgotten = past->fingerprint == 0 && is_comparing;
    const bool is_same = is_forgotten ? logs_.at(id.group).agreed.contains(fingerprint)
                                      : past->fingerprint == fingerprint;
    if (!is_same)
      tell_completed(rank, id, *past, fingerprint);
    else if (is_comparing)
      tell_agreed();
  } else if (const auto* call = innermost(); call != nullptr && call->log_->contains(rank)) {
    tell_elsewhere(rank, id, *call);
  }
}

void Control::receive_leftovers() {
  for (auto& [rank, tag, messages] : leftovers_) {
    for (; messages > 0; --messages) {
      bool is_alive = true;
      auto probed = probe(handle_, rank, tag, is_alive);
      if (!is_alive) messages = 0;
      if (!probed) break;
      auto& transfer = transfers_.emplace_back();
      transfer.bytes.resize(static_cast<std::size_t>(probed->bytes));
      post_matched(transfer.bytes.data(), probed->bytes, probed->message, transfer.request);
    }
  }
  std::erase_if(leftovers_, [](const Leftover& leftover) { return leftover.messages == 0; });
}

bool Control::advance_detached(const Operation* mistaken) {
  // One at a time: what goes on may wait too, and then must not begin here again.
  if (detached.empty() || is_advancing_) return false;
  is_advancing_ = true;
  bool has_more = false;
  const auto started = detached;
  const auto is_to_advance = [&](const Background& background) {
    return std::ranges::find(detached, background.object, &Background::object) != detached.end() &&
           (mistaken == nullptr || mistaken->may_be_mistaken_for(*background.operation));
  };
  for (const auto& background : started)
    if (is_to_advance(background)) has_more |= background.advance(background.object);
  is_advancing_ = false;
  return has_more;
}

}  // namespace tessera::detail
