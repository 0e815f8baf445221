// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Distributions between source and target.
#pragma once

#include <vector>

#include <tessera/extents/element_type.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

bool contains(const std::vector<int>& mesh_dims, int mesh_dim);

/// `spec` with `mesh_dims`, until now unsharded, splitting `tensor_dim` after all others.
DTensorSpec split_further(const DTensorSpec& spec, int tensor_dim,
                          const std::vector<int>& mesh_dims);

/// `spec` with Replicate along `mesh_dims`. Where they split a tensor dim after all others, what
/// the others have stays; else the chunk rule holds there.
DTensorSpec replicated_along(const DTensorSpec& spec, const std::vector<int>& mesh_dims);

/// Of the largest piece.
double largest_piece_bytes(const DTensorSpec& spec, ElementType type);

}  // namespace tessera::detail
