// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/comm/agreement.hpp>
#include <tessera/comm/detail/control.hpp>
#include <tessera/error/error.hpp>

namespace tessera::detail {
namespace {

using Statements = std::vector<std::optional<Statement>>;

template <class Predicate>
std::vector<int> positions_where(const Statements& statements, const Predicate& holds) {
  std::vector<int> result;
  for (std::size_t i = 0; i < statements.size(); ++i)
    if (holds(statements[i])) result.push_back(static_cast<int>(i));
  return result;
}

const Statement& first_of(const Statements& statements, const std::vector<int>& positions) {
  return *statements[static_cast<std::size_t>(positions.front())];
}

bool has_error(const std::optional<Statement>& statement) {
  return statement && statement->problem.kind != ErrorKind::none &&
         statement->problem.kind != ErrorKind::timeout;
}

bool has_timed_out(const std::optional<Statement>& statement) {
  return statement && statement->problem.kind == ErrorKind::timeout;
}

/// The error of the lowest position, the positions that have it too, and those that have others.
Problem first_error(const Statements& statements) {
  const auto failed = positions_where(statements, has_error);
  const auto& first = first_of(statements, failed).problem;
  const auto same = positions_where(statements, [&](const auto& statement) {
    return has_error(statement) && statement->problem.text == first.text &&
           statement->problem.kind == first.kind;
  });
  auto text = first.text + on_ranks(same, statements.size());
  std::vector<int> others;
  std::ranges::set_difference(failed, same, std::back_inserter(others));
  if (!others.empty()) text += "; other errors" + on_ranks(others, statements.size());
  return {first.kind, text};
}

Problem missing_ranks(const char* function, const OperationLog& log, std::uint64_t sequence,
                      double timeout, const Statements& statements) {
  const auto missing = positions_where(
      statements, [](const auto& statement) { return !statement.has_value(); });
  const auto whom = missing.empty() ? std::string("messages")
                                    : fmt::format("mesh rank{} {}", missing.size() > 1 ? "s" : "",
                                                  fmt::join(missing, ", "));
  return {ErrorKind::timeout, fmt::format("{}: waited {:g} s for {} of mesh {}, in its call {}",
                                          function, timeout, whom, log.name, sequence)};
}

/// "A on ranks 0, 2 and B on rank 1".
std::string list_of_calls(const Statements& statements) {
  constexpr std::size_t listed = 4;
  std::vector<std::string> calls;
  std::vector<bool> is_listed(statements.size());
  for (std::size_t i = 0; i < statements.size() && calls.size() < listed; ++i) {
    if (!statements[i] || is_listed[i]) continue;
    const auto& call = statements[i]->call;
    const auto same = positions_where(statements, [&](const auto& other) {
      return other && other->call.fingerprint == call.fingerprint && other->call.id == call.id;
    });
    for (const int position : same) is_listed[static_cast<std::size_t>(position)] = true;
    const bool is_alone = same.size() == statements.size();
    calls.push_back(call.text + (is_alone ? " everywhere" : on_ranks(same, statements.size())));
  }
  return fmt::format("{}", fmt::join(calls, " and "));
}

Problem different_calls(const OperationLog& log, const Statements& statements) {
  const auto heard = positions_where(
      statements, [](const auto& statement) { return statement.has_value(); });
  const auto& first = first_of(statements, heard);
  const bool is_elsewhere = std::ranges::any_of(statements, [&](const auto& statement) {
    return statement && statement->call.id != first.call.id;
  });
  return {is_elsewhere ? ErrorKind::mesh_mismatch : ErrorKind::invalid_argument,
          fmt::format("{}: expected the same call on every rank of mesh {}, got {}",
                      first.call.name, log.name, list_of_calls(statements))};
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

Problem verdict(const char* function, const OperationLog& log, std::uint64_t sequence,
                double timeout, const Statements& statements) {
  if (std::ranges::any_of(statements, has_error)) return first_error(statements);
  if (std::ranges::any_of(statements, has_timed_out))
    return missing_ranks(function, log, sequence, timeout, statements);
  return different_calls(log, statements);
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
