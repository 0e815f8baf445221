// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <fmt/format.h>

#include <tessera/extents/factor.hpp>
#include <tessera/extents/hash.hpp>

namespace tessera::detail {
namespace {

std::string to_string(const Factor& number) {
  if (number.is_integer()) return fmt::format("{}", number.integer());
  if (number.imaginary() == 0) return fmt::format("{}", number.real());
  return fmt::format("({}, {})", number.real(), number.imaginary());
}

std::uint64_t hash_of(std::uint64_t seed, const Factor& number) {
  seed = hash_combine(seed, std::bit_cast<std::uint64_t>(number.real()));
  seed = hash_combine(seed, std::bit_cast<std::uint64_t>(number.imaginary()));
  return hash_combine(seed, static_cast<std::uint64_t>(number.integer()));
}

}  // namespace

std::uint64_t hash_of(const Scaling& scaling) {
  return hash_of(hash_of(1, scaling.alpha), scaling.beta);
}

std::string to_string(const Scaling& scaling) {
  return fmt::format("{} times the source plus {} times what is there", to_string(scaling.alpha),
                     to_string(scaling.beta));
}

}  // namespace tessera::detail
