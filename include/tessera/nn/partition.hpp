// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/mesh/mesh_dim.hpp>
#include <tessera/nn/module.hpp>

// Partition functions for parts of a model, as PyTorch's ColwiseParallel and RowwiseParallel.
namespace tessera::nn {

/// Splits a layer by its outputs: along one mesh dim, its "weight" (out, in) and its "bias", if it
/// has one, are placed Shard(0); along the others both are Replicate. Its result is then sharded in its
/// last dim, without an exchange. The number of features need not be a multiple of the number of ranks.
/// A partition function of distribute_module() calls it. Local.
///
/// Example: [](const std::string& name, nn::Module& module, const DeviceMesh& mesh) {
///            if (name == "fc1") nn::column_parallel(module, mesh, "tp");
///            if (name == "fc2") nn::row_parallel(module, mesh, "tp");
///          }
/// Errors: InvalidArgument for a module without a "weight" of its own, or with one of 0 dims, an unknown mesh dim,
///         and after distribute_module().
void column_parallel(Module& module, const DeviceMesh& mesh, const MeshDim& mesh_dim = 0);

/// Splits a layer by its inputs: along one mesh dim, its "weight" (out, in) is placed Shard(1), and its "bias", if it
/// has one, Replicate; along the others both are Replicate. It takes inputs that are sharded in their
/// last dim, or slices them, and its result is a Partial sum, without an exchange. A partition function of
/// distribute_module() calls it. Local.
///
/// Errors: those of column_parallel(), and InvalidArgument for a weight of less than 2 dims.
void row_parallel(Module& module, const DeviceMesh& mesh, const MeshDim& mesh_dim = 0);

}  // namespace tessera::nn
