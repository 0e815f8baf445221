// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine and io: copies, packing and identities of arrays.
#pragma once

#include <cstdint>
#include <span>

#include <tessera/placement/placement.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "kernels/convert.hpp"

/// Declares the untyped kernels: they do all that redistribute does to memory. Work is ordered on
/// `execution` and not fenced, except that copies between host and device memory, and the release
/// of scratch memory, may fence the instance.
namespace tessera::detail {

/// A CopyJob is one strided copy. Both sides have equal extents; either may be in any memory space.
/// If their types differ, elements are converted; if there is a scaling, they are scaled, too.
struct CopyJob {
  ArrayRef source;
  ArrayRef destination;
  Stores stores = Stores::cached;
  Scaling scaling = {};

  bool changes_values() const { return source.type != destination.type || !scaling.is_copy(); }
};

/// Makes all copies: packs for all peers, unpacks from all peers, copies own blocks. If nothing
/// changes the values, element bytes are copied as they are (NaN payloads, structs).
///
/// Destinations must not overlap one another nor any source. Jobs without elements are skipped.
/// What a device does to host memory must be complete before the call.
void copy(const Execution& execution, std::span<const CopyJob> jobs);

/// Makes one copy.
void copy(const Execution& execution, const CopyJob& job);
inline void copy(const Execution& execution, const ArrayRef& source, const ArrayRef& destination) {
  copy(execution, CopyJob{source, destination});
}

/// Sets `destination` to the operands, combined by the fixed tree and divided by `divisor` if that
/// is not 1.
///
/// The tree is f(lo, hi) = f(lo, mid) op f(mid, hi), mid = lo + the largest power of two below hi -
/// lo, so that the bits depend on the operands alone. avg combines as sum: pass the number of
/// operands as `divisor`. In min and max, NaN wins and -0 < +0. Integers wrap.
///
/// Where `divisor` is not 1, the operands are added in wide sums (kernels/wide_sum.hpp), and averages
/// of integers truncate toward zero. A reduction in several calls keeps these sums: the destinations
/// of the first calls have the type wide_sum_type(), and so have the operands of the last one, which
/// divides.
///
/// Shapes: each operand has destination's extents, kind and space, and all have one type;
/// destination may be one of the operands (same data, type and strides).
///
/// Errors: InvalidArgument if !can_reduce(op, kind), if `operands` is empty, if `divisor` is below
/// 1, or not 1 for an op other than sum and avg or a kind without averages, or if the kind has no
/// arithmetic in that memory space (long double on a device).
void reduce(const Execution& execution, ReduceOp op, std::span<const ArrayRef> operands,
            const ArrayRef& destination, std::int64_t divisor, Stores stores = Stores::cached);

/// Fills `destination` with the value that changes nothing under `op`: sum, avg 0 (floating: -0.0),
/// product 1, min +infinity or the highest value, max -infinity or the lowest, band all ones, bor
/// and bxor 0. For bool it is the identity of the logical operation that `op` is.
///
/// Errors: as for reduce().
void fill_identity(const Execution& execution, ReduceOp op, const ArrayRef& destination);

/// Multiplies in place by an integer, which makes a piece a contribution to an average of `factor`
/// contributions. Products are rounded or wrap.
///
/// Errors: as for reduce() with avg.
void scale(const Execution& execution, const ArrayRef& array, std::int64_t factor);

}  // namespace tessera::detail
