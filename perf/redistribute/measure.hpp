// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "counted.hpp"
#include "variant.hpp"

namespace tessera::perf {

struct Timed {
  std::string name;
  Kind kind;
  std::vector<double> seconds;          ///< per call, by round; the same on every rank
  std::optional<Counted> counted = {};  ///< of the library's own

  double median() const;
};

struct Measured {
  Case test_case;
  std::vector<Timed> variants;
};

/// Runs all variants of a case one after another, `rounds` times, each time in another random
/// order: what a variant finds depends on what ran before it. Small tensors are moved many times in
/// a row and stay in cache; before a larger one moves, nothing is in cache.
///
/// Collective. Errors: Error, on every rank, where a variant's result is wrong before or after.
Measured measure(const Case& test_case, const DeviceMesh& mesh, int rounds);

}  // namespace tessera::perf
