// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For comm: ranks in error messages.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::detail {

/// Returns the failed positions as text, such as " (on ranks 1, 3)", or "" if all positions of the
/// group failed.
std::string on_ranks(const std::vector<int>& positions, std::size_t group_size);

}  // namespace tessera::detail
