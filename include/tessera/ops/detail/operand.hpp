// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <tessera/ops/rule.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

namespace detail {

/// Tells whether T is a number: real or complex, bool included.
template <class T>
inline constexpr bool is_number_v = [] {
  if constexpr (std::is_arithmetic_v<T> || ComplexNumber<T>)
    return true;
  else if constexpr (std::is_class_v<T> && std::is_trivially_copyable_v<T>)
    return element_kind<T> != ElementKind::opaque;
  else
    return false;
}();

}  // namespace detail

/// An Operand of an operator is a tensor, or a number.
template <class T>
concept Operand =
    is_tensor_operand_v<std::remove_cvref_t<T>> || detail::is_number_v<std::remove_cvref_t<T>>;

namespace detail {

/// Names the element type of an operand; void for a number.
template <class A>
struct OperandElement {
  using type = void;
};
template <class V>
struct OperandElement<DTensor<V>> {
  using type = std::remove_const_t<typename V::value_type>;
};
template <LocalView V>
struct OperandElement<V> {
  using type = std::remove_const_t<typename V::value_type>;
};

template <class C, class T>
struct WithPart {
  using type = T;
};
template <template <class> class C, class U, class T>
requires ComplexNumber<C<U>>
struct WithPart<C<U>, T> {
  using type = C<T>;
};
template <class T>
struct PartOf {
  using type = T;
};
template <ComplexNumber T>
struct PartOf<T> {
  using type = typename T::value_type;
};

/// Names the type that holds floating-point numbers of both types; void if they have none.
template <class A, class B>
consteval auto common_part() {
  if constexpr (std::is_same_v<A, B>)
    return std::type_identity<A>{};
  else if constexpr (std::is_floating_point_v<A> && std::is_floating_point_v<B>)
    return std::type_identity<std::common_type_t<A, B>>{};
  else if constexpr (std::is_floating_point_v<A> && is_floating(element_kind<B>))
    return std::type_identity<A>{};
  else if constexpr (std::is_floating_point_v<B> && is_floating(element_kind<A>))
    return std::type_identity<B>{};
  else if constexpr (is_floating(element_kind<A>) && is_floating(element_kind<B>))
    return std::type_identity<float>{};
  else
    return std::type_identity<void>{};
}

/// Names the element type in which operands of types A and B meet; void if there is none. A void
/// type is that of a number, which takes the other one.
template <class A, class B>
consteval auto common_element() {
  if constexpr (std::is_void_v<A>)
    return std::type_identity<B>{};
  else if constexpr (std::is_void_v<B> || std::is_same_v<A, B>)
    return std::type_identity<A>{};
  else {
    using Part =
        typename decltype(common_part<typename PartOf<A>::type, typename PartOf<B>::type>())::type;
    using Shape = std::conditional_t<is_complex(element_kind<A>), A, B>;
    if constexpr (std::is_void_v<Part>)
      return std::type_identity<void>{};
    else
      return std::type_identity<typename WithPart<Shape, Part>::type>{};
  }
}

template <class... T>
struct CommonElement {
  using type = void;
};
template <class A>
struct CommonElement<A> {
  using type = A;
};
template <class A, class B, class... Rest>
struct CommonElement<A, B, Rest...> {
  using type =
      typename CommonElement<typename decltype(common_element<A, B>())::type, Rest...>::type;
};

/// Returns whether a number of type N can be used where elements are of type T.
template <class N, class T>
consteval bool number_fits() {
  if (std::is_same_v<N, T> || std::is_same_v<N, bool>) return true;
  if (std::is_same_v<T, bool>) return false;
  if (std::is_integral_v<T>) return std::is_integral_v<N>;
  return !ComplexNumber<N> || ComplexNumber<T>;
}

/// Holds a number as an element of some type.
struct NumberBytes {
  alignas(16) std::array<std::byte, 32> bytes;

