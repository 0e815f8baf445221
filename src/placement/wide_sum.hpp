// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For plan, kernels and engine: how large the sums are that averages are made of.
#pragma once

#include <cstdint>

#include <tessera/extents/element_type.hpp>

namespace tessera::detail {

/// Returns the type of a sum of elements of `type` on its way to an average: the same kind, but
/// larger, so that integers do not wrap, finite numbers do not overflow, and n equal numbers give
/// exactly n times that number. kernels/wide_sum.hpp has its arithmetic.
///
/// Expects a kind that reduces by avg.
ElementType wide_sum_type(ElementType type);

/// Returns the type of the partial results of a reduction whose result is divided by `divisor` in
/// the end: wide sums for an average, otherwise the type itself.
inline ElementType partial_type(ElementType type, std::int64_t divisor) {
  return divisor == 1 ? type : wide_sum_type(type);
}

/// Returns whether wide_sum_type() gave this type.
bool is_wide_sum(ElementType type);

}  // namespace tessera::detail
