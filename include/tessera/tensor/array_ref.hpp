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

/// Kokkos' 16-bit floats, where the backend has them; elsewhere these names mean float.
template <class T>
requires(sizeof(T) == 2 &&
         (std::is_same_v<T, Kokkos::Experimental::half_t> ||
          std::is_same_v<T, Kokkos::Experimental::bhalf_t>)) inline constexpr ElementKind
    element_kind<T> = std::is_same_v<T, Kokkos::Experimental::half_t> ? ElementKind::float16
                                                                      : ElementKind::bfloat16;

/// Whether the host works on a piece of memory, or a device.
enum class MemorySpace : std::uint8_t { host, device };

namespace detail {

/// Kokkos was built for a device; otherwise there is no device memory and no kernel is compiled for
/// it.
inline constexpr bool has_device =
    !std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>;

template <class Space>
inline constexpr bool is_devices_own =
    (has_device && std::is_same_v<Space, Kokkos::DefaultExecutionSpace::memory_space>);

}  // namespace detail

/// device: the default device's own memory, also where the host can read it (unified memory), and
/// all that the host cannot read. host: the rest, pinned and managed memory too.
template <class Space>
inline constexpr MemorySpace memory_space =
    !detail::is_devices_own<typename Space::memory_space> &&
            Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace,
                                       typename Space::memory_space>::accessible
        ? MemorySpace::host
        : MemorySpace::device;

/// A View without its type: what the compiled core works on. Strides count elements and may be
/// anything.
struct ArrayRef {
  std::byte* data = nullptr;
  ElementType type;
  Extents extents;
  Extents strides;
  MemorySpace space = MemorySpace::host;

  /// The part of this array that begins at `offset` and has `shape`.
  ArrayRef part(const Extents& offset, const Extents& shape) const;
  /// Elements follow one another without holes in row-major order.
  bool is_row_major() const;
  std::int64_t size() const { return product(extents); }
  std::int64_t bytes() const { return size() * type.size; }
};

/// Elements at `data` one after another in row-major order.
ArrayRef row_major(std::byte* data, ElementType type, const Extents& shape, MemorySpace space);

/// The memory of `view`, const or not: whoever writes through it knows that he may.
template <class View>
ArrayRef array_ref(const View& view) {
  using Value = std::remove_const_t<typename View::value_type>;
  ArrayRef result;
  result.data = reinterpret_cast<std::byte*>(const_cast<Value*>(view.data()));
  result.type = element_type<Value>();
  result.space = memory_space<typename View::memory_space>;
  // != because nvcc warns of < in Views of no dims.
  for (std::size_t d = 0; d != View::rank(); ++d) {
    result.extents.push_back(static_cast<std::int64_t>(view.extent(d)));
    result.strides.push_back(static_cast<std::int64_t>(view.stride(d)));
  }
  return result;
}

/// Where kernels run and what fences wait for: the caller's execution space instance, or
/// everything.
class Execution {
 public:
  /// Default instances; fences are global.
  Execution() = default;

  /// The caller's instance; fences wait for it, and for a default instance where work went there
  /// because this one cannot reach the memory. Another space than the two defaults is fenced
  /// here, and work goes to a default.
  template <class Space>
  requires Kokkos::is_execution_space_v<Space>
  explicit Execution(const Space& instance) : is_given_(true) {
    if constexpr (std::is_same_v<Space, Kokkos::DefaultExecutionSpace>) device_ = instance;
    if constexpr (std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>) host_ = instance;
    if constexpr (!std::is_same_v<Space, Kokkos::DefaultExecutionSpace> &&
                  !std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>)
      instance.fence("tessera: before work on a default execution space");
  }

  /// Made from an instance of the caller's.
  bool is_given() const { return is_given_; }
  /// That instance is one of Kokkos::DefaultExecutionSpace.
  bool has_device_instance() const { return device_.has_value(); }

  /// The instance for memory of `Space`.
  template <MemorySpace Space>
  auto instance() const {
    if constexpr (Space == MemorySpace::host)
      return host_ ? *host_ : Kokkos::DefaultHostExecutionSpace();
    else
      return device_ ? *device_ : Kokkos::DefaultExecutionSpace();
  }

  friend bool operator==(const Execution&, const Execution&) = default;

  /// Waits, with a reason, until the work given so far is done: on the instance, or globally.
  void fence(const char* reason) const;

 private:
  bool is_given_ = false;
  std::optional<Kokkos::DefaultHostExecutionSpace> host_;
  std::optional<Kokkos::DefaultExecutionSpace> device_;
};

namespace detail {
/// For the tools of Kokkos: "tessera::clone" for "clone" and for itself.
std::string label_of(std::string_view function);
}  // namespace detail

/// End of a public call: complete without an instance, merely ordered on the caller's.
void finish(const Execution& execution, const char* function);

}  // namespace tessera
