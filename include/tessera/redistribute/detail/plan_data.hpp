// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include <tessera/redistribute/detail/hop.hpp>
#include <tessera/redistribute/plan.hpp>

namespace tessera {
namespace detail {

struct PlannedStep {
  StepKind kind;
  bool communicates;
  std::vector<Hop> hops;
};

}  // namespace detail

struct RedistributePlan::Data {
  DTensorSpec source;
  DTensorSpec target;
  ElementType type;
  RedistributeOptions options;
  std::optional<PartialTarget> partial_target;
  std::vector<detail::PlannedStep> steps;
  std::int64_t message_bytes;
  std::uint64_t hash;
};

}  // namespace tessera
