// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "case.hpp"

namespace tessera::perf {

/// Writes this rank's piece or term of the source. An element is its global index, a term besides
/// the rank, so that sums are exact in any order.
void fill_source(const Geometry& geometry, double* source);
/// Makes sure that what is found in a piece of the target was written after.
void poison_target(const Geometry& geometry, double* target);

/// "expected 17 at element 4 of the piece, got nan"; nothing if all is right.
std::optional<std::string> mistake_in_source(const Geometry& geometry, const double* source);
std::optional<std::string> mistake_in_target(const Geometry& geometry, const double* target);

}  // namespace tessera::perf
