// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For plan, tensor and kernels: which element types an operation reduces.
#pragma once

#include <tessera/extents/element_type.hpp>
#include <tessera/placement/placement.hpp>

namespace tessera {

/// Returns whether elements of this kind can be combined by `op`.
///
/// sum, product: all but opaque. avg: neither bool nor opaque. min, max: neither complex nor
/// opaque. Bit ops: integers and bool.
bool can_reduce(ReduceOp op, ElementKind kind);

/// Throws InvalidArgument unless can_reduce(op, type.kind): "expected an element type that reduces
/// by band, got float32".
void require_reducible(ReduceOp op, ElementType type);

}  // namespace tessera
