// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>

namespace tessera::test {

using Generator = std::mt19937_64;

/// Returns a random number from low to high, both included.
inline int draw(Generator& generator, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(generator);
}

/// Returns TESSERA_TEST_SEED, which repeats a run; if it is not set, a fixed seed.
inline unsigned seed() {
  const char* text = std::getenv("TESSERA_TEST_SEED");
  return text == nullptr ? 20261121U : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

/// Returns how many cases a random test runs: TESSERA_TEST_CASES, which is then printed, or
/// `usual`.
inline int cases(int usual) {
  const char* text = std::getenv("TESSERA_TEST_CASES");
  if (text == nullptr) return usual;
  const int number = std::atoi(text);
  std::printf("%d cases\n", number);
  return number;
}

}  // namespace tessera::test
