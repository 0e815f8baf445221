// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/kokkos_kernels.hpp"

namespace tessera::detail {

bool has_kokkos_kernels_for(ElementType) {
  return false;
}

void multiply_by_kokkos_kernels(const Execution&, MemorySpace, ElementType, const MatrixRef&,
                                const MatrixRef&, bool, const MatrixRef&) {}

}  // namespace tessera::detail
