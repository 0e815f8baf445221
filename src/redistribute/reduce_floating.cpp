// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <tessera/redistribute/detail/number_types.hpp>
#include <tessera/redistribute/detail/reduce_as.hpp>

namespace tessera::detail {
namespace {

template <class T>
void reduce_by(const Execution& execution, ReduceOp op, MemorySpace space, Reduction reduction) {
  if (op == ReduceOp::product)
    reduce_as<T, Product>(execution, space, std::move(reduction));
  else if (op == ReduceOp::min)
    reduce_as<T, Min>(execution, space, std::move(reduction));
  else if (op == ReduceOp::max)
    reduce_as<T, Max>(execution, space, std::move(reduction));
  else
    reduce_as<T, Sum>(execution, space, std::move(reduction));
}

}  // namespace

void reduce_floating(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                     Reduction reduction) {
  with_floating_type(kind, [&]<class T>(std::type_identity<T>) {
    reduce_by<T>(execution, op, space, std::move(reduction));
  });
}

}  // namespace tessera::detail
