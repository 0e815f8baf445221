// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/extents/element_type.hpp>
#include <tessera/extents/extents.hpp>

namespace tessera {

/// Gives the kind of Kokkos' 16-bit floats if the backend has them; otherwise their names mean
/// float.
template <class T>
requires(sizeof(T) == 2 &&
         (std::is_same_v<T, Kokkos::Experimental::half_t> ||
          std::is_same_v<T, Kokkos::Experimental::bhalf_t>)) inline constexpr ElementKind
    element_kind<T> = std::is_same_v<T, Kokkos::Experimental::half_t> ? ElementKind::float16
                                                                      : ElementKind::bfloat16;

/// A MemorySpace says whether the host or a device works on a piece of memory.
enum class MemorySpace : std::uint8_t { host, device };

namespace detail {

/// Tells whether Kokkos was built for a device. If not, there is no device memory, and no kernel is
/// compiled for it.
inline constexpr bool has_device =
    !std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>;

template <class Space>
inline constexpr bool is_devices_own =
    (has_device && std::is_same_v<Space, Kokkos::DefaultExecutionSpace::memory_space>);

}  // namespace detail

/// Gives the MemorySpace of a Kokkos space. device: the memory of the default device, even if the
/// host can read it (unified memory), and all memory that the host cannot read. host: all other
/// memory, also pinned and managed memory.
template <class Space>
inline constexpr MemorySpace memory_space =
    !detail::is_devices_own<typename Space::memory_space> &&
            Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace,
                                       typename Space::memory_space>::accessible
        ? MemorySpace::host
        : MemorySpace::device;

/// Describes a View without its type; the compiled core works on it. Strides count elements and may
/// have any value.
struct ArrayRef {
  std::byte* data = nullptr;
  ElementType type;
  Extents extents;
  Extents strides;
  MemorySpace space = MemorySpace::host;

  /// Returns the part of this array that begins at `offset` and has `shape`.
  ArrayRef part(const Extents& offset, const Extents& shape) const;
  /// Returns whether the elements follow one another without holes in row-major order.
  bool is_row_major() const;
  std::int64_t size() const { return product(extents); }
  std::int64_t bytes() const { return size() * type.size; }
};

/// Returns the ArrayRef of elements that lie at `data` one after another in row-major order.
ArrayRef row_major(std::byte* data, ElementType type, const Extents& shape, MemorySpace space);

/// Returns the ArrayRef of `view`. It drops const: the caller must know that the memory may be
/// written before it writes to it.
template <class View>
ArrayRef array_ref(const View& view) {
  using Value = std::remove_const_t<typename View::value_type>;
  ArrayRef result;
  result.data = reinterpret_cast<std::byte*>(const_cast<Value*>(view.data()));
  result.type = element_type<Value>();
  result.space = memory_space<typename View::memory_space>;
  // != because nvcc warns about < for Views without dims.
  for (std::size_t d = 0; d != View::rank(); ++d) {
    result.extents.push_back(static_cast<std::int64_t>(view.extent(d)));
    result.strides.push_back(static_cast<std::int64_t>(view.stride(d)));
  }
  return result;
}

/// An Execution says where kernels run and what fences wait for: the caller's execution space
/// instance, or everything.
class Execution {
 public:
  /// Uses the default instances; fences are global.
  Execution() = default;

  /// Uses the caller's instance. Fences wait for it, and for a default instance if that does the
  /// work because the caller's instance cannot reach the memory. An instance of another space than
  /// the two defaults is fenced here, and a default instance does the work.
  template <class Space>
  requires Kokkos::is_execution_space_v<Space>
  explicit Execution(const Space& instance) : is_given_(true) {
    if constexpr (std::is_same_v<Space, Kokkos::DefaultExecutionSpace>) device_ = instance;
    if constexpr (std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>) host_ = instance;
    if constexpr (!std::is_same_v<Space, Kokkos::DefaultExecutionSpace> &&
                  !std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>)
      instance.fence("tessera: before work on a default execution space");
  }

  /// Returns whether the caller gave an instance.
  bool is_given() const { return is_given_; }
  /// Returns whether the caller's instance is one of Kokkos::DefaultExecutionSpace.
  bool has_device_instance() const { return device_.has_value(); }

  /// Returns the instance that works on memory of `Space`.
  template <MemorySpace Space>
  auto instance() const {
    if constexpr (Space == MemorySpace::host)
      return host_ ? *host_ : Kokkos::DefaultHostExecutionSpace();
    else
      return device_ ? *device_ : Kokkos::DefaultExecutionSpace();
  }

  friend bool operator==(const Execution&, const Execution&) = default;

  /// Waits until the work given so far is done: on the instance, or globally. `reason` is the label
  /// of the fence for the tools of Kokkos.
  void fence(const char* reason) const;

 private:
  bool is_given_ = false;
  std::optional<Kokkos::DefaultHostExecutionSpace> host_;
  std::optional<Kokkos::DefaultExecutionSpace> device_;
};

namespace detail {
/// Returns the label for the tools of Kokkos: "tessera::clone" for "clone" and for
/// "tessera::clone".
std::string label_of(std::string_view function);
}  // namespace detail

/// Ends a public call. Without an instance of the caller's it waits for all work. With one it
/// leaves the work ordered on that instance, and waits only for work on the default instance of
/// Kokkos::DefaultExecutionSpace if the caller's is of another space.
void finish(const Execution& execution, const char* function);

}  // namespace tessera
