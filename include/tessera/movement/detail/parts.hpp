// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/extents/box.hpp>
#include <tessera/redistribute/pending.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

// Calls that make several moves between parts, in one exchange.
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

/// Describes what a call moves.
struct PartMoves {
  std::vector<PartMove> moves;
  PlanSettings settings;
  std::function<std::string()> words;  ///< the call as text
  std::shared_ptr<void> views;         ///< owner of the memory of all parts
  const char* label;
};

/// Makes all moves in one exchange, or in two if some reduce and others do not. The ranks agree on
/// them here.
void move_parts(Operation& operation, const Execution& execution, const DeviceMesh& mesh,
                const PartMoves& parts);
/// Agrees on all moves, and returns them as the work of a call in the background; none if this rank
/// moves nothing.
std::optional<PendingWork> work_of_parts(Operation& operation, const Execution& execution,
                                         const DeviceMesh& mesh, const PartMoves& parts);

/// Holds a new tensor, and the moves that fill it.
template <class V>
struct PreparedParts {
  DTensor<V> result;
  PartMoves parts;
};

/// Makes the tensor of prepare(), which returns PreparedParts.
template <class Prepare>
auto move_parts(FunctionName function, const Execution& execution, const DeviceMesh& mesh,
                const Prepare& prepare) {
  return collectively(mesh, function, [&](Operation& operation) {
    const auto prepared = prepare();
    keeping(
        mesh.communicator(), [&] { move_parts(operation, execution, mesh, prepared.parts); },
        [&] { return prepared.parts.views; });
    return prepared.result;
  });
}

/// Starts the moves of prepare() in the background.
template <class Prepare>
auto start_parts(FunctionName function, const Execution& execution, const DeviceMesh& mesh,
                 const Prepare& prepare) {
  return start_call(function, mesh, [&](Operation& operation) {
    const auto [result, parts] = prepare();
    return std::pair(result, work_of_parts(operation, execution, mesh, parts));
  });
}

}  // namespace tessera::detail
