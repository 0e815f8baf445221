// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/number_types.hpp"
#include "ops/elementwise_dispatch.hpp"

namespace tessera::detail {
namespace {

ElementKind unsigned_kind(std::int32_t size) {
  switch (size) {
    case 1:
      return ElementKind::uint8;
    case 2:
      return ElementKind::uint16;
    case 4:
      return ElementKind::uint32;
    default:
      return ElementKind::uint64;
  }
}

/// Returns the kind of elements that the kernel computes with: where an operator does the same with all
/// elements of one size, that of unsigned integers. There are fewer kernels then.
ElementKind kind_of_kernel(ElementwiseOp op, ElementType type) {
  const bool is_signed = type.kind >= ElementKind::int8 && type.kind <= ElementKind::int64;
  const bool is_one_number = !is_complex(type.kind) && type.kind != ElementKind::long_double;
  const bool is_alike = op == ElementwiseOp::where ? is_one_number : is_signed && wraps_around(op);
  return is_alike ? unsigned_kind(type.size) : type.kind;
}

}  // namespace

void run_elementwise(const Execution& execution, ElementwiseOp op, ElementType type,
                     const ElementwiseLoops& loops, std::span<const OperandRef> numbers) {
  const auto kind = kind_of_kernel(op, type);
  if (kind == ElementKind::boolean) return run_on<Boolean>(execution, op, loops, numbers);
  if (is_complex(kind)) return run_on_complex(execution, op, kind, loops, numbers);
  if (is_floating(kind)) return run_on_floats(execution, op, kind, loops, numbers);
  run_on_integers(execution, op, kind, loops, numbers);
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
