// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include "kernels/arithmetic.hpp"
#include "kernels/device_operands.hpp"

namespace tessera::detail {

/// Reduces on a device.
template <class T, class Op>
struct DeviceReduce : DeviceOperands {
  using DeviceOperands::DeviceOperands;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    combine<T>(
        i, [](const std::byte* from) { return *reinterpret_cast<const T*>(from); }, Op{},
        [](std::byte* to, const T& value) { *reinterpret_cast<T*>(to) = value; });
  }
};

}  // namespace tessera::detail
