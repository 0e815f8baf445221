// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace tessera::perf {

/// One line per case: medians in ms, and what redistribute is of the best of each class of others.
std::string table(const std::vector<Measured>& measured);

}  // namespace tessera::perf
