// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// What benchmarks report besides times.
#pragma once

#include <functional>

#include <tessera/tessera.hpp>

namespace tessera::perf {

/// Returns the exchanges of a call that this rank takes part in.
inline double exchanges_of(const std::function<void()>& call) {
  int exchanges = 0;
  const TraceScope scope([&](const TraceEvent& event) {
    if (event.kind == TraceKind::exchange) ++exchanges;
  });
  call();
  return exchanges;
}

/// Returns the largest difference of elements, relative to the largest element. Collective.
template <class A, class B>
double difference(const A& a, const B& b) {
  const auto [most, size] = items(ops::max(ops::abs(a - b)), ops::max(ops::abs(a)));
  return most / size;
}

}  // namespace tessera::perf
