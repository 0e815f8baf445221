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
  std::vector<double> seconds;          ///< time per call in each round; the same on every rank
  std::optional<Counted> counted = {};  ///< counts, if the variant is the library's own

  double median() const;
};

struct Measured {
  Case test_case;
  std::vector<Timed> variants;
};

/// Runs all variants of a case one after another, `rounds` times. Each round has another random
/// order, because what a variant finds in memory and caches depends on what ran before it. Small
/// tensors are moved many times without a pause and stay in cache; before a larger tensor moves,
/// the caches are evicted.
///
/// Collective. Errors: Error, on every rank, if a variant's result is wrong before or after the
/// measurement.
Measured measure(const Case& test_case, const DeviceMesh& mesh, int rounds);

}  // namespace tessera::perf
