// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/agreement/detail/statement.hpp>
#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/mpi/detail/tags.hpp>

namespace tessera {

namespace detail {
class Control;
struct DataMessage;
struct Failure;
struct OperationLog;
struct RecordedCall;
struct Traces;

/// Thrown through a call that was given up; its Operation turns it into what all ranks throw.
struct Doomed {};
}  // namespace detail

/// Name of a public function, hashed by the compiler. The text has static storage.
struct FunctionName {
  const char* text;
  std::uint64_t hash = 0;

  consteval FunctionName(const char* name) : text(name) {
    for (; *name != '\0'; ++name) hash = hash_combine(hash, static_cast<unsigned char>(*name));
  }
};

/// A call with its arguments in words, made only when it is needed. Refers to a callable that
/// returns a std::string.
class CallText {
 public:
  CallText() = default;
  template <class Make>
  requires std::is_invocable_r_v<std::string, const Make&> CallText(const Make& make)
      : object_(&make),
        make_([](const void* object) { return (*static_cast<const Make*>(object))(); }) {}

  /// Makes the words; none without a callable.
  std::string operator()() const { return make_ == nullptr ? "" : make_(object_); }

 private:
  const void* object_ = nullptr;
  std::string (*make_)(const void*) = nullptr;
};

/// A call that the ranks of a group have compared.
struct AgreedCall {
  std::uint64_t name = 0;         ///< its hash
  std::uint64_t arguments = 0;    ///< theirs
  std::uint64_t fingerprint = 0;  ///< of both
  std::uint64_t epoch = 0;        ///< of the group's OperationLog
};

/// One collective call on this rank, from its first check to its end.
///
/// Calls on a group are numbered. Their fingerprints (name and arguments) are compared by a small
/// reduction when one is new; later messages carry them in their tags, which do not match where
/// fingerprints differ. Whatever one rank throws inside a call, all ranks throw that cannot
/// complete it: see collectively().
class Operation {
 public:
  /// Begins the next call on the group of `log`. Where that is null, as on ranks off the mesh,
  /// nothing is compared.
  Operation(detail::OperationLog* log, FunctionName name) : log_(log), name_(name) {
    if (log_ != nullptr) begin();
  }
  ~Operation() {
    if (log_ != nullptr) end();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// States what this rank has called, before its first message. The ranks compare fingerprints if
  /// this one is new to the group or the level is always: then it is collective over the group.
  ///
  /// `last` is the caller's note of the call that it made last on this group: where it is the same,
  /// nothing is looked up.
  void agree(std::uint64_t arguments, const CallText& call, AgreedCall& last);
  /// The same without a note.
  void agree(std::uint64_t arguments, const CallText& call);
  /// The same for calls without messages, which all ranks make alike: compares at level always only.
  /// Ranks that wait for this one learn what it has called.
  void state(std::uint64_t arguments, const CallText& call);
  /// The same for calls that are rare or that nothing can interrupt: compares at every level but
  /// none.
  void agree_always(std::uint64_t arguments, const CallText& call);

  /// Inside a handler: settles with the other ranks what all throw, and throws it.
  [[noreturn]] void fail();

  /// Goes on in the background: advance(object) is called, in start order with others, while any
  /// call waits. It returns whether more is to do, and throws nothing.
  void detach(void* object, bool (*advance)(void* object));
  /// Blocks again, until the end or detach().
  void attach();
  /// The same while it goes on in the background: the calls that wait meanwhile are none of its
  /// business, whatever becomes of them.
  void attach_apart();

  /// Books bytes of this call, for the flight recorder.
  void add_bytes(std::int64_t sent, std::int64_t received) {
    bytes_sent_ += sent;
    bytes_received_ += received;
  }
  /// Books a message with data of this call.
  void note(const detail::DataMessage& message);

  /// For a doomed call in the background: tells the other ranks, then throws Doomed.
  [[noreturn]] void give_up();
  /// For an exception that leaves messages under way: tells the other ranks at once that the call
  /// fails; why, they learn by fail().
  void announce_failure();
  /// The same for an exception in the background, which fail() throws later: also tells them why.
  void announce(const std::exception_ptr& thrown) noexcept;
  /// The call fails because some rank may be dead.
  bool may_have_lost_a_rank() const;

  /// Of the public function.
  const char* name() const { return name_.text; }
  /// With its arguments, once the ranks have compared them: "redistribute of double from …".
  std::string in_words() const;
  /// "(dp=2, tp=4)"
  const std::string& mesh() const;
  /// "mesh rank 2 of mesh (4)" for a rank of the communicator.
  std::string rank_in_words(int rank) const;
  /// Other ranks have given this call up: it must fail.
  bool is_doomed() const { return is_doomed_; }
  /// Of the messages of this call.
  int tag() const { return tag_; }
  /// Of its chunks in a window: even, unlike 0.
  std::uint64_t stamp() const;

 private:
  friend detail::Control;
  bool has_peers() const;
  detail::Traces& traces();
  detail::Failure& failure() const;
  void begin() noexcept;
  void begin_within() noexcept;
  void end() noexcept;
  void end_with_traces() noexcept;
  detail::RecordedCall record() const;
  detail::OperationId id() const;
  detail::OperationId excluded() const;
  void set_fingerprint(std::uint64_t fingerprint);
  bool may_be_mistaken_for(const Operation& other) const;
  void await_those_mistaken_for_it();
  bool state_call(std::uint64_t arguments, const CallText& call);
  void agree_slowly(std::uint64_t arguments, const CallText& call, AgreedCall& last);
  bool one_has_failed_inside() const;
  void compare(const CallText& call);
  void doom(const detail::Call* conflict = nullptr);
  void join(const detail::Problem& problem, detail::Standing standing);
  void tell_those_excluded();
  void await_statements();
  detail::Problem own_problem(const std::exception_ptr& thrown) const;
  const detail::OperationLog& court() const;
  const detail::Statement* heard(int rank) const;
  detail::Problem settle();
  void tell_those_who_come_late(const detail::Problem& problem, const std::vector<int>& silent);
  detail::Call call() const;
  detail::Statement own_statement(int receiver) const;
  std::int32_t messages(int rank, bool is_sent) const;

  detail::OperationLog* log_;
  FunctionName name_;
  std::uint64_t sequence_ = 0;
  std::uint64_t fingerprint_ = 0;
  Operation* outer_ = nullptr;        // on whichever communicator
  const CallText* text_ = nullptr;    // while agree() runs
  detail::Traces* traces_ = nullptr;  // lent by the log
  int tag_ = detail::plain_tag;
  bool closes_ = false;  // its generation, when it ends
  bool has_agreed_ = false;
  bool is_doomed_ = false;
  bool is_detached_ = false;
  bool is_apart_ = false;  ///< from the calls around it
  bool has_failed_ = false;
  const void* caller_ = nullptr;
  double time_ = 0;
  std::int64_t bytes_sent_ = 0;
  std::int64_t bytes_received_ = 0;
};

namespace detail {

/// For common(): the exception that passes is thrown by all ranks.
void note_common_exception();

/// Runs checks of what all ranks know alike, from messages that each has received in full: what
/// they throw is thrown by all, who need not ask one another.
template <class Check>
auto common(const Check& check) {
  try {
    return check();
  } catch (...) {
    note_common_exception();
    throw;
  }
}

}  // namespace detail

/// Runs body(operation): a collective call on the group of `log`.
///
/// An exception on one rank is thrown by every rank that cannot complete the call without it: the
/// same type and text, that of the lowest position, followed by the ranks that threw it unless all
/// did. So are calls that differ between ranks: InvalidArgument, or MeshMismatch if they are on
/// different groups. A rank that waits longer than the communicator's time limit throws Timeout.
/// Messages already under way are drained, and the next call works.
template <class Body>
auto collectively(detail::OperationLog* log, FunctionName name, Body&& body) {
  Operation operation(log, name);
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body&, Operation&>>) {
      detail::named(name.text, [&] { body(operation); });
      if (operation.is_doomed()) throw detail::Doomed();
    } else {
      auto result = detail::named(name.text, [&] { return body(operation); });
      if (operation.is_doomed()) throw detail::Doomed();
      return result;
    }
  } catch (...) {
    operation.fail();
  }
}

}  // namespace tessera
