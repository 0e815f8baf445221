// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include <tessera/sharding/target.hpp>
#include <tessera/tensor/detail/index_map.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>
#include <tessera/tensor/random.hpp>

/// A factory makes a tensor without communication.
///
/// Every factory comes as f<V>([exec,] [mesh,] target, shape, …). Without a mesh it takes that
/// of the current DeviceMeshScope. With an execution space instance the work is ordered on it and
/// not fenced; without one the work is complete on return. `shape` is the global shape, also if the
/// target is a spec; V is a managed, non-const View type in LayoutLeft or LayoutRight. Off the mesh
/// the result is empty.
/// Errors: InvalidArgument for a Partial placement, placements or a shape that DTensorSpec rejects,
/// a spec of another shape, or a static extent of V that differs from that of the shape or would be
/// split; MeshMismatch for a spec on another mesh. All ranks get the same error.
namespace tessera {

namespace detail {

/// Returns the spec of a factory's tensor, after checking it.
DTensorSpec factory_spec(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                         const Extents& static_extents, ElementType type);

/// Returns whether a factory can make a V. If not, it stops the compiler with a sentence.
template <class V>
consteval bool expect_allocatable() {
  // What is no View at all is reported by DTensor<V>.
  static_assert(is_allocatable<V> || !is_local_view<V>,
                "expected a managed, non-const Kokkos::View in LayoutLeft or LayoutRight");
  return is_allocatable<V>;
}

template <class V>
DTensor<V> make_empty(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                      const char* label) {
  if constexpr (expect_allocatable<V>()) {
    auto spec = factory_spec(mesh, target, shape, static_extents<V>(),
                             element_type<typename V::value_type>());
    return allocate_dtensor<V>(mesh, std::move(spec), label);
  }
  return {};
}

/// Returns whether T converts to an element of V. If not, it stops the compiler with a sentence.
template <class V, class T>
consteval bool expect_value() {
  constexpr bool is_element = requires(const T& value) {
    static_cast<element_of<V>>(value);
  };
  static_assert(is_element || !is_local_view<V>,
                "full: expected a value that converts to the element type of the View");
  return is_element;
}

template <class T>
struct Fill {
  T* data;
  T value;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { data[i] = value; }
};

template <class V, class T>
DTensor<V> make_full(const Execution& execution, const DeviceMesh& mesh, const Target& target,
                     const Extents& shape, const T& given, const char* label) {
  if constexpr (expect_allocatable<V>() && expect_value<V, T>()) {
    const auto value = static_cast<typename V::value_type>(given);
    auto result = make_empty<V>(mesh, target, shape, label);
    const auto& view = result.to_local();
    const auto size = static_cast<std::int64_t>(view.span());  // allocated here: contiguous
    const Fill<typename V::value_type> fill{view.data(), value};
    if (mesh.coordinate() && size > 0) {
      if constexpr (memory_space<V> == MemorySpace::device)
        launch_on_device(execution, "tessera::full", size, fill);
      else
        launch_on_host(execution, "tessera::full", size, size * std::int64_t{sizeof value}, fill);
    }
    finish(execution, label);
    return result;
  }
  return {};
}

template <class V>
DTensor<V> make_random(const Execution& execution, const DeviceMesh& mesh, const Target& target,
                       const Extents& shape, Distribution distribution, const Random& random,
                       FunctionName function, const char* label) {
  if constexpr (expect_allocatable<V>()) {
    require_random(element_type<typename V::value_type>());
    auto result = make_empty<V>(mesh, target, shape, label);
    const auto key = key_of(random, mesh, function);
    if (mesh.coordinate() && result.to_local().size() > 0)
      fill_random(execution, distribution, key, array_ref(result.to_local()), shape,
                  result.spec().sections(*mesh.coordinate()));
    finish(execution, label);
    return result;
  }
  return {};
}

/// Returns whether a factory can make a V of what `Function` returns for a global index. If not, it
/// stops the compiler with a sentence.
template <class V, class Function>
consteval bool expect_element_function() {
  if constexpr (expect_allocatable<V>()) {
    using Index = Kokkos::Array<std::int64_t, V::rank()>;
    // With a device nothing is asked: nvcc does not know on the host what a device function
    // returns.
    constexpr bool is_callable = has_device || std::is_invocable_v<const Function&, Index&>;
    static_assert(is_callable,
                  "from_function: expected a function that takes the global index as one "
                  "Kokkos::Array<std::int64_t, V::rank()>; a lambda must not be mutable");
    if constexpr (is_callable && !has_device) {
      constexpr bool is_element =
          std::is_assignable_v<typename V::value_type&,
                               std::invoke_result_t<const Function&, Index&>>;
      static_assert(
          is_element,
          "from_function: expected a function whose result converts to the element type of "
          "the View");
      return is_element;
    }
    return is_callable;
  }
  return false;
}

/// Calls the user's function for each element of a local piece, in any order.
template <class V, class Function>
struct FillFromFunction {
  static constexpr std::size_t tensor_dims = V::rank();

