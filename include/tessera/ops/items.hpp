// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/ops/detail/call.hpp>
#include <tessera/redistribute/item.hpp>
#include <tessera/redistribute/pending.hpp>

namespace tessera {

namespace detail {

/// Describes one 0-d tensor whose value is wanted.
struct ItemRequest {
  const DeviceMesh* mesh;
  const DTensorSpec* spec;
  ArrayRef array;
  void* value;  ///< host memory
};

/// Reduces what is Partial in one exchange, and copies all values to the host.
void read_items(const Execution& execution, std::span<const ItemRequest> items,
                const OwnerRef& owner);

/// Starts it. Returns the work in the background, if there is any.
std::optional<PendingWork> start_items(Operation& operation, const Execution& execution,
                                       std::span<const ItemRequest> items,
                                       const std::shared_ptr<void>& owner);

template <class V>
using number_of = std::remove_const_t<typename V::value_type>;

template <class... V, class... T>
std::array<ItemRequest, sizeof...(V)> item_requests(std::tuple<T...>& values,
                                                    const DTensor<V>&... tensors) {
  static_assert(((V::rank() == 0) && ...),
                "items takes tensors of 0 dims, such as results of ops::sum(x)");
  return std::apply(
      [&](auto&... value) {
        return std::array{ItemRequest{&tensors.device_mesh(), &tensors.spec(),
                                      array_ref(tensors.to_local()), &value}...};
      },
      values);
}

}  // namespace detail

/// Returns the values of several 0-d tensors on one mesh as a std::tuple of numbers, on the host.
/// Those of Partial tensors are reduced, all in one exchange.
///
/// Example: auto [total, largest] = items(ops::sum(x), ops::max(x));
/// Collective over the mesh if a tensor is Partial, otherwise local. Off the mesh the values are
/// value-initialised. Errors: MeshMismatch; those of redistribute().
template <LocalView... V>
std::tuple<detail::number_of<V>...> items(const Execution& exec, const DTensor<V>&... tensors) {
  std::tuple<detail::number_of<V>...> values{};
  const auto requests = detail::item_requests(values, tensors...);
  detail::read_items(exec, requests, [&] { return detail::held_all(tensors...); });
  return values;
}
/// Waits for all work first.
template <LocalView... V>
std::tuple<detail::number_of<V>...> items(const DTensor<V>&... tensors) {
  return items(Execution(), tensors...);
}

/// Holds the values of items_async() and item_async(), which arrive in the background; see Pending.
template <class Numbers>
class PendingNumbers {
 public:
  explicit PendingNumbers(Pending<std::shared_ptr<Numbers>> pending)
      : pending_(std::move(pending)) {}

  /// Returns whether the values are there. Local. Errors: those of wait().
  bool test() { return pending_.test(); }
  /// Waits for the values and returns them. Collective over the mesh. Errors: those of items().
  Numbers wait() { return *pending_.wait(); }

 private:
  Pending<std::shared_ptr<Numbers>> pending_;
};

/// Starts items() in the background, and returns an object whose wait() returns the numbers.
///
/// Collective over the mesh, both to start and to wait. Errors: those of items(), which this call
/// may throw, too.
template <LocalView... V>
PendingNumbers<std::tuple<detail::number_of<V>...>> items_async(const DTensor<V>&... tensors) {
  return items_async(Execution(), tensors...);
}
/// Orders the work on `exec`.
template <LocalView... V>
PendingNumbers<std::tuple<detail::number_of<V>...>> items_async(const Execution& exec,
                                                                const DTensor<V>&... tensors) {
  using Numbers = std::tuple<detail::number_of<V>...>;
  const auto& mesh = std::get<0>(std::tie(tensors...)).device_mesh();
  return PendingNumbers<Numbers>(detail::start_call("items_async", mesh, [&](Operation& operation) {
    auto values = std::make_shared<Numbers>();
    const auto requests = detail::item_requests(*values, tensors...);
    auto memory = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
        detail::held_all(tensors...), values);
    return std::pair(values, detail::start_items(operation, exec, requests, memory));
  }));
}
/// Starts item() in the background, and returns an object whose wait() returns the number.
///
/// Example: auto pending = item_async(ops::sum(x));
/// Collective, Errors: those of items_async().
template <LocalView V>
PendingNumbers<detail::number_of<V>> item_async(const DTensor<V>& tensor) {
  return item_async(Execution(), tensor);
}
/// Orders the work on `exec`.
template <LocalView V>
PendingNumbers<detail::number_of<V>> item_async(const Execution& exec, const DTensor<V>& tensor) {
  using Number = detail::number_of<V>;
  return PendingNumbers<Number>(
      detail::start_call("item_async", tensor.device_mesh(), [&](Operation& operation) {
        auto value = std::make_shared<std::tuple<Number>>();
        const auto requests = detail::item_requests(*value, tensor);
        auto memory = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
            detail::held_all(tensor), value);
        auto work = detail::start_items(operation, exec, requests, memory);
        return std::pair(std::shared_ptr<Number>(value, &std::get<0>(*value)), std::move(work));
      }));
}

}  // namespace tessera
