// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <type_traits>

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

namespace detail {

/// Returns the only element of a View, on the host; a value-initialised one off the mesh.
template <class V>
std::remove_const_t<typename V::value_type> item_here(const Execution& execution,
                                                      const DTensor<V>& tensor) {
  using Value = std::remove_const_t<typename V::value_type>;
  Value value{};
  if (!tensor.device_mesh().coordinate()) return value;
  execution.fence("tessera::item: before reading");
  const Kokkos::View<Value, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      &value);
  if constexpr (V::rank() == 0) Kokkos::deep_copy(host, tensor.to_local());
  return value;
}

template <class V>
std::remove_const_t<typename V::value_type> item(const Execution& execution,
                                                 const DTensor<V>& tensor) {
  named("item", [&] {
    require(V::rank() == 0,
            [&] { return "expected a 0-d tensor, got shape " + to_string(tensor.shape()); });
  });
  if (!tensor.placements().has_partial()) return item_here(execution, tensor);
  return item_here(execution,
                   detail::redistribute<void>(execution, tensor,
                                              reduced_placements(tensor.placements()), {}, "item"));
}

}  // namespace detail

/// Returns the value of a 0-d tensor, on the host; that of a Partial one is reduced.
///
/// Collective over the mesh, with one exchange, if a placement is Partial; otherwise local. Off the
/// mesh the value is value-initialised. Errors: InvalidArgument for more than 0 dims; those of
/// redistribute().
template <LocalView V>
std::remove_const_t<typename V::value_type> item(const DTensor<V>& tensor) {
  return detail::item(Execution(), tensor);
}
/// Waits for the work on `exec` before it reads the value.
template <LocalView V>
std::remove_const_t<typename V::value_type> item(const Execution& exec, const DTensor<V>& tensor) {
  return detail::item(exec, tensor);
}

}  // namespace tessera
