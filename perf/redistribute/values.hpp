// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "case.hpp"

namespace tessera::perf {

/// Writes this rank's piece of the source, or its contribution. An element is its global index plus
/// 1; a contribution adds the number of the rank. So sums are exact in any order.
void fill_source(const Geometry& geometry, double* source);
/// Overwrites a piece of the target with NaN, so that values found there later have been written
/// since.
void poison_target(const Geometry& geometry, double* target);

/// Returns the first mistake, for example "expected 17 at element 4 of the piece, got nan"; nothing
/// if all elements are right.
std::optional<std::string> mistake_in_source(const Geometry& geometry, const double* source);
std::optional<std::string> mistake_in_target(const Geometry& geometry, const double* target);

}  // namespace tessera::perf
