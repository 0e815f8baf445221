// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// A mistake that UndefinedBehaviorSanitizer must find: scripts/nightly planted.
#include <limits>

int main(int argc, char**) {
  const volatile int sum = std::numeric_limits<int>::max() + argc;
  return sum > 0 ? 1 : 0;
}
