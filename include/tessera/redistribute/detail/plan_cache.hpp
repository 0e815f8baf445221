// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <tessera/redistribute/redistributor.hpp>

namespace tessera::detail {

class Recycler;

/// The Redistributor of (source, target, type, options), made at first use and kept with the mesh.
/// For calls that the ranks have agreed on, so that all hit or miss together.
Redistributor cached_redistributor(const Meshes& meshes, const DTensorSpec& source,
                                   const DTensorSpec& target, ElementType type,
                                   const RedistributeOptions& options, const char* function);

/// Returns the same Redistributor after the ranks have agreed on it in this call.
Redistributor agreed_redistributor(Operation& operation, const RedistributeCall& call,
                                   const Meshes& meshes, const RedistributeOptions& options);

/// The model of plans that are made for this mesh from now on.
void set_cost_model(const DeviceMesh& mesh, const CostModel& model);

/// The results that redistribute() may give out again.
Recycler& recycler(const DeviceMesh& mesh);
/// Scratch that nobody else uses: the mesh keeps it when it is given back.
std::shared_ptr<Scratch> take_scratch(const DeviceMesh& mesh);
void give_back(const DeviceMesh& mesh, std::shared_ptr<Scratch> scratch);

}  // namespace tessera::detail
