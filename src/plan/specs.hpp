// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Distributions between source and target.
#pragma once

#include <vector>

#include <tessera/extents/element_type.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

bool contains(const std::vector<int>& mesh_dims, int mesh_dim);

/// Returns `spec` with `mesh_dims`, which do not shard it yet, splitting `tensor_dim` after all
/// other mesh dims.
DTensorSpec split_further(const DTensorSpec& spec, int tensor_dim,
                          const std::vector<int>& mesh_dims);

/// Returns `spec` with Replicate along `mesh_dims`. If these split a tensor dim after all other
/// mesh dims, the boundaries of the other splits stay; else the chunk rule holds there.
DTensorSpec replicated_along(const DTensorSpec& spec, const std::vector<int>& mesh_dims);

/// Returns the size of the largest local piece, bytes.
double largest_piece_bytes(const DTensorSpec& spec, ElementType type);

}  // namespace tessera::detail
