// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <tessera/redistribute/redistributor.hpp>

namespace tessera::detail {

class Recycler;

/// Returns the Redistributor of (source, target, type, settings), which is made at first use and
/// kept with the mesh. Expects a call that the ranks have agreed on, so that all of them find it or
/// all make it.
Redistributor cached_redistributor(const Meshes& meshes, const DTensorSpec& source,
                                   const DTensorSpec& target, ElementType type,
                                   const PlanSettings& settings);

/// Returns the Redistributor of `call`, after the ranks have agreed on it in this call.
Redistributor agreed_redistributor(Operation& operation, const RedistributeCall& call,
                                   const Meshes& meshes, const PlanSettings& settings);

/// Holds a plan and the array that it reads.
struct IntoMemory {
  Redistributor redistributor;
  ArrayRef source;
};
/// Returns the same for memory that the caller has chosen, with what
/// RedistributorAccess::readable() gives for the source.
IntoMemory agreed_into_memory(Operation& operation, const RedistributeCall& call,
                              const Meshes& meshes, const PlanSettings& settings,
                              const Execution& execution, const Pieces& pieces);

/// Sets the cost model of plans that are made for this mesh from now on.
void set_cost_model(const DeviceMesh& mesh, const CostModel& model);

/// Returns the results that redistribute() may give out again.
Recycler& recycler(const DeviceMesh& mesh);
/// Returns scratch memory that nobody else uses. give_back() returns it to the mesh, which keeps
/// it.
std::shared_ptr<Scratch> take_scratch(const DeviceMesh& mesh);
void give_back(const DeviceMesh& mesh, std::shared_ptr<Scratch> scratch);

}  // namespace tessera::detail
