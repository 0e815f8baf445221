// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For comm and the public calls: the control channel of a communicator, and the logs of its calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <mpi.h>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/agreement/detail/random_state.hpp>
#include <tessera/agreement/detail/statement.hpp>
#include <tessera/agreement/options.hpp>

#include "agreement/process_set.hpp"
#include "agreement/recorded_call.hpp"
#include "agreement/traces.hpp"

namespace tessera::detail {

/// A call that the ranks have compared.
struct CallInWords {
  std::string name;  ///< "redistribute"
  std::string text;  ///< with its arguments
};

/// The blocking calls, on all communicators: the innermost, which knows the one around it.
inline Operation* innermost_call = nullptr;

inline constexpr int nested_bits = 32;
/// Set in outermost calls, the last of their generation, and in calls on the same group inside
/// them.
inline constexpr std::uint64_t outermost_bit = std::uint64_t{1} << (nested_bits - 1);

/// Counts the outermost calls on a set of processes and on those around it.
constexpr std::uint64_t generation_of(std::uint64_t sequence) {
  return sequence >> nested_bits;
}

/// Of two calls on one set of processes with the same number, at most one is made.
constexpr bool is_outermost(std::uint64_t sequence) {
  return (sequence & ((std::uint64_t{1} << nested_bits) - 1)) == outermost_bit;
}

/// The calls on one ordered group of ranks of a communicator, shared by all equal meshes.
struct OperationLog {
  Control& control;
  std::uint64_t key;        ///< of ranks and shape
  std::vector<int> ranks;   ///< of the communicator, by position
  ProcessSet& set;          ///< the same, as all communicators know them
  int position;             ///< of this rank; -1 if it is not one of them
  std::string name;         ///< of the mesh, for messages
  std::uint64_t begun = 0;  ///< sequence number of the newest call
  bool is_alone = false;    ///< a group of one rank: there is nothing to compare
  std::unordered_map<std::uint64_t, CallInWords> agreed = {};  ///< by fingerprint
  std::uint64_t epoch = 1;                                     ///< changes when `agreed` is emptied
  std::array<RecordedCall, 256> past = {};                     ///< a ring
  std::size_t oldest = 0;                                      ///< in it
  std::vector<std::unique_ptr<Traces>> spare_traces = {};      ///< for calls to come
  /// Of calls that failed before they were compared, the last ones.
  struct FailedText {
    std::uint64_t sequence;
    std::string text;
  };
  std::deque<FailedText> failed = {};
  RandomState random = {};

  bool contains(int rank) const;
  /// `otherwise` if it is not one of those compared.
  CallInWords in_words(std::uint64_t fingerprint, const char* otherwise) const;
  /// The number of the next call. Calls inside others, of groups around this one, are numbered
  /// within their outermost one, so that all ranks go on alike after it, however far each has come
  /// in it.
  std::uint64_t begin(bool is_outermost) {
    const auto first = set.generation << nested_bits;
    begun = is_outermost ? first | outermost_bit : std::max(first, begun) + 1;
    return begun;
  }
  /// Whether the ring has turned once more.
  bool remember(const RecordedCall& call) {
    set.forgotten = std::max(set.forgotten, past[oldest].sequence);
    past[oldest] = call;
    oldest = (oldest + 1) % past.size();
    return oldest == 0;
  }
  Traces* lend_traces();
  void take_back(Traces* traces);
  void keep_text(std::uint64_t sequence, const std::string& text);
};

/// A call that goes on while its caller does something else.
struct Background {
  Operation* operation;
  void* object;
  bool (*advance)(void* object);  ///< whether more is to do; throws nothing
  std::uint64_t number;           ///< in start order
};

/// The control channel of a communicator: what its ranks tell one another besides data.
///
/// Three kinds of messages: rounds of comparisons; queries ("I wait for you in this call") of ranks
/// that have waited longer than their patience; statements about calls that fail. None has to be
/// answered at a given time, and what comes too late is known by its OperationId and dropped.
class Control {
 public:
  /// `processes`: by rank, a number that is the same on every communicator.
  Control(MPI_Comm handle, int rank, std::vector<int> processes);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// All calls are new to the ranks again.
  void forget_agreements();
  /// Before the communicator is freed.
  void close() noexcept;

