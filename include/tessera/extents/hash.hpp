// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ranges>

namespace tessera {

/// Returns a hash of `seed` and `value` by splitmix64; swapping the two gives another hash. Every
/// rank and platform gets the same hash, unlike std::hash.
constexpr std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t x = seed * 0xd6e8feb86659fd93u + 0x9e3779b97f4a7c15u + value;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Returns a hash of `seed`, the length of a range of numbers, and its elements.
template <std::ranges::sized_range Range>
constexpr std::uint64_t hash_range(std::uint64_t seed, const Range& values) {
  seed = hash_combine(seed, std::ranges::size(values));
  for (const auto& value : values) seed = hash_combine(seed, static_cast<std::uint64_t>(value));
  return seed;
}

}  // namespace tessera
