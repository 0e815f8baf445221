// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// A mistake that AddressSanitizer and valgrind must find: scripts/nightly planted.
#include <cstdlib>

int main(int argc, char**) {
  auto* const numbers = static_cast<volatile int*>(std::malloc(4 * sizeof(int)));
  numbers[3 + argc] = 1;
  std::free(const_cast<int*>(numbers));
}
