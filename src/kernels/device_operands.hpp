// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "kernels/reduction.hpp"
#include "kernels/tuning.hpp"

namespace tessera::detail {

/// Combines at most `operands_per_kernel` operands on a device, one element per index. Loops over
/// operands have constant bounds, so that a thread keeps its values in registers.
struct DeviceOperands {
  DeviceLoops loops;
  Operand destination;
  int size;
  Kokkos::Array<Operand, operands_per_kernel> operands{};

  explicit DeviceOperands(const Reduction& reduction)
      : loops(reduction.extents),
        destination(reduction.destination),
        size(static_cast<int>(reduction.operands.size())) {
    std::copy(reduction.operands.begin(), reduction.operands.end(), operands.data());
  }

  /// Reads element i of each operand by read(address), combines what it gives by the tree with
  /// op(a, b), and calls write(address, result).
  template <class Value, class Read, class Op, class Write>
  KOKKOS_FORCEINLINE_FUNCTION void combine(std::int64_t i, const Read& read, const Op& op,
                                           const Write& write) const {
    const std::byte* from[operands_per_kernel];
    for (int t = 0; t < operands_per_kernel; ++t) from[t] = operands[t].data;
    auto* to = destination.data;
    loops.at(i, [&](int d, std::int64_t index) {
      for (int t = 0; t < operands_per_kernel; ++t)
        if (t < size) from[t] += index * operands[t].strides[d];
      to += index * destination.strides[d];
    });
    Value values[operands_per_kernel];
    for (int t = 0; t < operands_per_kernel; ++t)
      if (t < size) values[t] = read(from[t]);
    for (int width = 1; width < operands_per_kernel; width *= 2)
      for (int t = 0; t + width < operands_per_kernel; t += 2 * width)
        if (t + width < size) values[t] = op(values[t], values[t + width]);
    write(to, values[0]);
  }
};

}  // namespace tessera::detail
