// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "table.hpp"

namespace tessera::perf {

namespace {

using Kinds = std::vector<Kind>;

/// Returns the variant with the smallest median among these kinds; null if there is none.
const Timed* best(const Measured& measured, const Kinds& kinds) {
  const Timed* result = nullptr;
  for (const auto& timed : measured.variants)
    if (std::ranges::find(kinds, timed.kind) != kinds.end() &&
        (result == nullptr || timed.median() < result->median()))
      result = &timed;
  return result;
}

std::string milliseconds(const Timed* timed) {
  return timed == nullptr ? "-" : fmt::format("{:.4g}", timed->median() * 1e3);
}

std::string name(const Timed* timed) {
  return timed == nullptr ? "-" : timed->name;
}

std::string ratio(const Timed* a, const Timed* b) {
  return a == nullptr || b == nullptr ? "-" : fmt::format("{:.2f}", a->median() / b->median());
}

std::vector<std::string> cells(const Measured& measured) {
  const auto* const bound = best(measured, {Kind::bound});
  const auto* const hand = best(measured, {Kind::collective, Kind::direct});
  const auto* const plain = best(measured, {Kind::collective});
  const auto* const peer = best(measured, {Kind::peer});
  const auto* const into = best(measured, {Kind::ours_into});
  const auto* const allocating = best(measured, {Kind::ours_allocating});
  return {measured.test_case.name(),
          milliseconds(bound),
          milliseconds(into),
          milliseconds(allocating),
          milliseconds(hand),
          milliseconds(plain),
          milliseconds(peer),
          ratio(into, hand),
          ratio(into, plain),
          ratio(into, peer),
          ratio(into, bound),
          ratio(allocating, into),
          name(hand),
          name(plain)};
}

std::string line(const std::vector<std::string>& cells) {
  return fmt::format(
      "{:22} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7} {:>7} {:>7} {:>7}  {:26} {}\n",
      cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7], cells[8],
      cells[9], cells[10], cells[11], cells[12], cells[13]);
}

}  // namespace

std::string table(const std::vector<Measured>& measured) {
  auto text = line({"ms", "bound", "into", "alloc", "hand", "plain", "peer", "in/hand", "in/plain",
                    "in/peer", "in/bnd", "al/in", "best by hand", "best plain collective"});
  for (const auto& each : measured) text += line(cells(each));
  return text;
}

}  // namespace tessera::perf
