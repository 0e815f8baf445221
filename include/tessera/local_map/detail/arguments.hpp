// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/local_map/detail/inputs.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera::detail {

template <class T>
inline constexpr bool is_tensor_v = is_dtensor_v<T> || Kokkos::is_view_v<T>;
/// Tells whether T is a tensor of a layer above, with a gradient.
template <class T>
inline constexpr bool is_variable_operand_v = is_tensor_operand_v<T> && !is_dtensor_v<T>;

/// Container says what T is or holds at any depth. A tuple, pair, array or vector that holds a tensor
/// is flattened, depth first. Everything else is one argument.
template <class T>
struct Container {
  static constexpr bool is_flattened = false;
  static constexpr bool has_tensor = is_tensor_v<T>;
  static constexpr bool has_dtensor = is_dtensor_v<T>;
  static constexpr bool has_variable = is_variable_operand_v<T>;
};
template <class... Ts>
struct Container<std::tuple<Ts...>> {
  static constexpr bool has_tensor = (Container<std::remove_cvref_t<Ts>>::has_tensor || ...);
  static constexpr bool is_flattened = has_tensor;
  static constexpr bool has_dtensor = (Container<std::remove_cvref_t<Ts>>::has_dtensor || ...);
  static constexpr bool has_variable = (Container<std::remove_cvref_t<Ts>>::has_variable || ...);
};
template <class A, class B>
struct Container<std::pair<A, B>> : Container<std::tuple<A, B>> {};
template <class T, std::size_t N>
struct Container<std::array<T, N>> : Container<std::tuple<T>> {};
template <class T, class Allocator>
struct Container<std::vector<T, Allocator>> : Container<std::tuple<T>> {};

template <class T>
inline constexpr bool is_flattened_v = Container<std::remove_cvref_t<T>>::is_flattened;
template <class T>
inline constexpr bool has_dtensor_v = Container<std::remove_cvref_t<T>>::has_dtensor;
template <class T>
inline constexpr bool has_variable_v = Container<std::remove_cvref_t<T>>::has_variable;

template <class T>
inline constexpr bool is_range_v = false;
template <class T, std::size_t N>
inline constexpr bool is_range_v<std::array<T, N>> = true;
template <class T, class Allocator>
inline constexpr bool is_range_v<std::vector<T, Allocator>> = true;

/// Adds the leaves of one argument to `leaves`, depth first.
template <class T>
void add_leaves(std::vector<Leaf>& leaves, const T& argument) {
  if constexpr (is_dtensor_v<T>) {
    leaves.push_back({LeafKind::dtensor, argument.device_mesh(), argument.spec(),
                      element_type<typename T::view_type::value_type>()});
  } else if constexpr (Kokkos::is_view_v<T>) {
    leaves.push_back({LeafKind::view});
  } else if constexpr (!is_flattened_v<T>) {
    leaves.push_back({});
  } else if constexpr (is_range_v<T>) {
    for (const auto& element : argument) add_leaves(leaves, element);
  } else {
    std::apply([&](const auto&... elements) { (add_leaves(leaves, elements), ...); }, argument);
  }
}

/// Replaces the DTensors in arguments by their local Views. Redistributes a DTensor first if its
/// leaf has another spec.
class Localizer {
 public:
  explicit Localizer(const std::vector<Leaf>& leaves) : next_(leaves.begin()) {}

  /// Returns the argument itself, as a reference, unless it holds a DTensor.
  template <class T>
  decltype(auto) operator()(T&& argument) {
    using Value = std::remove_cvref_t<T>;
    if constexpr (is_dtensor_v<Value>) {
      return local_view(argument);
    } else if constexpr (has_dtensor_v<Value>) {
      return local_container(argument);
    } else {
      std::vector<Leaf> own;
      add_leaves(own, argument);
      next_ += static_cast<std::ptrdiff_t>(own.size());
      return std::forward<T>(argument);
    }
  }

 private:
  template <class V>
  V local_view(const DTensor<V>& tensor) {
    const auto& target = (next_++)->spec;
    if (agree_but_for_rules(target, tensor.spec())) return tensor.to_local();
    auto moved = std::make_shared<DTensor<redistributed_view_t<V>>>(redistribute(tensor, target));
    kept_.push_back(moved);
    return V(moved->to_local());
  }

  /// Names what stands in a container of func's for an element T.
  template <class T>
  using Local = std::decay_t<decltype(std::declval<Localizer&>()(std::declval<const T&>()))>;

  // The types of tuple and pair are spelled out: deduction would merge one that is nested alone.
  template <class... Ts>
  auto local_container(const std::tuple<Ts...>& tuple) {
    return std::apply(
        [&](const auto&... elements) { return std::tuple<Local<Ts>...>{(*this)(elements)...}; },
        tuple);
  }
  template <class A, class B>
  auto local_container(const std::pair<A, B>& pair) {
    return std::pair<Local<A>, Local<B>>{(*this)(pair.first), (*this)(pair.second)};
  }
  template <class T, std::size_t N>
  auto local_container(const std::array<T, N>& array) {
    return std::apply(
        [&](const auto&... elements) { return std::array<Local<T>, N>{(*this)(elements)...}; },
        array);
  }
  template <class T, class Allocator>
  auto local_container(const std::vector<T, Allocator>& vector) {
    std::vector<Local<T>> result;
    result.reserve(vector.size());
    for (const auto& element : vector) result.push_back((*this)(element));
    return result;
  }

  std::vector<Leaf>::const_iterator next_;
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace tessera::detail
