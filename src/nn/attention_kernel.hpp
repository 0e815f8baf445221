// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For perf_nn: attention of the queries of a rank to a block of keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "nn/attention_tiles.hpp"
#include "nn/tuning.hpp"

// Arrays of queries, keys, values, and their gradients are (batch, head, row, column), with rows or columns
// side by side in memory, see is_blas_matrix(). Arrays of numbers of queries are (batch, head, row) in
// row-major order. All have one element type, float or double, and one memory space. Kernels are ordered on
// the execution and not fenced, unless memory has to be freed.
namespace tessera::detail {

inline constexpr const char* attention_label = "tessera::scaled_dot_product_attention";
inline constexpr std::size_t sequence_dim = 2, column_dim = 3;

/// Says how kernels share out the work: tile by tile of a batch and a head, each by one thread with products by a
/// BLAS, or the same tile of all batches and heads at a time.
enum class AttentionKernel : std::uint8_t { by_tiles, over_all };

/// Returns the kernel for such elements.
AttentionKernel attention_kernel_for(ElementType type, MemorySpace space);

/// Says how attention is computed.
struct AttentionSettings {
  AttentionKernel kernel;
  double scale;
  std::int64_t queries_at_once = detail::queries_at_once;  ///< edge of tiles, by_tiles
  std::int64_t keys_at_once = detail::keys_at_once;        ///< likewise
  /// Is called between parts of the work, of which there are `parts`.
  std::function<void()> between = {};
  std::int64_t parts = 1;
};

/// Holds queries, and the result as far as it is computed: weighted sums of values, whose weights are not
/// normalised yet.
struct AttentionRows {
  ArrayRef queries;
  ArrayRef result;
  ArrayRef
      maxima;  ///< largest score of each query; in the end the logarithm of the sum of exponentials
  ArrayRef sums;  ///< sum of weights of each query
};

/// Sets results and sums of all queries to 0, and maxima to −infinity.
void begin_attention(const Execution& execution, const AttentionRows& rows);
/// Adds a block of keys with their values.
void attend(const Execution& execution, const AttentionSettings& settings,
            const AttentionRows& rows, const ArrayRef& keys, const ArrayRef& values,
            const VisibleKeys& visible);
/// Divides the results by their sums. The result of a query without keys is 0.
void finish_attention(const Execution& execution, const AttentionRows& rows);

/// Holds what the adjoint needs of queries, and their gradient.
struct AttentionAdjointRows {
  ArrayRef queries;
  ArrayRef start;         ///< gradient of the result
  ArrayRef log_sums;      ///< what finish_attention() leaves in `maxima`
  ArrayRef mean_changes;  ///< what begin_adjoint_of_attention() has computed
  ArrayRef gradient;      ///< that of the queries so far
};

/// Sets the gradient of the queries to 0, and computes the scalar products of the result with its gradient.
void begin_adjoint_of_attention(const Execution& execution, const AttentionAdjointRows& rows,
                                const ArrayRef& result);
/// Adds the gradients of the queries for a block of keys, and those of keys and values.
void attend_adjoint(const Execution& execution, const AttentionSettings& settings,
                    const AttentionAdjointRows& rows, const ArrayRef& keys, const ArrayRef& values,
                    const ArrayRef& key_gradient, const ArrayRef& value_gradient,
                    const VisibleKeys& visible);

/// Sets all elements of an array in row-major order to 0.
void set_to_zero(const Execution& execution, const ArrayRef& array);

}  // namespace tessera::detail
