// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <stdexcept>
#include <string>
#include <utility>

namespace tessera {

/// Base of everything Tessera throws. The message names the function, what was expected and what
/// was given.
class Error : public std::runtime_error {
 public:
  /// `file` and `line`: of the check that failed, by default the place of the call.
  explicit Error(const std::string& message, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE())
      : std::runtime_error(message), file_(file), line_(line) {}

  /// Source file and line of the check that failed.
  const char* file() const noexcept { return file_; }
  /// Line of that check.
  int line() const noexcept { return line_; }

 private:
  const char* file_;
  int line_;
};

/// An argument that no call of this function accepts.
class InvalidArgument : public Error {
 public:
  explicit InvalidArgument(const std::string& message, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// A tensor whose placements are not those that the callee asked for.
class PlacementMismatch : public Error {
 public:
  explicit PlacementMismatch(const std::string& message, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// Tensors or arguments that live on different meshes.
class MeshMismatch : public Error {
 public:
  explicit MeshMismatch(const std::string& message, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// An MPI call that returned an error code, or MPI used outside its lifetime.
class MpiError : public Error {
 public:
  explicit MpiError(const std::string& message, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// A file that is missing, damaged, of another type, or cannot be written.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// A peer that did not arrive in time.
class Timeout : public Error {
 public:
  explicit Timeout(const std::string& message, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// Throws E unless `condition` holds. `message` is a string, or a callable that makes one: it is
/// called only on failure.
template <std::derived_from<Error> E = InvalidArgument, class Message>
void require(bool condition, Message&& message, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
  if (condition) [[likely]]
    return;
  if constexpr (std::invocable<Message>)
    throw E(std::forward<Message>(message)(), file, line);
  else
    throw E(std::forward<Message>(message), file, line);
}

}  // namespace tessera
