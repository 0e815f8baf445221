// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include <tessera/ops/detail/map_kernel.hpp>
#include <tessera/ops/elementwise.hpp>

namespace tessera {

/// Returns a tensor of f(a, b, …), element by element, in one kernel: what expressions of operators
/// compute in several.
///
/// It takes 1 to 4 tensors. `function` is a function object, such as a KOKKOS_LAMBDA, of one
/// element of each operand;
/// elements have the types of the tensors' own elements, and shapes broadcast as those of
/// operators. It must not depend on the rank. R is the element type of the result; left out, it is
/// what `function` returns.
///
/// Example: auto y = map(KOKKOS_LAMBDA(double a, double b) { return a + 2 * b; }, x, z);
/// Result, Collective, Errors: those of the elementwise operators that are not linear: Partial
/// operands are reduced first.
template <class R = void, class Function, LocalView... V>
auto map(const Function& function, const DTensor<V>&... operands) {
  return map<R>(Execution(), function, operands...);
}
/// Orders the work on `exec`.
template <class R = void, class Function, LocalView... V>
auto map(const Execution& exec, const Function& function, const DTensor<V>&... operands) {
  return detail::call_map<R, false>(exec, function, operands...);
}

/// Returns a tensor of f(index, a, b, …), where `index` is the global index of the element in the
/// result, a Kokkos::Array<std::int64_t, N> for a result of N dims.
///
/// Result, Collective, Errors: those of map().
template <class R = void, class Function, LocalView... V>
auto map_with_index(const Function& function, const DTensor<V>&... operands) {
  return map_with_index<R>(Execution(), function, operands...);
}
/// Orders the work on `exec`.
template <class R = void, class Function, LocalView... V>
auto map_with_index(const Execution& exec, const Function& function,
                    const DTensor<V>&... operands) {
  return detail::call_map<R, true>(exec, function, operands...);
}

/// Writes f(a, b, …) to the elements of `result`, in one kernel. `result` may be one of the
/// operands.
///
/// Collective, Errors: those of map(); PlacementMismatch also where the result of map() would have
/// other placements than `result`; InvalidArgument for a result whose own elements share memory.
template <LocalView W, class Function, LocalView... V>
void map_into(const DTensor<W>& result, const Function& function, const DTensor<V>&... operands) {
  map_into(Execution(), result, function, operands...);
}
/// Orders the work on `exec`.
template <LocalView W, class Function, LocalView... V>
void map_into(const Execution& exec, const DTensor<W>& result, const Function& function,
              const DTensor<V>&... operands) {
  detail::call_map_into(exec, result, function, operands...);
}

}  // namespace tessera
