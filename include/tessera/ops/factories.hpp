// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/ops/detail/operand.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/factories.hpp>

namespace tessera {

namespace detail {

/// Returns begin + i step.
template <class T>
struct Ramp {
  T begin;
  T step;
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, 1>& index) const {
    return static_cast<T>(begin + static_cast<T>(index[0]) * step);
  }
};

/// Returns numbers from `first` to `last` at equal distances, both included.
template <class T>
struct EvenlySpaced {
  T first;
  T last;
  std::int64_t count;
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, 1>& index) const {
    if (index[0] == count - 1 && count > 1) return last;
    const auto parts = static_cast<T>(count > 1 ? count - 1 : 1);
    return static_cast<T>(first + static_cast<T>(index[0]) * ((last - first) / parts));
  }
};

template <class T>
struct UnitMatrix {
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, 2>& index) const {
    return T(index[0] == index[1] ? 1 : 0);
  }
};

/// Returns the number of elements of begin, begin + step, … below `end` (above it, if step < 0).
/// Errors: InvalidArgument for step 0, numbers that are not finite, and too many elements.
std::int64_t ramp_size(long double begin, long double end, long double step);
/// Throws InvalidArgument unless count ≥ 0.
void require_count(std::int64_t count);

/// Returns the target of a tensor like `spec`: with Replicate where that is Partial.
DTensorSpec like_spec(const DTensorSpec& spec);

template <class V>
consteval bool expect_line() {
  static_assert(rank_of<V> == 1,
                "expected a View type of 1 dim: arange<Kokkos::View<double*>>(...)");
  return rank_of<V> == 1;
}

}  // namespace detail

/// Makes a tensor of the numbers begin, begin + step, …, less than `end`, or greater if step is
/// negative. V is a View type of 1 dim. Local, as all factories are.
///
/// Errors: those of the factories; InvalidArgument for step 0.
template <class V>
DTensor<V> arange(const DeviceMesh& mesh, const Target& target, detail::element_of<V> begin,
                  detail::element_of<V> end, detail::element_of<V> step = 1) {
  if constexpr (detail::expect_line<V>()) {
    using T = detail::element_of<V>;
    return detail::named("arange", [&] {
      const auto size =
          detail::ramp_size(static_cast<long double>(begin), static_cast<long double>(end),
                            static_cast<long double>(step));
      return detail::make_from_function<V>(Execution(), mesh, target, {size},
                                           detail::Ramp<T>{begin, step});
    });
  }
  return {};
}
/// Makes a tensor of the numbers 0, 1, …, end - 1.
template <class V>
DTensor<V> arange(const DeviceMesh& mesh, const Target& target, detail::element_of<V> end) {
  return arange<V>(mesh, target, detail::element_of<V>(0), end, detail::element_of<V>(1));
}

/// Makes a tensor of `count` numbers from `first` to `last` at equal distances, both included. V is
/// a View type of 1 dim with floating-point elements. Local.
///
/// Errors: those of the factories; InvalidArgument for count < 0.
template <class V>
DTensor<V> linspace(const DeviceMesh& mesh, const Target& target, detail::element_of<V> first,
                    detail::element_of<V> last, std::int64_t count) {
  if constexpr (detail::expect_line<V>()) {
    using T = detail::element_of<V>;
    static_assert(is_floating(element_kind<T>), "linspace makes floating-point numbers");
    return detail::named("linspace", [&] {
      detail::require_count(count);
      return detail::make_from_function<V>(Execution(), mesh, target, {count},
                                           detail::EvenlySpaced<T>{first, last, count});
    });
  }
  return {};
}

/// Makes a matrix with 1 on its diagonal, and 0 elsewhere. V is a View type of 2 dims. Local.
///
/// Errors: those of the factories.
template <class V>
DTensor<V> eye(const DeviceMesh& mesh, const Target& target, std::int64_t rows,
               std::int64_t columns) {
  static_assert(detail::rank_of<V> == 2,
                "expected a View type of 2 dims: eye<Kokkos::View<double**>>(...)");
  if constexpr (detail::rank_of<V> == 2)
    return detail::named("eye", [&] {
      return detail::make_from_function<V>(Execution(), mesh, target, {rows, columns},
                                           detail::UnitMatrix<detail::element_of<V>>());
    });
  return {};
}
/// Makes a square matrix with 1 on its diagonal.
template <class V>
DTensor<V> eye(const DeviceMesh& mesh, const Target& target, std::int64_t rows) {
  return eye<V>(mesh, target, rows, rows);
}