  template <class T>
  static NumberBytes of(const T& value) {
    static_assert(sizeof(T) <= sizeof(bytes));
    NumberBytes result{};
    std::memcpy(result.bytes.data(), static_cast<const void*>(&value), sizeof value);
    return result;
  }
  template <class T>
  T as() const {
    T value;
    std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
    return value;
  }
};

/// Throws InvalidArgument: the number is none of the type's.
[[noreturn]] void throw_number_out_of_range(const std::string& number, ElementType type);

/// Returns the number as an element. Errors: InvalidArgument for an integer that T does not hold.
template <class T, class N>
T number_as_element(const N& number) {
  if constexpr (std::is_same_v<T, N>) {
    return number;
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && std::is_integral_v<N> &&
                       !std::is_same_v<N, bool>) {
    if (!std::in_range<T>(number))
      throw_number_out_of_range(std::to_string(number), element_type<T>());
    return static_cast<T>(number);
  } else if constexpr (ComplexNumber<T>) {
    using Part = typename T::value_type;
    if constexpr (ComplexNumber<N>)
      return T(static_cast<Part>(number.real()), static_cast<Part>(number.imag()));
    else
      return T(static_cast<Part>(number), Part(0));
  } else {
    return static_cast<T>(number);
  }
}

template <class T>
OperandNumber describe_number(const T& number) {
  if constexpr (ComplexNumber<T>) {
    const auto real = describe_number(number.real()), imag = describe_number(number.imag());
    return {real.is_finite && imag.is_finite, real.is_zero && imag.is_zero, false};
  } else if constexpr (std::is_integral_v<T>) {
    return {true, number == T(0), number < T(0)};
  } else {
    const auto value = static_cast<long double>(number);
    return {std::isfinite(value), value == 0, std::signbit(value)};
  }
}

/// Describes an operand without its type.
struct OperandRef {
  const DeviceMesh* mesh = nullptr;  ///< null for a number
  const DTensorSpec* spec = nullptr;
  ArrayRef array = {};  ///< has the type alone for a number
  OperandNumber number = {};
  NumberBytes value = {};

  bool is_number() const { return spec == nullptr; }
};

/// Returns the OperandRef of a tensor, or of a number that becomes an element of type T.
template <class T, class V>
OperandRef operand_ref(const DTensor<V>& tensor) {
  return {&tensor.device_mesh(), &tensor.spec(), array_ref(tensor.to_local()), {}, {}};
}
template <class T, class N>
requires is_number_v<N> OperandRef operand_ref(const N& number) {
  OperandRef result;
  const auto element = number_as_element<T>(number);
  result.array.type = element_type<T>();
  result.number = describe_number(element);
  result.value = NumberBytes::of(element);
  return result;
}

template <class A>
inline constexpr std::size_t operand_rank = 0;
template <class V>
inline constexpr std::size_t operand_rank<DTensor<V>> = V::rank();
template <LocalView V>
inline constexpr std::size_t operand_rank<V> = V::rank();

template <class T, std::size_t N>
struct Pointers {
  using type = typename Pointers<T, N - 1>::type*;
};
template <class T>
struct Pointers<T, 0> {
  using type = T;
};

/// Names a View of N dims with elements T, in the layout and memory space of results of V.
template <LocalView V, class T, std::size_t N>
using view_like_t =
    Kokkos::View<typename Pointers<T, N>::type,
                 std::conditional_t<std::is_same_v<typename V::array_layout, Kokkos::LayoutLeft>,
                                    Kokkos::LayoutLeft, Kokkos::LayoutRight>,
                 typename V::device_type>;

template <class A>
struct OperandView {
  using type = void;
};
template <class V>
struct OperandView<DTensor<V>> {
  using type = V;
};
template <LocalView V>
struct OperandView<V> {
  using type = V;
};

/// Names the first type that is not void.
template <class... V>
struct FirstView;
template <class V, class... Rest>
struct FirstView<V, Rest...> {
  using type = V;
};
template <class... Rest>
struct FirstView<void, Rest...> : FirstView<Rest...> {};

/// Tells whether all Views, void left out, have one memory space.
template <class First, class V>
inline constexpr bool is_in_space_of = memory_space<V> == memory_space<First>;
template <class First>
inline constexpr bool is_in_space_of<First, void> = true;

/// Names the View type of the first operand with `Rank` dims.
template <std::size_t Rank, class... A>
struct FirstOfRank;
template <std::size_t Rank, class A, class... Rest>
struct FirstOfRank<Rank, A, Rest...> : FirstOfRank<Rank, Rest...> {};
template <std::size_t Rank, class A, class... Rest>
requires(!std::is_void_v<typename OperandView<A>::type> &&
         operand_rank<A> == Rank) struct FirstOfRank<Rank, A, Rest...> : OperandView<A> {
};

/// Names the View type of an elementwise result with elements R of operands A: that of the first
/// operand with as many dims as the result, if the library can allocate it with elements R.
template <class R, class... A>
struct ElementwiseView {
  static constexpr std::size_t rank = std::max({operand_rank<A>...});
  using First = typename FirstOfRank<rank, A...>::type;
  static constexpr bool has_static_extents = First::rank_dynamic() != First::rank();
  // A dim of extent 1 may stretch, which a static extent cannot.
  static constexpr bool is_one_type = ((std::is_void_v<typename OperandView<A>::type> ||
                                        std::is_same_v<typename OperandView<A>::type, First>)&&...);
  static constexpr bool keeps = is_allocatable<First> &&
                                std::is_same_v<typename First::value_type, R> &&
                                (is_one_type || !has_static_extents);
  using type = std::conditional_t<keeps, First, view_like_t<First, R, rank>>;
};

}  // namespace detail
}  // namespace tessera
