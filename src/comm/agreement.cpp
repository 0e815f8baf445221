// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/comm/agreement.hpp>

namespace tessera {
namespace {

std::vector<int> failed_ranks(const Group& group, const std::vector<std::int64_t>& lengths) {
  std::vector<int> result;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] != 0) result.push_back(group.ranks[i]);
  return result;
}

std::string which(const std::vector<int>& failed, std::size_t group_size) {
  if (failed.size() == group_size) return "";
  constexpr std::size_t named = 8;
  const auto first = failed.begin() + static_cast<std::ptrdiff_t>(std::min(failed.size(), named));
  return fmt::format(" (on rank{} {}{})", failed.size() > 1 ? "s" : "",
                     fmt::join(failed.begin(), first, ", "), failed.size() > named ? ", …" : "");
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
  return text + which(failed_ranks(group, lengths), lengths.size());
}

}  // namespace tessera
