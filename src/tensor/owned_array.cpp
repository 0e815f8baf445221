// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/tensor/detail/owned_array.hpp>
#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera::detail {
namespace {

template <class Space>
OwnedArray allocate_in(ElementType type, const Extents& shape, MemorySpace space,
                       const char* label) {
  const auto bytes = static_cast<std::size_t>(product(shape) * type.size);
  const Kokkos::View<std::byte*, Space> view(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)), bytes);
  return {row_major(view.data(), type, shape, space), held(view)};
}

}  // namespace

OwnedArray allocate_array(ElementType type, const Extents& shape, MemorySpace space,
                          const char* label) {
  if (space == MemorySpace::host) return allocate_in<Kokkos::HostSpace>(type, shape, space, label);
  return allocate_in<Kokkos::DefaultExecutionSpace::memory_space>(type, shape, space, label);
}

}  // namespace tessera::detail
