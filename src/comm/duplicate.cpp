// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/agreement/detail/backoff.hpp>
#include <tessera/agreement/detail/open_messages.hpp>
#include <tessera/error/error.hpp>
#include <tessera/mpi/detail/runtime.hpp>
#include <tessera/mpi/detail/tags.hpp>

#include "agreement/control.hpp"
#include "agreement/live_controls.hpp"
#include "agreement/on_ranks.hpp"
#include "comm/duplicate.hpp"
#include "comm/tuning.hpp"
#include "mpi/check.hpp"
#include "mpi/clock.hpp"

namespace tessera::detail {
namespace {

/// The duplicate of one communicator, until it is made. MPI writes to it while the request is under
/// way, so it stays where it is, for ever if it must.
struct Duplicate {
  MPI_Comm result = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  bool has_begun = false;
  bool was_given_up = false;
  int attempt = 0;  ///< calls of this rank that wanted it

  void begin(MPI_Comm user) {
    if (has_begun) return;
    has_begun = true;
    check_mpi(MPI_Comm_idup(user, &result, &request), "MPI_Comm_idup");
  }
  bool is_made() {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Comm_idup");
    return done != 0;
  }
  void give_up() {
    if (!std::exchange(was_given_up, true)) comm::count_unfinished(1);
  }
};

/// Returns the key of the attribute by which a communicator keeps its duplicate that is not made
/// yet.
int unmade_duplicate() {
  static const int keyval = [] {
    int result = MPI_KEYVAL_INVALID;
    check_mpi(
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &result, nullptr),
        "MPI_Comm_create_keyval");
    return result;
  }();
  return keyval;
}

Duplicate& find_or_add(MPI_Comm user) {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(user, unmade_duplicate(), &value, &found), "MPI_Comm_get_attr");
  if (found) return *static_cast<Duplicate*>(value);
  auto duplicate = std::make_unique<Duplicate>();
  check_mpi(MPI_Comm_set_attr(user, unmade_duplicate(), duplicate.get()), "MPI_Comm_set_attr");
  return *duplicate.release();
}

MPI_Comm take(MPI_Comm user, Duplicate& duplicate) {
  check_mpi(MPI_Comm_delete_attr(user, unmade_duplicate()), "MPI_Comm_delete_attr");
  if (duplicate.was_given_up) comm::count_unfinished(-1);
  const auto result = duplicate.result;
  delete &duplicate;
  return result;
}

/// A message may be there and yet be seen by a later look only.
constexpr int first_looks = 8;

/// The messages by which ranks that have waited in vain tell the others. They hold the number of the
/// attempt: those of earlier ones do not count.
class RollCall {
 public:
  RollCall(MPI_Comm user, int& attempt) : user_(user), attempt_(attempt) {
    int size = 0;
    check_mpi(MPI_Comm_rank(user, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(user, &size), "MPI_Comm_size");
    was_heard_.resize(static_cast<std::size_t>(size));
    was_heard_[static_cast<std::size_t>(rank_)] = true;
  }

  /// Receives what has come. Returns whether any rank has given up.
  bool listen() {
    for (;;) {
      int found = 0;
      MPI_Status status;
      check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag(), user_, &found, &status), "MPI_Iprobe");
      if (!found) return is_heard_;
      int attempt = 0;
      check_mpi(MPI_Recv(&attempt, 1, MPI_INT, status.MPI_SOURCE, tag(), user_, MPI_STATUS_IGNORE),
                "MPI_Recv");
      if (attempt < attempt_) continue;
      attempt_ = attempt;
      was_heard_[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
      is_heard_ = true;
    }
  }

  void tell_all() const {
    // The last of the messages may never be received.
    const auto sent = std::make_shared<int>(attempt_);
    keep_for_ever(sent);
    for (int rank = 0; rank < static_cast<int>(was_heard_.size()); ++rank) {
      if (rank == rank_) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Isend(sent.get(), 1, MPI_INT, rank, tag(), user_, &request), "MPI_Isend");
      check_mpi(MPI_Request_free(&request), "MPI_Request_free");
    }
  }

  std::vector<int> not_heard() const {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < was_heard_.size(); ++rank)
      if (!was_heard_[rank]) ranks.push_back(static_cast<int>(rank));
    return ranks;
  }

 private:
  /// The largest one, which is the least likely to be a user's.
  static int tag() { return largest_tag(); }

  MPI_Comm user_;
  int& attempt_;  ///< catches up with that of ranks that have tried more often
  int rank_ = 0;
  bool is_heard_ = false;
  std::vector<bool> was_heard_;
};

[[noreturn]] void throw_timeout(double limit, const RollCall& calls) {
  const auto ranks = calls.not_heard();
  const auto whom = ranks.empty() ? std::string("messages") : ranks_in_words(ranks);
  throw Timeout(
      fmt::format("waited {:g} s for {} of the communicator to make its first mesh", limit, whom));
}

/// Returns whether the duplicate was made after all.
bool comes_while_others_are_told(RollCall& calls, Duplicate& duplicate) {
  calls.tell_all();
  Backoff backoff(true);
  for (const double end = seconds() + roll_call_seconds; seconds() < end; backoff.pause()) {
    if (duplicate.is_made()) return true;
    calls.listen();
  }
  return false;
}

void wait(MPI_Comm user, double limit, Duplicate& duplicate) {
  RollCall calls(user, ++duplicate.attempt);
  for (int look = 0; look < first_looks; ++look)
    if (calls.listen())
      throw Timeout(
          "expected this rank earlier: others of the communicator have waited for it, and have "
          "given up; the next call goes on where they stopped");
  duplicate.begin(user);
  Backoff backoff(true);
  const double start = seconds();
  while (!duplicate.is_made()) {
    backoff.pause();
    // Others may first wait for a call in the background, or for an answer.
    advance_all();
    Control::poll_all();
    if (seconds() - start < limit && !calls.listen()) continue;
    // It is made only where all ranks have begun: then all of them see it in this time.
    if (comes_while_others_are_told(calls, duplicate)) return;
    duplicate.give_up();
    throw_timeout(limit, calls);
  }
}

}  // namespace

MPI_Comm duplicate_within(MPI_Comm user, double limit) {
  const ErrorsReturned returned(user);
  auto& duplicate = find_or_add(user);
  try {
    wait(user, limit, duplicate);
  } catch (const MpiError&) {
    // The next call begins anew, unless MPI still writes to this one.
    if (duplicate.request == MPI_REQUEST_NULL) take(user, duplicate);
    throw;
  }
  return take(user, duplicate);
}

}  // namespace tessera::detail
