// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For comm and mesh: ranks in error messages.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace tessera::detail {

/// Returns "rank 2" or "ranks 0, 2, 3, …", the first `most` of them.
std::string ranks_in_words(std::span<const int> ranks,
                           std::size_t most = std::numeric_limits<std::size_t>::max());

/// Returns the failed positions as text, such as " (on ranks 1, 3)", or "" if all positions of the
/// group failed.
std::string on_ranks(const std::vector<int>& positions, std::size_t group_size);

}  // namespace tessera::detail
