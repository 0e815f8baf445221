// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include <tessera/error/error.hpp>

namespace tessera::test {

/// Returns the message of the E that `call` throws; otherwise "no error", or "another error: …".
template <class E, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

/// Returns the message of the InvalidArgument that `call` throws, as message_of() does.
template <class Call>
std::string invalid_argument_of(const Call& call) {
  return message_of<InvalidArgument>(call);
}

}  // namespace tessera::test
