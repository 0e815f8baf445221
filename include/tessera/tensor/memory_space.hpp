// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

namespace tessera {

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

}  // namespace tessera
