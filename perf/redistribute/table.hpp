// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace tessera::perf {

/// Returns one line per case: medians in ms, and the time of redistribute divided by the time of
/// the best variant of each other class.
std::string table(const std::vector<Measured>& measured);

}  // namespace tessera::perf
