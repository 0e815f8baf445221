// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tessera/agreement/detail/operation.hpp>

#include "agreement/on_ranks.hpp"
#include "comm/agree_on_error.hpp"

namespace tessera {
namespace {

struct Summary {
  std::int64_t length = 0;  ///< length of the text; 0 if nothing went wrong
  bool is_of_mpi = false;
};

bool has_error(const Summary& summary) {
  return summary.length != 0;
}

std::vector<int> failed_positions(const std::vector<Summary>& all) {
  std::vector<int> result;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (has_error(all[i])) result.push_back(static_cast<int>(i));
  return result;
}

}  // namespace

SharedError agree_on_error(const Group& group, const SharedError& mine, const char* operation) {
  const Summary summary{static_cast<std::int64_t>(mine.text.size()), mine.is_of_mpi};
  const auto all = all_gather_value(group, summary, TraceKind::agreement, operation);
  const auto first = std::ranges::find_if(all, has_error);
  if (first == all.end()) return {};
  const auto position = static_cast<int>(first - all.begin());
  std::string text = mine.text;
  text.resize(static_cast<std::size_t>(first->length));
  broadcast(group, std::as_writable_bytes(std::span(text)), position, TraceKind::agreement,
            operation);
  return {text + detail::on_ranks(failed_positions(all), all.size()), first->is_of_mpi};
}

void throw_together(const Group& group, const SharedError& mine, const char* operation,
                    const char* file, int line) {
  const auto error = agree_on_error(group, mine, operation);
  if (error.text.empty()) return;
  detail::common([&] {
    require<MpiError>(!error.is_of_mpi, error.text, file, line);
    require<IoError>(false, error.text, file, line);
  });
}

}  // namespace tessera
