// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// A mistake that LeakSanitizer and valgrind must find: scripts/nightly planted.
#include <cstdlib>

int main() {
  void* volatile memory = std::malloc(100);
  memory = nullptr;
}
