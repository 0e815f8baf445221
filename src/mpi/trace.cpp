// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <tessera/mpi/trace.hpp>

namespace tessera {
namespace {

thread_local TraceScope* innermost = nullptr;

}  // namespace

TraceScope::TraceScope(TraceObserver observer)
    : observer_(std::move(observer)), outer_(std::exchange(innermost, this)) {}

TraceScope::~TraceScope() {
  innermost = outer_;
}

bool is_traced() {
  return innermost != nullptr;
}

void emit(const TraceEvent& event) {
  for (const auto* scope = innermost; scope != nullptr; scope = scope->outer_)
    scope->observer_(event);
}

}  // namespace tessera
