// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <tessera/mpi/trace.hpp>

namespace {

using namespace tessera;

const TraceEvent event{TraceKind::exchange, "test", 2, 8, 8, 1, 1, 0.0};

TEST(Trace, is_silent_without_an_observer) {
  emit(event);
}

TEST(Trace, tells_nested_observers_innermost_first) {
  std::string received;
  const TraceScope outer([&](const TraceEvent&) { received += "outer "; });
  {
    const TraceScope inner([&](const TraceEvent&) { received += "inner "; });
    emit(event);
  }
  emit(event);

  EXPECT_EQ(received, "inner outer outer ");
}

TEST(Trace, tells_observers_of_the_emitting_thread_only) {
  int received = 0;
  const TraceScope scope([&](const TraceEvent&) { ++received; });

  std::thread([] { emit(event); }).join();

  EXPECT_EQ(received, 0);
}

}  // namespace
