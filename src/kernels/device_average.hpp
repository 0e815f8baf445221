// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "kernels/reduction.hpp"
#include "kernels/tuning.hpp"
#include "kernels/wide_sum.hpp"

namespace tessera::detail {

/// Sums at most `operands_per_kernel` operands in WideSum<T> on a device and divides, one element
/// per index.
template <class T>
struct DeviceAverage {
  using Sum = WideSum<T>;

  DeviceLoops loops;
  Operand destination;
  std::int64_t divisor;
  int size;
  bool operands_are_sums;
  bool result_is_sum;
  Kokkos::Array<Operand, operands_per_kernel> operands{};

  explicit DeviceAverage(const Reduction& reduction)
      : loops(reduction.extents),
        destination(reduction.destination),
        divisor(reduction.divisor),
        size(static_cast<int>(reduction.operands.size())),
        operands_are_sums(reduction.operands_are_sums),
        result_is_sum(reduction.result_is_sum) {
    std::copy(reduction.operands.begin(), reduction.operands.end(), operands.data());
  }

  // Loops over operands have constant bounds, so that a thread keeps its values in registers.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::byte* from[operands_per_kernel];
    for (int t = 0; t < operands_per_kernel; ++t) from[t] = operands[t].data;
    auto* to = destination.data;
    loops.at(i, [&](int d, std::int64_t index) {
      for (int t = 0; t < operands_per_kernel; ++t)
        if (t < size) from[t] += index * operands[t].strides[d];
      to += index * destination.strides[d];
    });
    Sum sums[operands_per_kernel];
    for (int t = 0; t < operands_per_kernel; ++t)
      if (t < size)
        sums[t] = operands_are_sums ? *reinterpret_cast<const Sum*>(from[t])
                                    : widened(*reinterpret_cast<const T*>(from[t]));
    for (int width = 1; width < operands_per_kernel; width *= 2)
      for (int t = 0; t + width < operands_per_kernel; t += 2 * width)
        if (t + width < size) sums[t] = added(sums[t], sums[t + width]);
    if (result_is_sum)
      *reinterpret_cast<Sum*>(to) = sums[0];
    else
      *reinterpret_cast<T*>(to) = average_of<T>(sums[0], divisor);
  }
};

}  // namespace tessera::detail
