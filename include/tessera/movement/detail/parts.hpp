// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/extents/box.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

// Calls that are several moves from part to part, in one exchange.
namespace tessera::detail {

/// Names a part of a tensor: its spec, and where this rank's piece of it lies.
struct TensorPart {
  DTensorSpec spec;
  ArrayRef array;
};

/// Returns the part of a tensor that `range` takes of one tensor dim. `piece` is this rank's piece of
/// the tensor; off the mesh it is not looked at.
TensorPart part_along(const DeviceMesh& mesh, const DTensorSpec& spec, const ArrayRef& piece,
                      int tensor_dim, Interval range);

/// Says that the elements of one part go to another one, of the same shape.
struct PartMove {
  TensorPart from;
  TensorPart to;
};

/// Makes all moves in one exchange, or in two if some reduce and others do not. The ranks agree on
/// them here; `words` is the call as text.
void move_parts(Operation& operation, const Execution& execution, const DeviceMesh& mesh,
                const std::vector<PartMove>& moves, const PlanSettings& settings,
                const CallText& words, const char* label);

}  // namespace tessera::detail
