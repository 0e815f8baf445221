// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <tessera/redistribute/detail/number_types.hpp>
#include <tessera/redistribute/detail/reduce_as.hpp>

namespace tessera::detail {

void reduce_complex(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                    Reduction reduction) {
  with_complex_type(kind, [&]<class T>(std::type_identity<T>) {
    if (op == ReduceOp::product)
      reduce_as<T, Product>(execution, space, std::move(reduction));
    else
      reduce_as<T, Sum>(execution, space, std::move(reduction));
  });
}

}  // namespace tessera::detail