  /// The log of a group, made at first use. Local.
  OperationLog& log(std::uint64_t key, std::span<const int> ranks, const std::string& name);

  /// For the flight recorder: all logs; the calls of one that are not over, outermost first; and
  /// its ranks as numbers that are the same on every communicator.
  std::vector<const OperationLog*> logs() const;
  std::vector<RecordedCall> calls_under_way(const OperationLog& log) const;
  std::vector<int> processes_of(const OperationLog& log) const;

  /// No message of a failed call is left to be received, and none of the channel to leave.
  bool is_drained() const { return leftovers_.empty() && transfers_.empty(); }
  /// Some message of a failed call is left to be received, on whichever communicator.
  static bool has_leftovers();
  /// Receives and handles what has arrived: calls that others have given up are doomed. Local.
  void poll();
  /// The same on all communicators.
  static void poll_all();
  /// The same if this rank has not listened for a while; after half the time limit long enough to
  /// hear all that was said.
  void catch_up(double now);
  /// The innermost blocking call on this communicator; null if there is none.
  Operation* innermost() const;
  /// Whether one of the blocking calls, on whichever communicator, is doomed. A call that goes on
  /// in the background does not see those around it.
  static bool must_give_up() { return outermost_doomed() != nullptr; }
  /// Leaves the blocking calls down to the outermost doomed one: tells their ranks, then throws
  /// Doomed.
  [[noreturn]] static void give_up();
  /// The same for a call that has waited too long.
  [[noreturn]] static void time_out(Operation& call);

  /// Tells `ranks` that this one waits for them in this call.
  void query(const Operation& call, std::span<const int> ranks);
  void send_round(int rank, std::int32_t round, OperationId id, std::uint64_t fingerprint);
  /// Another rank has answered that all have compared this call's fingerprint before.
  bool is_known_to_agree(OperationId id) const { return known_to_agree_.contains(id); }
  /// The fingerprint that `rank` sent in this round, once it has arrived.
  std::optional<std::uint64_t> take_round(int rank, std::int32_t round, OperationId id);

  /// Takes over messages of a failing call that nobody has taken or sent until its time was over.
  void leave_open(std::vector<MPI_Request> requests);
  /// See keep_for_messages().
  void keep_memory(std::uint64_t before, const std::shared_ptr<void>& memory);

  /// Ranks compare calls: there is something to hear.
  bool is_listening() const { return options.level != Agreement::none; }
  /// Lets all of them come to their end, for at most the time limit.
  void finish_detached() noexcept;
  /// Lets calls in the background go on, in start order, and returns whether any has more to do: all,
  /// or those that may be mistaken for this one.
  bool advance_detached(const Operation* mistaken = nullptr);

  AgreementOptions options = {};
  bool is_oversubscribed = true;     ///< until known
  std::vector<Background> detached;  ///< in start order
  std::uint64_t ever_detached = 0;
  std::uint64_t turns = 0;  ///< of all calls, in which data moved
  std::uint64_t tag_range;  ///< number of tags for data
  double last_poll;         ///< seconds(); nobody has said anything before it was made
  bool has_news = false;    ///< it is time to listen, or end() may have something to forget

 private:
  friend Operation;

  /// A nonblocking message of the channel, or a leftover one that is received and dropped.
  struct Transfer {
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct FailedCall {
    Statement statement;
    std::map<int, std::int32_t> received;
  };
  /// Messages with data that `rank` has sent for a call that failed.
  struct Leftover {
    int rank;
    std::int32_t tag;
    std::int32_t messages;
  };
  /// Messages that a failing call has left under way, and the memory that they read and write.
  struct OpenMessages {
    std::uint64_t number;  ///< ever_left_open
    std::vector<MPI_Request> requests;
    std::vector<std::shared_ptr<void>> memory = {};
  };
  using Round = std::tuple<OperationId, std::int32_t, int>;

