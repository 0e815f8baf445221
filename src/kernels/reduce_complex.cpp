// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/number_types.hpp"
#include "kernels/reduce_as.hpp"

namespace tessera::detail {

void reduce_complex(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                    const std::shared_ptr<const Reduction>& reduction) {
  with_complex_type(kind, [&]<class T>(std::type_identity<T>) {
    if (op == ReduceOp::product)
      reduce_as<T, Product>(execution, space, reduction);
    else
      reduce_as<T, Sum>(execution, space, reduction);
  });
}

}  // namespace tessera::detail
