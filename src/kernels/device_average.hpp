// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include "kernels/device_operands.hpp"
#include "kernels/wide_sum.hpp"

namespace tessera::detail {

/// Sums in WideSum<T> on a device and divides.
template <class T>
struct DeviceAverage : DeviceOperands {
  using Sum = WideSum<T>;

  std::int64_t divisor;
  bool operands_are_sums;
  bool result_is_sum;

  explicit DeviceAverage(const Reduction& reduction)
      : DeviceOperands(reduction),
        divisor(reduction.divisor),
        operands_are_sums(reduction.operands_are_sums),
        result_is_sum(reduction.result_is_sum) {}

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    combine<Sum>(
        i,
        [this](const std::byte* from) {
          return operands_are_sums ? *reinterpret_cast<const Sum*>(from)
                                   : widened(*reinterpret_cast<const T*>(from));
        },
        [](const Sum& a, const Sum& b) { return added(a, b); },
        [this](std::byte* to, const Sum& sum) {
          if (result_is_sum)
            *reinterpret_cast<Sum*>(to) = sum;
          else
            *reinterpret_cast<T*>(to) = average_of<T>(sum, divisor);
        });
  }
};

}  // namespace tessera::detail
