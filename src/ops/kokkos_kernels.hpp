// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "ops/product.hpp"

namespace tessera::detail {

/// Returns whether Kokkos Kernels multiplies matrices of such elements: where the build has it, those that a
/// BLAS multiplies.
bool has_kokkos_kernels_for(ElementType type);

/// Computes c = a b, or c = c + a b, by Kokkos Kernels, ordered on the instance of the memory space. Expects
/// matrices that satisfy is_blas_matrix(), of a type that it has.
void multiply_by_kokkos_kernels(const Execution& execution, MemorySpace space, ElementType type,
                                const MatrixRef& a, const MatrixRef& b, bool adds,
                                const MatrixRef& c);

}  // namespace tessera::detail
