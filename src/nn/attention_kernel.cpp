// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/tensor/detail/launch.hpp>

#include "nn/attention_kernel.hpp"
#include "nn/attention_kernels.hpp"
#include "ops/blas.hpp"

namespace tessera::detail {

AttentionKernel attention_kernel_for(ElementType type, MemorySpace space) {
  return !is_on_device(space) && has_blas_for(type) ? AttentionKernel::by_tiles
                                                    : AttentionKernel::over_all;
}

void attend(const Execution& execution, const AttentionSettings& settings,
            const AttentionRows& rows, const ArrayRef& keys, const ArrayRef& values,
            const VisibleKeys& visible) {
  if (rows.maxima.size() == 0 || visible.keys() == 0) return;
  const auto run = settings.kernel == AttentionKernel::by_tiles ? attend_by_tiles : attend_over_all;
  run(execution, settings, rows, keys, values, visible);
}

void attend_adjoint(const Execution& execution, const AttentionSettings& settings,
                    const AttentionAdjointRows& rows, const ArrayRef& keys, const ArrayRef& values,
                    const ArrayRef& key_gradient, const ArrayRef& value_gradient,
                    const VisibleKeys& visible) {
  if (rows.log_sums.size() == 0 || visible.keys() == 0) return;
  const auto run = settings.kernel == AttentionKernel::by_tiles ? attend_adjoint_by_tiles
                                                                : attend_adjoint_over_all;
  run(execution, settings, rows, keys, values, key_gradient, value_gradient, visible);
}

}  // namespace tessera::detail
