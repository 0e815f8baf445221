// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/number_types.hpp"
#include "ops/elementwise_dispatch.hpp"

namespace tessera::detail {

void run_elementwise(const Execution& execution, ElementwiseOp op, ElementType type,
                     const ElementwiseLoops& loops, std::span<const OperandRef> numbers) {
  if (type.kind == ElementKind::boolean) return run_on<Boolean>(execution, op, loops, numbers);
  if (is_complex(type.kind)) return run_on_complex(execution, op, type.kind, loops, numbers);
  if (is_floating(type.kind)) return run_on_floats(execution, op, type.kind, loops, numbers);
  run_on_integers(execution, op, type.kind, loops, numbers);
}

NumberBytes neutral_number(ElementKind kind) {
  NumberBytes result{};
  if (kind == ElementKind::boolean) return result;
  with_number_type(kind, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_complex_number<T>) {
      using Part = typename T::value_type;
      result = NumberBytes::of(T{-Part(0), -Part(0)});
    } else if constexpr (is_half<T>) {
      result = NumberBytes::of(static_cast<T>(-0.0f));
    } else {
      result = NumberBytes::of(static_cast<T>(-T(0)));
    }
  });
  return result;
}

}  // namespace tessera::detail
