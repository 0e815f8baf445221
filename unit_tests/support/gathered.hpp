// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <tessera/comm/collectives.hpp>

namespace tessera::test {

/// Returns the strings or vectors of all ranks of a group, by position in the group. Collective
/// over the group.
template <class Values>
std::vector<Values> gathered(const Group& group, const Values& mine) {
  std::vector<Values> result;
  for (const auto& bytes :
       all_gather_v(group, std::as_bytes(std::span(mine)), TraceKind::metadata, "test")) {
    result.emplace_back(bytes.size() / sizeof mine[0], typename Values::value_type());
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(result.back())).begin());
  }
  return result;
}

}  // namespace tessera::test
