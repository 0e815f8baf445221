// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <tessera/ops/detail/call.hpp>

#include "ops/choose.hpp"
#include "ops/summa.hpp"

namespace tessera::detail {

/// Says how this rank's piece of an operand comes to the kernel: as it is, if both are empty.
struct PreparedOperand {
  std::optional<Box> part = {};            ///< part of the piece that the kernel reads
  std::optional<DTensorSpec> target = {};  ///< distribution to which it is copied first
};

struct PreparedCall {
  const OperatorInfo* op = nullptr;
  Redistribution allowed = Redistribution::local;
  Extents dims = {};
  bool keeps_dims = false;
  std::vector<OperatorAttribute> attributes = {};
  OperatorCall call = {};
  Choice choice = {};
  bool moves = false;         ///< whether any operand moves, or is sliced
  bool communicates = false;  ///< whether the operator's own algorithm exchanges data

  // What the choice means on this rank:
  std::vector<PreparedOperand> operands = {};
  Box box = {};                     ///< local piece of the result
  std::vector<IndexMap> maps = {};  ///< global indices of that piece, by tensor dim
  bool copies = false;              ///< whether an operand is copied before the kernel runs
  bool counts_numbers = true;
  std::uint64_t hash = 0;             ///< what the other ranks compare
  std::shared_ptr<Summa> summa = {};  ///< panels of matmul; null for all other operators
};

/// Chooses placements for a call, and fills in what does not depend on the rank. Errors: those of
/// prepare().
std::shared_ptr<PreparedCall> choose_for(const CallRequest& request, Redistribution allowed);

/// Describes a call, its choice and what it costs, in one line.
std::string explain(const PreparedCall& prepared);

}  // namespace tessera::detail
