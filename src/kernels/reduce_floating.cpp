// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/number_types.hpp"
#include "kernels/reduce_as.hpp"

namespace tessera::detail {
namespace {

template <class T>
void reduce_by(const Execution& execution, ReduceOp op, MemorySpace space,
               const std::shared_ptr<const Reduction>& reduction) {
  if (op == ReduceOp::product)
    reduce_as<T, Product>(execution, space, reduction);
  else if (op == ReduceOp::min)
    reduce_as<T, Min>(execution, space, reduction);
  else if (op == ReduceOp::max)
    reduce_as<T, Max>(execution, space, reduction);
  else
    reduce_as<T, Sum>(execution, space, reduction);
}

}  // namespace

void reduce_floating(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                     const std::shared_ptr<const Reduction>& reduction) {
  with_floating_type(
      kind, [&]<class T>(std::type_identity<T>) { reduce_by<T>(execution, op, space, reduction); });
}

}  // namespace tessera::detail
