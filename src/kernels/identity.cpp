// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kernels/elementwise.hpp"
#include "kernels/number_types.hpp"
#include "kernels/pack.hpp"
#include "placement/can_reduce.hpp"

namespace tessera::detail {
namespace {

template <class T>
T integer_identity(ReduceOp op) {
  if (op == ReduceOp::product) return 1;
  if (op == ReduceOp::min) return std::numeric_limits<T>::max();
  if (op == ReduceOp::max) return std::numeric_limits<T>::lowest();
  return op == ReduceOp::band ? static_cast<T>(-1) : T{0};
}

float floating_identity(ReduceOp op) {
  if (op == ReduceOp::product) return 1;
  if (op == ReduceOp::min) return std::numeric_limits<float>::infinity();
  if (op == ReduceOp::max) return -std::numeric_limits<float>::infinity();
  return -0.0f;
}

template <class T>
T identity(ReduceOp op) {
  if constexpr (is_complex_number<T>)
    return {identity<typename T::value_type>(op),
            op == ReduceOp::product ? 0 : identity<typename T::value_type>(op)};
  else if constexpr (std::is_integral_v<T>)
    return integer_identity<T>(op);
  else
    return static_cast<T>(floating_identity(op));
}

bool bool_identity(ReduceOp op) {
  return op == ReduceOp::product || op == ReduceOp::min || op == ReduceOp::band;
}

}  // namespace

void fill_identity(const Execution& execution, ReduceOp op, const ArrayRef& destination) {
  named("fill_identity", [&] { require_reducible(op, destination.type); });
  const char* label = "tessera::detail::fill_identity";
  if (destination.type.kind == ElementKind::boolean)
    return for_each_element(execution, label, destination, Assign<bool>{bool_identity(op)});
  with_number_type(destination.type.kind, [&]<class T>(std::type_identity<T>) {
    for_each_element(execution, label, destination, Assign<T>{identity<T>(op)});
  });
}

void scale(const Execution& execution, const ArrayRef& array, std::int64_t factor) {
  named("scale", [&] { require_reducible(ReduceOp::avg, array.type); });
  with_number_type(array.type.kind, [&]<class T>(std::type_identity<T>) {
    for_each_element(execution, "tessera::detail::scale", array, Multiply<T>{factor});
  });
}

}  // namespace tessera::detail