  void send(int rank, std::vector<std::byte> bytes);
  void handle(int rank, std::span<const std::byte> bytes);
  void handle_query(int rank, OperationId id, std::uint64_t fingerprint, bool is_comparing);
  void end(Operation& operation);
  void handle_statement(int rank, Statement statement);
  void handle_past(int rank, const Statement& statement);
  void handle_future(int rank, Statement statement);
  void send_statement(int rank, const Statement& statement);
  void tell_not_made(int rank, OperationId id, std::uint64_t fingerprint);
  bool has_number_of(const Operation& operation, OperationId id) const;
  bool is_within_failed(OperationId id) const;
  void tell_excluded(int rank, OperationId about, Statement failed);
  void tell_completed(int rank, OperationId id, const RecordedCall& past,
                      std::uint64_t fingerprint);
  void tell_elsewhere(int rank, OperationId about, const Operation& instead);
  void add_leftover(int rank, const Statement& statement, std::int32_t tag, std::int32_t received);
  void receive_leftovers();
  void test_open_messages();

  const Statement& keep(int rank, Statement statement);
  const Statement* heard(OperationId about, int rank) const;
  const Statement* heard(OperationId about, OperationId instead, int rank) const;
  FailedCall* find_failed(OperationId id);
  Operation* find(OperationId id) const;
  static Operation* outermost_doomed();
  static void abandon_within(const Operation* call);
  bool has_begun(OperationId id) const;
  const RecordedCall* past_call(OperationId id) const;
  OperationId later_call(OperationId id, std::uint64_t fingerprint) const;
  void skip(const Call& call);
  void go_on_after(OperationId latest, const Operation& own);
  bool is_counted_by_another(const OperationLog& log);
  void forget(OperationId id);
  void forget_passed();
  void forget_within_failed();

  MPI_Comm handle_;
  int rank_;
  std::vector<int> processes_;  ///< by rank
  std::unordered_map<std::uint64_t, OperationLog> logs_;
  std::list<Transfer> transfers_;
  std::map<Round, std::uint64_t> rounds_;
  std::map<OperationId, std::map<int, Statement>> statements_;
  std::set<std::tuple<OperationId, OperationId, int, bool>> told_;  ///< where this rank is instead
  /// Ranks that wait in vain in earlier calls, while this one was in a call.
  std::set<std::pair<OperationId, int>> held_up_;
  std::set<OperationId> known_to_agree_;
  std::deque<FailedCall> failed_;
  std::deque<Leftover> leftovers_;
  std::vector<OpenMessages> open_messages_;
  bool is_advancing_ = false;
  std::exception_ptr settled_;    ///< the last exception that a whole group has thrown
  std::uint64_t settled_by_ = 0;  ///< key of that group
  std::string settled_cause_;     ///< its text without ranks; empty if that is the same
};

/// What a rank of a group has stated about a call; empty where nothing was heard.
struct Heard {
  int rank;  ///< in the group; of the communicator where calls on several groups exclude one another
  std::optional<Statement> statement = {};
  bool is_held_up = false;  ///< waits in vain in an earlier call
};

/// What all ranks throw, from what was heard of them, by rank.
Problem verdict(const char* function, const OperationLog& log, double timeout,
                const std::vector<Heard>& all);

/// The text of the error that all throw, without the ranks that have it; empty if there is no error.
std::string cause(const std::vector<Heard>& all);

/// Of a call inside another one that fails.
Problem given_up(const char* function);
/// The problem that an exception is.
Problem problem_of(const std::exception_ptr& exception);
/// Whoever has this problem takes another rank for dead, or late: it waits for no more than a second
/// until its messages are taken.
bool may_have_left(const Problem& problem);
/// Throws what has this kind and text.
[[noreturn]] void throw_problem(const Problem& problem);

}  // namespace tessera::detail
