// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agreement/on_ranks.hpp"
#include "comm/agree_on_error.hpp"

namespace tessera {
namespace {

std::vector<int> failed_positions(const std::vector<std::int64_t>& lengths) {
  std::vector<int> result;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] != 0) result.push_back(static_cast<int>(i));
  return result;
}

}  // namespace

std::optional<std::string> agree_on_error(const Group& group, const std::string& mine,
                                          const char* operation) {
  const auto lengths = all_gather_value(group, static_cast<std::int64_t>(mine.size()),
                                        TraceKind::agreement, operation);
  const auto first = std::ranges::find_if(lengths, [](auto length) { return length != 0; });
  if (first == lengths.end()) return std::nullopt;
  const auto position = static_cast<int>(first - lengths.begin());
  std::string text = mine;
  text.resize(static_cast<std::size_t>(*first));
  broadcast(group, std::as_writable_bytes(std::span(text)), position, TraceKind::agreement,
            operation);
  return text + detail::on_ranks(failed_positions(lengths), lengths.size());
}

}  // namespace tessera
