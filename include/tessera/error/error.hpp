// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tessera {

namespace detail {
struct ErrorAccess;
}

/// An Error is the base of everything that Tessera throws. The message names the function, what was
/// expected and what was given.
class Error : public std::runtime_error {
 public:
  /// Takes `file` and `line` of the check that failed, by default those of the constructor call.
  explicit Error(const std::string& message, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE())
      : std::runtime_error(message), file_(file), line_(line) {}

  /// Returns the source file of the check that failed.
  const char* file() const noexcept { return file_; }
  /// Returns the line of the check that failed.
  int line() const noexcept { return line_; }

 private:
  friend detail::ErrorAccess;

  const char* file_;
  int line_;
};

/// Reports an argument that no call of the function accepts.
class InvalidArgument : public Error {
 public:
  explicit InvalidArgument(const std::string& message, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// Reports a tensor whose placements differ from those that the called function expects.
class PlacementMismatch : public Error {
 public:
  explicit PlacementMismatch(const std::string& message, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// Reports tensors or arguments that live on different meshes.
class MeshMismatch : public Error {
 public:
  explicit MeshMismatch(const std::string& message, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// Reports an MPI call that returned an error code, or a use of MPI outside its lifetime.
class MpiError : public Error {
 public:
  explicit MpiError(const std::string& message, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// Reports a file that is missing, damaged, of another type, or cannot be written.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// Reports a rank that did not arrive within the time limit.
class Timeout : public Error {
 public:
  explicit Timeout(const std::string& message, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE())
      : Error(message, file, line) {}
};

/// Throws E unless `condition` holds. `message` is a string, or a callable that returns one and is
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

namespace detail {

struct ErrorAccess {
  /// Puts "function: " in front of a text that does not name a function yet, which is one that
  /// begins with "expected" or "waited", and in place of the name of a handle's class.
  static void name(Error& error, const char* function) {
    std::string_view text = error.what();
    for (const std::string_view handle : {"DeviceMesh: ", "Communicator: "})
      if (text.starts_with(handle)) text.remove_prefix(handle.size());
    if (!text.starts_with("expected") && !text.starts_with("waited")) return;
    static_cast<std::runtime_error&>(error) =
        std::runtime_error(std::string(function) + ": " + std::string(text));
  }
};

/// Returns body(). Checks that several public functions share throw texts that name no function,
/// such as "expected 2 placements, …". The public function runs them in here, or in collectively(),
/// which makes it "redistribute: expected 2 placements, …".
template <class Body>
decltype(auto) named(const char* function, Body&& body) {
  try {
    return body();
  } catch (Error& error) {
    ErrorAccess::name(error, function);
    throw;
  }
}

}  // namespace detail

}  // namespace tessera
