// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tessera/extents/box.hpp>
#include <tessera/sharding/spec.hpp>

// Specs of tensors that are made of another one by its shape alone, so that each rank keeps what it
// has. The errors of the functions name no function; the caller does.
namespace tessera::detail {

/// Returns the spec of the tensor whose dim d is dim order[d] of `spec`. Errors: InvalidArgument
/// unless `order` names each dim once; negative dims count from the last one.
DTensorSpec permuted_spec(const DTensorSpec& spec, const std::vector<int>& order);
/// Returns `order` with all dims counted from the first one. Errors: those of permuted_spec().
std::vector<int> resolved_order(const std::vector<int>& order, int tensor_dims);

/// Says what a slice takes along one tensor dim.
struct SlicedDim {
  Interval range;
  bool is_dropped = false;  ///< the range is one index, and the result has no such dim
};

/// Returns the spec of a slice, of which each rank holds what it holds of the tensor. Errors:
/// InvalidArgument for a range outside the dim, and for a dim that is dropped although it is sharded.
DTensorSpec sliced_spec(const DTensorSpec& spec, const std::vector<SlicedDim>& dims);

/// Returns where the slice lies in the local piece of a coordinate.
Box slice_of_piece(const DTensorSpec& spec, const std::vector<SlicedDim>& dims,
                   const std::vector<int>& coordinate);

}  // namespace tessera::detail
