// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <tessera/error/log.hpp>

namespace tessera {
namespace {

thread_local LogScope* innermost_log = nullptr;

}  // namespace

LogScope::LogScope(LogObserver observer)
    : observer_(std::move(observer)), outer_(std::exchange(innermost_log, this)) {}

LogScope::~LogScope() {
  innermost_log = outer_;
}

void log(const LogRecord& record) {
  for (auto* scope = innermost_log; scope != nullptr; scope = scope->outer_)
    scope->observer_(record);
}

}  // namespace tessera
