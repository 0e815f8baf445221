// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For debug: distributions between source and target.
#pragma once

#include <vector>

#include <tessera/extents/element_type.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

bool contains(const std::vector<int>& mesh_dims, int mesh_dim);

/// Returns whether the shardings of these placements can be those of one tensor: Cyclic and
/// HeadTail must be the only sharding of their tensor dim.
bool go_together(const std::vector<Placement>& placements);

/// Returns whether further mesh dims can split `tensor_dim` of `spec`: not where Cyclic or HeadTail
/// does.
bool can_split_further(const DTensorSpec& spec, int tensor_dim);

/// Returns `spec` with `mesh_dims`, which do not shard it yet, splitting `tensor_dim` by Shard
/// after all other mesh dims. Expects can_split_further().
DTensorSpec split_further(const DTensorSpec& spec, int tensor_dim,
                          const std::vector<int>& mesh_dims);

/// Returns `spec` with Replicate along `mesh_dims`. If these split a tensor dim after all other
/// mesh dims, the boundaries of the other splits stay; else their rules hold there.
DTensorSpec replicated_along(const DTensorSpec& spec, const std::vector<int>& mesh_dims);

/// Returns `spec` with Replicate along mesh dims of one rank: all placements mean the same there, and nothing
/// has to travel between them.
DTensorSpec without_dims_of_one_rank(const DTensorSpec& spec);

/// Returns the size of the largest local piece, bytes.
double largest_piece_bytes(const DTensorSpec& spec, ElementType type);

}  // namespace tessera::detail
