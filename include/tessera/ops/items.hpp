// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <type_traits>

#include <tessera/ops/detail/call.hpp>
#include <tessera/redistribute/item.hpp>

namespace tessera {

namespace detail {

/// Describes one 0-d tensor whose value is wanted.
struct ItemRequest {
  const DeviceMesh* mesh;
  const DTensorSpec* spec;
  ArrayRef array;
  void* value;  ///< on the host
};

/// Reduces what is Partial in one exchange, and copies all values to the host.
void read_items(const Execution& execution, std::span<const ItemRequest> items,
                const OwnerRef& owner);

}  // namespace detail

/// Returns the values of several 0-d tensors on one mesh as a std::tuple of numbers, on the host. Those of
/// Partial tensors are reduced, all in one exchange.
///
/// Example: auto [total, largest] = items(ops::sum(x), ops::max(x));
/// Collective over the mesh if a tensor is Partial, otherwise local. Off the mesh the values are
/// value-initialised. Errors: MeshMismatch; those of redistribute().
template <LocalView... V>
std::tuple<std::remove_const_t<typename V::value_type>...> items(const Execution& exec,
                                                                 const DTensor<V>&... tensors) {
  static_assert(((V::rank() == 0) && ...),
                "items takes tensors of 0 dims, such as results of ops::sum(x)");
  std::tuple<std::remove_const_t<typename V::value_type>...> values{};
  std::apply(
      [&](auto&... value) {
        const std::array requests{detail::ItemRequest{&tensors.device_mesh(), &tensors.spec(),
                                                      array_ref(tensors.to_local()), &value}...};
        detail::read_items(exec, requests, [&] { return detail::held_all(tensors...); });
      },
      values);
  return values;
}
/// Waits for all work first.
template <LocalView... V>
std::tuple<std::remove_const_t<typename V::value_type>...> items(const DTensor<V>&... tensors) {
  return items(Execution(), tensors...);
}

}  // namespace tessera
