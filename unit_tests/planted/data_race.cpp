// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// A mistake that ThreadSanitizer must find: scripts/nightly planted.
#include <thread>

int main() {
  int count = 0;
  std::thread other([&] { ++count; });
  ++count;
  other.join();
  return count > 0 ? 0 : 1;
}