  V view;
  Kokkos::Array<IndexMap, tensor_dims> maps;
  Kokkos::Array<std::int64_t, tensor_dims> shape;
  Kokkos::Array<std::int64_t, tensor_dims> strides;
  Function function;

  KOKKOS_FUNCTION void operator()(std::int64_t flat) const {
    Kokkos::Array<std::int64_t, tensor_dims> index{};
    std::int64_t distance = 0;
    for (std::size_t k = 0; k != tensor_dims; ++k) {
      const std::size_t d = is_left ? k : tensor_dims - 1 - k;
      const auto local = flat % shape[d];
      flat /= shape[d];
      index[d] = maps[d].global_index(local);
      distance += local * strides[d];
    }
    view.data()[distance] = function(index);
  }

  static constexpr bool is_left = std::is_same_v<typename V::array_layout, Kokkos::LayoutLeft>;
};

template <class V, class Function>
DTensor<V> make_from_function(const Execution& execution, const DeviceMesh& mesh,
                              const Target& target, const Extents& shape,
                              const Function& function) {
  if constexpr (expect_element_function<V, Function>()) {
    auto result = make_empty<V>(mesh, target, shape, "tessera::from_function");
    const auto& view = result.to_local();
    FillFromFunction<V, Function> fill{view, {}, {}, {}, function};
    for (std::size_t d = 0; d != V::rank(); ++d) {
      if (mesh.coordinate())
        fill.maps[d] = IndexMap(result.spec().split(d).sections(*mesh.coordinate()));
      fill.shape[d] = result.local_shape()[d];
      fill.strides[d] = static_cast<std::int64_t>(view.stride(d));
    }
    const auto size = static_cast<std::int64_t>(view.size());
    constexpr bool is_for_device =
        has_device && std::is_same_v<typename V::execution_space, Kokkos::DefaultExecutionSpace>;
    constexpr auto where = is_for_device ? MemorySpace::device : MemorySpace::host;
    const auto instance = execution.instance<where>();
    using Policy = Kokkos::RangePolicy<std::remove_const_t<decltype(instance)>,
                                       Kokkos::IndexType<std::int64_t>>;
    if (mesh.coordinate() && size > 0)
      Kokkos::parallel_for("tessera::from_function", Policy(instance, 0, size), fill);
    finish(execution, "tessera::from_function");
    return result;
  }
  return {};
}

}  // namespace detail

/// Makes a tensor that is not initialised.
template <class V>
DTensor<V> empty(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  return detail::named(
      "empty", [&] { return detail::make_empty<V>(mesh, target, shape, "tessera::empty"); });
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> empty(const Target& target, const Extents& shape) {
  return detail::named("empty", [&] {
    return detail::make_empty<V>(detail::mesh_of_scope(), target, shape, "tessera::empty");
  });
}
/// Takes an instance, on which nothing runs.
template <class V>
DTensor<V> empty(const Execution& /*exec*/, const DeviceMesh& mesh, const Target& target,
                 const Extents& shape) {
  return detail::named(
      "empty", [&] { return detail::make_empty<V>(mesh, target, shape, "tessera::empty"); });
}
/// Takes an instance, on which nothing runs, and the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> empty(const Execution& /*exec*/, const Target& target, const Extents& shape) {
  return detail::named("empty", [&] {
    return detail::make_empty<V>(detail::mesh_of_scope(), target, shape, "tessera::empty");
  });
}

/// Makes a tensor of zeros.
template <class V>
DTensor<V> zeros(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  return detail::named("zeros", [&] {
    return detail::make_full<V>(Execution(), mesh, target, shape, 0, "tessera::zeros");
  });
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> zeros(const Target& target, const Extents& shape) {
  return detail::named("zeros", [&] {
    return detail::make_full<V>(Execution(), detail::mesh_of_scope(), target, shape, 0,
                                "tessera::zeros");
  });
}
/// Orders the work on `exec`.
template <class V>
DTensor<V> zeros(const Execution& exec, const DeviceMesh& mesh, const Target& target,
                 const Extents& shape) {
  return detail::named("zeros", [&] {
    return detail::make_full<V>(exec, mesh, target, shape, 0, "tessera::zeros");
  });
}
/// Orders the work on `exec`, and takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> zeros(const Execution& exec, const Target& target, const Extents& shape) {
  return detail::named("zeros", [&] {
    return detail::make_full<V>(exec, detail::mesh_of_scope(), target, shape, 0, "tessera::zeros");
  });
}

/// Makes a tensor of ones.
template <class V>
DTensor<V> ones(const DeviceMesh& mesh, const Target& target, const Extents& shape) {
  return detail::named("ones", [&] {
    return detail::make_full<V>(Execution(), mesh, target, shape, 1, "tessera::ones");
  });
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> ones(const Target& target, const Extents& shape) {
  return detail::named("ones", [&] {
    return detail::make_full<V>(Execution(), detail::mesh_of_scope(), target, shape, 1,
                                "tessera::ones");
  });
}
/// Orders the work on `exec`.
template <class V>
DTensor<V> ones(const Execution& exec, const DeviceMesh& mesh, const Target& target,
                const Extents& shape) {
  return detail::named(
      "ones", [&] { return detail::make_full<V>(exec, mesh, target, shape, 1, "tessera::ones"); });
}
/// Orders the work on `exec`, and takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> ones(const Execution& exec, const Target& target, const Extents& shape) {
  return detail::named("ones", [&] {
    return detail::make_full<V>(exec, detail::mesh_of_scope(), target, shape, 1, "tessera::ones");
  });
}

/// Makes a tensor whose elements all equal `value`.
template <class V, class T = detail::element_of<V>>
DTensor<V> full(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                const T& value) {
  return detail::named("full", [&] {
    return detail::make_full<V>(Execution(), mesh, target, shape, value, "tessera::full");
  });
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V, class T = detail::element_of<V>>
DTensor<V> full(const Target& target, const Extents& shape, const T& value) {
  return detail::named("full", [&] {
    return detail::make_full<V>(Execution(), detail::mesh_of_scope(), target, shape, value,
                                "tessera::full");
  });
}
/// Orders the work on `exec`.
template <class V, class T = detail::element_of<V>>
DTensor<V> full(const Execution& exec, const DeviceMesh& mesh, const Target& target,
                const Extents& shape, const T& value) {
  return detail::named("full", [&] {
    return detail::make_full<V>(exec, mesh, target, shape, value, "tessera::full");
  });
}
/// Orders the work on `exec`, and takes the mesh of the current DeviceMeshScope.
template <class V, class T = detail::element_of<V>>
DTensor<V> full(const Execution& exec, const Target& target, const Extents& shape, const T& value) {
  return detail::named("full", [&] {
    return detail::make_full<V>(exec, detail::mesh_of_scope(), target, shape, value,
                                "tessera::full");
  });
}

/// Makes a floating or complex tensor of random numbers that are uniform in [0, 1): those of a
/// seed, or, without one, the next ones of the mesh, which advance with each call until
/// manual_seed().
///
/// An element depends on (seed, stream, its global index) only: the gathered tensor is
/// bit-identical for every mesh, placement, layout and backend. See Random. Without a seed it is
/// collective over the mesh, and no message is sent; a rank that has left out a call is found by
/// the next call that needs one.
template <class V>
DTensor<V> rand(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                Random random = {}) {
  return detail::named("rand", [&] {
    return detail::make_random<V>(Execution(), mesh, target, shape, detail::Distribution::uniform,
                                  random, "rand", "tessera::rand");
  });
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> rand(const Target& target, const Extents& shape, Random random = {}) {
  return detail::named("rand", [&] {
    return detail::make_random<V>(Execution(), detail::mesh_of_scope(), target, shape,
                                  detail::Distribution::uniform, random, "rand", "tessera::rand");
  });
}
/// Orders the work on `exec`.
template <class V>
DTensor<V> rand(const Execution& exec, const DeviceMesh& mesh, const Target& target,
                const Extents& shape, Random random = {}) {
  return detail::named("rand", [&] {
    return detail::make_random<V>(exec, mesh, target, shape, detail::Distribution::uniform, random,
                                  "rand", "tessera::rand");
  });
}
/// Orders the work on `exec`, and takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> rand(const Execution& exec, const Target& target, const Extents& shape,
                Random random = {}) {
  return detail::named("rand", [&] {
    return detail::make_random<V>(exec, detail::mesh_of_scope(), target, shape,
                                  detail::Distribution::uniform, random, "rand", "tessera::rand");
  });
}

/// Makes a tensor of normal random numbers with mean 0 and variance 1. Otherwise it behaves as
/// rand(), except that backends agree to rounding only.
template <class V>
DTensor<V> randn(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                 Random random = {}) {
  return detail::named("randn", [&] {
    return detail::make_random<V>(Execution(), mesh, target, shape, detail::Distribution::normal,
                                  random, "randn", "tessera::randn");
  });
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> randn(const Target& target, const Extents& shape, Random random = {}) {
  return detail::named("randn", [&] {
    return detail::make_random<V>(Execution(), detail::mesh_of_scope(), target, shape,
                                  detail::Distribution::normal, random, "randn", "tessera::randn");
  });
}
/// Orders the work on `exec`.
template <class V>
DTensor<V> randn(const Execution& exec, const DeviceMesh& mesh, const Target& target,
                 const Extents& shape, Random random = {}) {
  return detail::named("randn", [&] {
    return detail::make_random<V>(exec, mesh, target, shape, detail::Distribution::normal, random,
                                  "randn", "tessera::randn");
  });
}
/// Orders the work on `exec`, and takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> randn(const Execution& exec, const Target& target, const Extents& shape,
                 Random random = {}) {
  return detail::named("randn", [&] {
    return detail::make_random<V>(exec, detail::mesh_of_scope(), target, shape,
                                  detail::Distribution::normal, random, "randn", "tessera::randn");
  });
}

/// Makes a tensor of the values that `function` returns for the global indices, each a
/// Kokkos::Array<std::int64_t, V::rank()>. It is called on V's execution space.
///
/// Example: from_function<V>(mesh, {Shard(0)}, {4, 3},
///            KOKKOS_LAMBDA(Kokkos::Array<std::int64_t, 2> i) { return double(3 * i[0] + i[1]); });
template <class V, class Function>
DTensor<V> from_function(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                         const Function& function) {
  return detail::named("from_function", [&] {
    return detail::make_from_function<V>(Execution(), mesh, target, shape, function);
  });
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V, class Function>
DTensor<V> from_function(const Target& target, const Extents& shape, const Function& function) {
  return detail::named("from_function", [&] {
    return detail::make_from_function<V>(Execution(), detail::mesh_of_scope(), target, shape,
                                         function);
  });
}
/// Orders the work on `exec`.
template <class V, class Function>
DTensor<V> from_function(const Execution& exec, const DeviceMesh& mesh, const Target& target,
                         const Extents& shape, const Function& function) {
  return detail::named("from_function", [&] {
    return detail::make_from_function<V>(exec, mesh, target, shape, function);
  });
}
/// Orders the work on `exec`, and takes the mesh of the current DeviceMeshScope.
template <class V, class Function>
DTensor<V> from_function(const Execution& exec, const Target& target, const Extents& shape,
                         const Function& function) {
  return detail::named("from_function", [&] {
    return detail::make_from_function<V>(exec, detail::mesh_of_scope(), target, shape, function);
  });
}

}  // namespace tessera
