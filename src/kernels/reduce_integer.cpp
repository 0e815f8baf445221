// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "kernels/number_types.hpp"
#include "kernels/reduce_as.hpp"

namespace tessera::detail {
namespace {

/// Runs the kernel of `op`. Sums, products and bit ops give the same bits for signed and unsigned
/// integers and share the unsigned kernel.
template <class T>
void reduce_by(const Execution& execution, ReduceOp op, MemorySpace space,
               const std::shared_ptr<const Reduction>& reduction) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return reduce_as<Unsigned, Sum>(execution, space, reduction);
    case ReduceOp::product:
      return reduce_as<Unsigned, Product>(execution, space, reduction);
    case ReduceOp::min:
      return reduce_as<T, Min>(execution, space, reduction);
    case ReduceOp::max:
      return reduce_as<T, Max>(execution, space, reduction);
    case ReduceOp::band:
      return reduce_as<Unsigned, BitAnd>(execution, space, reduction);
    case ReduceOp::bor:
      return reduce_as<Unsigned, BitOr>(execution, space, reduction);
    case ReduceOp::bxor:
      return reduce_as<Unsigned, BitXor>(execution, space, reduction);
  }
}

ReduceOp bit_op_of_bool(ReduceOp op) {
  if (op == ReduceOp::sum || op == ReduceOp::max) return ReduceOp::bor;
  if (op == ReduceOp::product || op == ReduceOp::min) return ReduceOp::band;
  return op;
}

}  // namespace

void reduce_integers(const Execution& execution, ReduceOp op, ElementKind kind, MemorySpace space,
                     const std::shared_ptr<const Reduction>& reduction) {
  const auto effective = kind == ElementKind::boolean ? bit_op_of_bool(op) : op;
  with_integer_type(kind, [&]<class T>(std::type_identity<T>) {
    reduce_by<T>(execution, effective, space, reduction);
  });
}

}  // namespace tessera::detail
