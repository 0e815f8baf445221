// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
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

namespace detail {

/// Makes a factory's tensor on a mesh, or on that of the current DeviceMeshScope if `mesh` is null.
template <class V, class Function>
DTensor<V> make_on(const char* name, const Execution& execution, const DeviceMesh* mesh,
                   const Target& target, const Extents& shape, const Function& function) {
  return named(name, [&] {
    return make_from_function<V>(execution, mesh == nullptr ? mesh_of_scope() : *mesh, target,
                                 shape, function);
  });
}

template <class V, class T = element_of<V>>
DTensor<V> make_arange(const Execution& execution, const DeviceMesh* mesh, const Target& target,
                       T begin, std::optional<T> end, T step) {
  if constexpr (expect_line<V>()) {
    if (!end.has_value()) {
      end = begin;
      begin = T(0);
    }
    const auto size = named("arange", [&] {
      return ramp_size(static_cast<long double>(begin), static_cast<long double>(*end),
                       static_cast<long double>(step));
    });
    return make_on<V>("arange", execution, mesh, target, {size}, Ramp<T>{begin, step});
  }
  return {};
}

template <class V, class T = element_of<V>>
DTensor<V> make_linspace(const Execution& execution, const DeviceMesh* mesh, const Target& target,
                         T first, T last, std::int64_t count) {
  if constexpr (expect_line<V>()) {
    static_assert(is_floating(element_kind<T>), "linspace makes floating-point numbers");
    named("linspace", [&] { require_count(count); });
    return make_on<V>("linspace", execution, mesh, target, {count},
                      EvenlySpaced<T>{first, last, count});
  }
  return {};
}

template <class V>
DTensor<V> make_eye(const Execution& execution, const DeviceMesh* mesh, const Target& target,
                    std::int64_t rows, std::int64_t columns) {
  static_assert(rank_of<V> == 2,
                "expected a View type of 2 dims: eye<Kokkos::View<double**>>(...)");
  if constexpr (rank_of<V> == 2)
    return make_on<V>("eye", execution, mesh, target, {rows, columns}, UnitMatrix<element_of<V>>());
  return {};
}

}  // namespace detail

/// Makes a tensor of the numbers begin, begin + step, …, less than `end`, or greater if step is
/// negative. With one number, that is the end, and the tensor begins with 0. V is a View type of 1
/// dim. Local, as all factories are.
///
/// Example: arange<Vector>(mesh, Shard(0), 5) is 0, 1, 2, 3, 4.
/// Errors: those of the factories; InvalidArgument for step 0.
template <class V>
DTensor<V> arange(const DeviceMesh& mesh, const Target& target, detail::element_of<V> begin,
                  std::optional<detail::element_of<V>> end = {}, detail::element_of<V> step = 1) {
  return detail::make_arange<V>(Execution(), &mesh, target, begin, end, step);
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> arange(const Target& target, detail::element_of<V> begin,
                  std::optional<detail::element_of<V>> end = {}, detail::element_of<V> step = 1) {
  return detail::make_arange<V>(Execution(), nullptr, target, begin, end, step);
}
/// Orders the work on `exec`.
template <class V>
DTensor<V> arange(const Execution& exec, const DeviceMesh& mesh, const Target& target,
                  detail::element_of<V> begin, std::optional<detail::element_of<V>> end = {},
                  detail::element_of<V> step = 1) {
  return detail::make_arange<V>(exec, &mesh, target, begin, end, step);
}
/// Orders the work on `exec`, and takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> arange(const Execution& exec, const Target& target, detail::element_of<V> begin,
                  std::optional<detail::element_of<V>> end = {}, detail::element_of<V> step = 1) {
  return detail::make_arange<V>(exec, nullptr, target, begin, end, step);
}

/// Makes a tensor of `count` numbers from `first` to `last` at equal distances, both included; `first`
/// alone if count is 1. V is a View type of 1 dim with floating-point elements. Local.
///
/// Errors: those of the factories; InvalidArgument for count < 0.
template <class V>
DTensor<V> linspace(const DeviceMesh& mesh, const Target& target, detail::element_of<V> first,
                    detail::element_of<V> last, std::int64_t count) {
  return detail::make_linspace<V>(Execution(), &mesh, target, first, last, count);
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> linspace(const Target& target, detail::element_of<V> first, detail::element_of<V> last,
                    std::int64_t count) {
  return detail::make_linspace<V>(Execution(), nullptr, target, first, last, count);
}
/// Orders the work on `exec`.
template <class V>
DTensor<V> linspace(const Execution& exec, const DeviceMesh& mesh, const Target& target,
                    detail::element_of<V> first, detail::element_of<V> last, std::int64_t count) {
  return detail::make_linspace<V>(exec, &mesh, target, first, last, count);
}
/// Orders the work on `exec`, and takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> linspace(const Execution& exec, const Target& target, detail::element_of<V> first,
                    detail::element_of<V> last, std::int64_t count) {
  return detail::make_linspace<V>(exec, nullptr, target, first, last, count);
}

/// Makes a matrix with 1 on its diagonal, and 0 elsewhere; a square one if there is no number of
/// columns. V is a View type of 2 dims. Local.
///
/// Errors: those of the factories.
template <class V>
DTensor<V> eye(const DeviceMesh& mesh, const Target& target, std::int64_t rows,
               std::optional<std::int64_t> columns = {}) {
  return detail::make_eye<V>(Execution(), &mesh, target, rows, columns.value_or(rows));
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> eye(const Target& target, std::int64_t rows, std::optional<std::int64_t> columns = {}) {
  return detail::make_eye<V>(Execution(), nullptr, target, rows, columns.value_or(rows));
}
/// Orders the work on `exec`.
template <class V>
DTensor<V> eye(const Execution& exec, const DeviceMesh& mesh, const Target& target,
               std::int64_t rows, std::optional<std::int64_t> columns = {}) {
  return detail::make_eye<V>(exec, &mesh, target, rows, columns.value_or(rows));
}
/// Orders the work on `exec`, and takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> eye(const Execution& exec, const Target& target, std::int64_t rows,
               std::optional<std::int64_t> columns = {}) {
  return detail::make_eye<V>(exec, nullptr, target, rows, columns.value_or(rows));
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
