// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine and io: copies, packing and identities of arrays.
#pragma once

#include <cstdint>
#include <span>

#include <tessera/placement/placement.hpp>
#include <tessera/tensor/array_ref.hpp>

/// The untyped kernels: all that redistribute does to memory. Work is ordered on `execution` and
/// not fenced, except that copies between host and device memory, and the reuse of scratch, may
/// fence that instance.
namespace tessera::detail {

/// How a copy writes: as usual, or past the caches where that is faster, for what is so large that
/// it leaves them anyway.
enum class Stores : std::uint8_t { cached, streaming };

/// One strided copy: equal extents and element sizes; either side may be in any memory space.
struct CopyJob {
  ArrayRef source;
  ArrayRef destination;
  Stores stores = Stores::cached;
};

/// All copies: pack for all peers, unpack from all peers, own blocks. Element bytes are moved as
/// they are (NaN payloads, structs).
///
/// Destinations do not overlap one another nor any source. Jobs without elements are skipped. What
/// a device does to host memory must be done before.
void copy(const Execution& execution, std::span<const CopyJob> jobs);

/// The same for one job.
void copy(const Execution& execution, const CopyJob& job);
inline void copy(const Execution& execution, const ArrayRef& source, const ArrayRef& destination) {
  copy(execution, CopyJob{source, destination});
}

/// destination = the terms combined by the fixed tree, divided by `divisor` if that is not 1.
///
/// f(lo, hi) = f(lo, mid) op f(mid, hi), mid = lo + the largest power of two below hi - lo, so the
/// bits depend on the terms alone. avg combines as sum: pass the number of terms as `divisor`. NaN
/// wins in min and max, and -0 < +0 there; integers wrap, and divided truncate toward zero.
///
/// Shapes: each term has destination's extents, type and space; destination may be one of the terms
/// (same data and strides).
///
/// Errors: InvalidArgument if !can_reduce(op, kind), if `divisor` is not 1 for another op than sum
/// and avg, or if the kind has no arithmetic in that memory space (long double on a device).
void reduce(const Execution& execution, ReduceOp op, std::span<const ArrayRef> terms,
            const ArrayRef& destination, std::int64_t divisor, Stores stores = Stores::cached);

/// Fills with the value that changes nothing under `op`: sum, avg 0 (floating: -0.0), product 1,
/// min +infinity or the highest value, max -infinity or the lowest, band all ones, bor and bxor 0;
/// bool: as the logical operation of its op.
///
/// Errors: as reduce.
void fill_identity(const Execution& execution, ReduceOp op, const ArrayRef& destination);

/// Multiplies in place by an integer: what makes a piece a term of an average of `factor` terms.
///
/// Errors: as reduce with avg.
void scale(const Execution& execution, const ArrayRef& array, std::int64_t factor);

}  // namespace tessera::detail
