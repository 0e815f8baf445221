// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tessera/error/error.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

namespace detail {

template <class V>
auto clone(const Execution& execution, const DTensor<V>& tensor) {
  using Result = AllocatableView<V>;
  execution.fence("tessera::clone: before reading the source");
  auto result = allocate_dtensor<Result>(tensor.device_mesh(), tensor.spec(), "tessera::clone");
  if (tensor.device_mesh().coordinate() && result.to_local().size() > 0)
    Kokkos::deep_copy(execution.instance<memory_space<V>>(), result.to_local(), tensor.to_local());
  finish(execution, "clone");
  return result;
}

template <class V>
auto item(const Execution& execution, const DTensor<V>& tensor) {
  using Value = std::remove_const_t<typename V::value_type>;
  require(V::rank() == 0,
          [&] { return "item: expected a 0-d tensor, got shape " + to_string(tensor.shape()); });
  require(!tensor.placements().has_partial(), [&] {
    return "item: expected Replicate placements (see reduce_partial), got " +
           to_string(tensor.placements());
  });
  Value value{};
  if (!tensor.device_mesh().coordinate()) return value;
  execution.fence("tessera::item: before reading");
  const Kokkos::View<Value, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      &value);
  if constexpr (V::rank() == 0) Kokkos::deep_copy(host, tensor.to_local());
  return value;
}

}  // namespace detail

/// Returns a copy in memory of its own, with the same spec. Its View type is V if the library can
/// allocate V, otherwise that of redistribute()'s results. Local.
template <class V>
auto clone(const DTensor<V>& tensor) {
  return detail::clone(Execution(), tensor);
}
/// Orders the copy on `exec`.
template <class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto clone(const Exec& exec, const DTensor<V>& tensor) {
  return detail::clone(Execution(exec), tensor);
}

/// Returns the value of a 0-d tensor, on the host. Local; off the mesh the value is
/// value-initialised.
///
/// Errors: InvalidArgument for more than 0 dims or a Partial placement.
template <class V>
auto item(const DTensor<V>& tensor) {
  return detail::item(Execution(), tensor);
}
/// Waits for the work on `exec` before it reads the value.
template <class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto item(const Exec& exec, const DTensor<V>& tensor) {
  return detail::item(Execution(exec), tensor);
}

}  // namespace tessera
