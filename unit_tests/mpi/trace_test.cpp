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
  std::string told;
  const TraceScope outer([&](const TraceEvent&) { told += "outer "; });
  {
    const TraceScope inner([&](const TraceEvent&) { told += "inner "; });
    emit(event);
  }
  emit(event);

  EXPECT_EQ(told, "inner outer outer ");
}

TEST(Trace, tells_observers_of_the_emitting_thread_only) {
  int told = 0;
  const TraceScope scope([&](const TraceEvent&) { ++told; });

  std::thread([] { emit(event); }).join();

  EXPECT_EQ(told, 0);
}

}  // namespace
