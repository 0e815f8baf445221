// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/attention_kernel.hpp"

// The kernels of attend() and attend_adjoint().
namespace tessera::detail {

/// Computes tile by tile of a batch and a head: each thread has tiles of its own, and multiplies by a BLAS. In host
/// memory only.
void attend_by_tiles(const Execution& execution, const AttentionSettings& settings,
                     const AttentionRows& rows, const ArrayRef& keys, const ArrayRef& values,
                     const VisibleKeys& visible);
void attend_adjoint_by_tiles(const Execution& execution, const AttentionSettings& settings,
                             const AttentionAdjointRows& rows, const ArrayRef& keys,
                             const ArrayRef& values, const ArrayRef& key_gradient,
                             const ArrayRef& value_gradient, const VisibleKeys& visible);

/// Computes a tile of all batches and heads at a time.
void attend_over_all(const Execution& execution, const AttentionSettings& settings,
                     const AttentionRows& rows, const ArrayRef& keys, const ArrayRef& values,
                     const VisibleKeys& visible);
void attend_adjoint_over_all(const Execution& execution, const AttentionSettings& settings,
                             const AttentionAdjointRows& rows, const ArrayRef& keys,
                             const ArrayRef& values, const ArrayRef& key_gradient,
                             const ArrayRef& value_gradient, const VisibleKeys& visible);

}  // namespace tessera::detail
