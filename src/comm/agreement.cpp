// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/comm/agreement.hpp>

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

namespace detail {

std::string on_ranks(const std::vector<int>& positions, std::size_t group_size) {
  if (positions.size() == group_size) return "";
  constexpr std::size_t named = 8;
  const auto end =
      positions.begin() + static_cast<std::ptrdiff_t>(std::min(positions.size(), named));
  return fmt::format(" (on rank{} {}{})", positions.size() > 1 ? "s" : "",
                     fmt::join(positions.begin(), end, ", "),
                     positions.size() > named ? ", …" : "");
}

}  // namespace detail
}  // namespace tessera
