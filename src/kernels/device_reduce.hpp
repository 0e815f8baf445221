// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "kernels/arithmetic.hpp"
#include "kernels/reduction.hpp"
#include "kernels/tuning.hpp"

namespace tessera::detail {

/// Reduces at most `device_terms` operands on a device, one element per index.
template <class T, class Op>
struct DeviceReduce {
  DeviceLoops loops;
  Operand destination;
  std::int64_t divisor;
  int size;
  Kokkos::Array<Operand, device_terms> terms{};

  explicit DeviceReduce(const Reduction& reduction)
      : loops(reduction.extents),
        destination(reduction.destination),
        divisor(reduction.divisor),
        size(static_cast<int>(reduction.terms.size())) {
    std::copy(reduction.terms.begin(), reduction.terms.end(), terms.data());
  }

  // Loops over operands have constant bounds, so that a thread keeps its values in registers.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::byte* from[device_terms];
    for (int t = 0; t < device_terms; ++t) from[t] = terms[t].data;
    auto* to = destination.data;
    loops.at(i, [&](int d, std::int64_t index) {
      for (int t = 0; t < device_terms; ++t)
        if (t < size) from[t] += index * terms[t].strides[d];
      to += index * destination.strides[d];
    });
    T values[device_terms];
    for (int t = 0; t < device_terms; ++t)
      if (t < size) values[t] = *reinterpret_cast<const T*>(from[t]);
    for (int width = 1; width < device_terms; width *= 2)
      for (int t = 0; t + width < device_terms; t += 2 * width)
        if (t + width < size) values[t] = Op{}(values[t], values[t + width]);
    if (divisor != 1) values[0] = divided(values[0], divisor);
    *reinterpret_cast<T*>(to) = values[0];
  }
};

}  // namespace tessera::detail