namespace detail {

enum class Likeness : std::uint8_t { empty, zeros, ones, rand, randn };

template <Likeness kind>
constexpr const char* likeness_name() {
  if constexpr (kind == Likeness::empty) return "empty_like";
  if constexpr (kind == Likeness::zeros) return "zeros_like";
  if constexpr (kind == Likeness::ones) return "ones_like";
  if constexpr (kind == Likeness::rand) return "rand_like";
  return "randn_like";
}

/// Makes tensors like another one, as a function object.
template <Likeness kind>
struct LikeFactory {
  static constexpr const char* name = likeness_name<kind>();
  static constexpr bool is_factory = true;

  template <LocalView V>
  DTensor<redistributed_view_t<V>> operator()(const DTensor<V>& tensor) const {
    using Result = redistributed_view_t<V>;
    const auto& mesh = tensor.device_mesh();
    const Target target(like_spec(tensor.spec()));
    const auto& shape = tensor.shape();
    if constexpr (kind == Likeness::empty) return tessera::empty<Result>(mesh, target, shape);
    if constexpr (kind == Likeness::zeros) return tessera::zeros<Result>(mesh, target, shape);
    if constexpr (kind == Likeness::ones) return tessera::ones<Result>(mesh, target, shape);
    if constexpr (kind == Likeness::rand) return tessera::rand<Result>(mesh, target, shape);
    if constexpr (kind == Likeness::randn) return tessera::randn<Result>(mesh, target, shape);
  }

  /// Makes a View of this rank. Random numbers need a tensor.
  template <LocalView V>
  redistributed_view_t<V> operator()(const V& view) const {
    static_assert(kind != Likeness::rand && kind != Likeness::randn,
                  "random numbers belong to global indices: give a tensor");
    auto result = allocate<redistributed_view_t<V>>(extents_of(view), name);
    if constexpr (kind == Likeness::zeros)
      Kokkos::deep_copy(result, typename V::non_const_value_type(0));
    if constexpr (kind == Likeness::ones)
      Kokkos::deep_copy(result, typename V::non_const_value_type(1));
    return result;
  }
};

template <Likeness kind>
const char* operator_name(const LikeFactory<kind>& factory) {
  return factory.name;
}

}  // namespace detail

namespace ops {

// The function objects below make a tensor with the spec and element type of another one, or a View
// of the extents of another one. Where the spec is Partial, that of the new tensor is Replicate.
// Local.

/// Makes a tensor like another one; its elements are not initialised.
inline constexpr detail::LikeFactory<detail::Likeness::empty> empty_like;
/// Makes a tensor of zeros like another one.
inline constexpr detail::LikeFactory<detail::Likeness::zeros> zeros_like;
/// Makes a tensor of ones like another one.
inline constexpr detail::LikeFactory<detail::Likeness::ones> ones_like;
/// Makes a tensor like another one, of the next uniform random numbers of the mesh, as rand().
inline constexpr detail::LikeFactory<detail::Likeness::rand> rand_like;
/// Makes a tensor like another one, of the next normal random numbers of the mesh, as randn().
inline constexpr detail::LikeFactory<detail::Likeness::randn> randn_like;

}  // namespace ops

/// Makes a tensor like another one: see ops::empty_like.
using ops::empty_like;
/// Makes a tensor like another one: see ops::ones_like.
using ops::ones_like;
/// Makes a tensor like another one: see ops::rand_like.
using ops::rand_like;
/// Makes a tensor like another one: see ops::randn_like.
using ops::randn_like;
/// Makes a tensor like another one: see ops::zeros_like.
using ops::zeros_like;

/// Makes a tensor with the spec and element type of another one whose elements all equal `value`.
/// Where the spec is Partial, that of the new tensor is Replicate. Local.
template <LocalView V, class T>
DTensor<redistributed_view_t<V>> full_like(const DTensor<V>& tensor, const T& value) {
  return full<redistributed_view_t<V>>(
      tensor.device_mesh(), Target(detail::like_spec(tensor.spec())), tensor.shape(), value);
}

}  // namespace tessera
