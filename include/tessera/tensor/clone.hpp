// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

namespace detail {

template <class V>
DTensor<redistributed_view_t<V>> clone(const Execution& execution, const DTensor<V>& tensor) {
  using Result = redistributed_view_t<V>;
  execution.fence("tessera::clone: before reading the source");
  auto result = allocate_dtensor<Result>(tensor.device_mesh(), tensor.spec(), "tessera::clone");
  if (tensor.device_mesh().coordinate() && result.to_local().size() > 0)
    Kokkos::deep_copy(execution.instance<memory_space<V>>(), result.to_local(), tensor.to_local());
  finish(execution, "tessera::clone");
  return result;
}

}  // namespace detail

/// Returns a copy in memory of its own, with the same spec. Its View type is V if the library can
/// allocate V, otherwise that of redistribute()'s results. Local.
template <LocalView V>
DTensor<redistributed_view_t<V>> clone(const DTensor<V>& tensor) {
  return detail::clone(Execution(), tensor);
}
/// Orders the copy on `exec`.
template <LocalView V>
DTensor<redistributed_view_t<V>> clone(const Execution& exec, const DTensor<V>& tensor) {
  return detail::clone(exec, tensor);
}

}  // namespace tessera
