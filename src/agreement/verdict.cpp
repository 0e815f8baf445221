// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error/error.hpp>

#include "agreement/control.hpp"
#include "agreement/on_ranks.hpp"

namespace tessera::detail {
namespace {

using All = std::vector<Heard>;

template <class Predicate>
All those(const All& all, const Predicate& holds) {
  All result;
  std::ranges::copy_if(all, std::back_inserter(result), holds);
  return result;
}

bool was_heard(const Heard& heard) {
  return heard.statement.has_value();
}
bool has_error(const Heard& heard) {
  return was_heard(heard) && heard.statement->problem.kind != ErrorKind::none &&
         heard.statement->problem.kind != ErrorKind::timeout;
}
bool has_timed_out(const Heard& heard) {
  return was_heard(heard) && heard.statement->problem.kind == ErrorKind::timeout;
}

/// It has settled without this rank what it throws.
bool was_told(const Heard& heard) {
  return has_timed_out(heard) && !heard.statement->problem.text.empty();
}
/// It is in the call and settles what it throws, as this rank does.
bool is_undecided(const Heard& heard) {
  return was_heard(heard) && heard.statement->standing == Standing::inside && !was_told(heard);
}

bool was_abandoned(const Heard& heard) {
  return was_heard(heard) && heard.statement->standing == Standing::abandoned;
}

std::vector<int> ranks_of(const All& some) {
  std::vector<int> ranks;
  for (const auto& heard : some) ranks.push_back(heard.rank);
  return ranks;
}

std::string listed(const All& some, const All& all) {
  return on_ranks(ranks_of(some), all.size());
}

/// An exception of the user is an Error on the ranks that did not throw it.
ErrorKind as_thrown_elsewhere(ErrorKind kind) {
  return kind == ErrorKind::other ? ErrorKind::error : kind;
}

/// The error of the lowest rank, the ranks that have it too, and those that have others.
Problem first_error(const All& all) {
  const auto failed = those(all, has_error);
  const auto& first = failed.front().statement->problem;
  const auto is_same = [&](const Heard& heard) {
    const auto& problem = heard.statement->problem;
    return problem.text == first.text &&
           as_thrown_elsewhere(problem.kind) == as_thrown_elsewhere(first.kind);
  };
  const auto others = those(failed, [&](const Heard& heard) { return !is_same(heard); });
  auto text = first.text + listed(those(failed, is_same), all);
  if (!others.empty()) text += "; other errors" + listed(others, all);
  return {first.kind, text};
}

Problem missing_ranks(const char* function, const OperationLog& log, double timeout,
                      const All& all) {
  const auto silent = those(all, [](const Heard& heard) { return !was_heard(heard); });
  // Who comes late is told by all who waited what they threw. One alone may hear nobody any more.
  const auto told = those(all, was_told);
  if (!told.empty() && (silent.empty() || told.size() >= those(all, is_undecided).size()))
    return told.front().statement->problem;
  // Who was held up by a rank that did not come is not to blame.
  auto ranks = ranks_of(those(silent, [](const Heard& heard) { return !heard.is_held_up; }));
  if (ranks.empty()) ranks = ranks_of(silent);
  const auto whom = ranks.empty() ? std::string("messages") : "mesh " + ranks_in_words(ranks);
  return {ErrorKind::timeout,
          fmt::format("{}: waited {:g} s for {} of mesh {}", function, timeout, whom, log.name)};
}

bool is_same_call(const Call& a, const Call& b) {
  return a.fingerprint == b.fingerprint && a.id == b.id;
}

/// The text of a call; where it is the first one under another number, how many calls are between.
std::string described(const Call& call, const Call& first) {
  if (call.fingerprint != first.fingerprint || call.id.group != first.id.group ||
      call.id == first.id)
    return call.text;
  const auto number = generation_of(call.id.sequence), other = generation_of(first.id.sequence);
  const auto between = number < other ? other - number : number - other;
  return fmt::format("the same, {} call{} {}", between, between == 1 ? "" : "s",
                     number < other ? "earlier" : "later");
}

/// The text of a call that is not `first` but may have its text.
std::string told_apart(const Call& call, const Call& first) {
  constexpr std::size_t most = 16;
  auto text = described(call, first);
  if (text != first.text || is_same_call(call, first)) return text;
  if (call.group == first.group) return text + " with other arguments";
  return text + " of " + ranks_in_words(call.group, most);
}

/// "A (on ranks 0, 2) and B (on rank 1)".
std::string list_of_calls(const All& all) {
  constexpr std::size_t most = 4;
  const auto heard = those(all, was_heard);
  std::vector<std::string> calls;
  for (auto rest = heard; !rest.empty() && calls.size() < most;) {
    const auto first = rest.front().statement->call;
    const auto is_first = [&](const Heard& heard) {
      return is_same_call(heard.statement->call, first);
    };
    calls.push_back(told_apart(first, heard.front().statement->call) +
                    listed(those(rest, is_first), all));
    std::erase_if(rest, is_first);
  }
  return fmt::format("{}", fmt::join(calls, " and "));
}

Problem different_calls(const OperationLog& log, const All& all) {
  const auto heard = those(all, was_heard);
  const auto& first = heard.front().statement->call;
  const bool is_elsewhere = std::ranges::any_of(
      heard, [&](const Heard& other) { return other.statement->call.id.group != first.id.group; });
  return {is_elsewhere ? ErrorKind::mesh_mismatch : ErrorKind::invalid_argument,
          fmt::format("{}: expected the same call on every rank{}, got {}", first.name,
                      is_elsewhere ? "" : " of mesh " + log.name, list_of_calls(all))};
}

template <class E>
ErrorKind kind_if(const Error& error, ErrorKind kind, ErrorKind otherwise) {
  return dynamic_cast<const E*>(&error) != nullptr ? kind : otherwise;
}

ErrorKind kind_of(const Error& error) {
  auto kind = kind_if<InvalidArgument>(error, ErrorKind::invalid_argument, ErrorKind::error);
  kind = kind_if<PlacementMismatch>(error, ErrorKind::placement_mismatch, kind);
  kind = kind_if<MeshMismatch>(error, ErrorKind::mesh_mismatch, kind);
  kind = kind_if<MpiError>(error, ErrorKind::mpi_error, kind);
  kind = kind_if<IoError>(error, ErrorKind::io_error, kind);
  return kind_if<Timeout>(error, ErrorKind::timeout, kind);
}

}  // namespace

Problem verdict(const char* function, const OperationLog& log, double timeout, const All& all) {
  if (std::ranges::any_of(all, has_error)) return first_error(all);
  if (std::ranges::any_of(all, has_timed_out)) return missing_ranks(function, log, timeout, all);
  if (std::ranges::any_of(all, was_abandoned)) return given_up(function);
  return different_calls(log, all);
}

std::string cause(const All& all) {
  const auto first = std::ranges::find_if(all, has_error);
  return first == all.end() ? std::string() : first->statement->problem.text;
}

Problem given_up(const char* function) {
  return {ErrorKind::error, std::string(function) + ": given up with the call around it"};
}

Problem problem_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Doomed&) {
    return {};
  } catch (const Error& error) {
    return {kind_of(error), error.what()};
  } catch (const std::exception& error) {
    return {ErrorKind::other, error.what()};
  } catch (...) {
    return {ErrorKind::other, "an exception of unknown type"};
  }
}

void throw_problem(const Problem& problem) {
  switch (problem.kind) {
    case ErrorKind::invalid_argument:
      throw InvalidArgument(problem.text);
    case ErrorKind::placement_mismatch:
      throw PlacementMismatch(problem.text);
    case ErrorKind::mesh_mismatch:
      throw MeshMismatch(problem.text);
    case ErrorKind::mpi_error:
      throw MpiError(problem.text);
    case ErrorKind::io_error:
      throw IoError(problem.text);
    case ErrorKind::timeout:
      throw Timeout(problem.text);
    default:
      throw Error(problem.text);
  }
}

}  // namespace tessera::detail
