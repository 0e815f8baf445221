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

/// Reduces a few terms on a device, one element per index.
template <class T, class Op>
struct DeviceReduce {
  Loops loops;
  Operand destination;
  std::int64_t divisor;
  int size;
  Kokkos::Array<Operand, device_terms> terms;

  explicit DeviceReduce(const Reduction& reduction)
      : loops(make_loops(reduction.extents, 1)),
        destination(reduction.destination),
        divisor(reduction.divisor),
        size(static_cast<int>(reduction.terms.size())) {
    std::copy(reduction.terms.begin(), reduction.terms.end(), terms.data());
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto item = loops.item(i);
    T values[device_terms];
    for (int t = 0; t < size; ++t)
      values[t] = *reinterpret_cast<const T*>(terms[t].data + loops.offset(item, terms[t].strides));
    for (int width = 1; width < size; width *= 2)
      for (int t = 0; t + width < size; t += 2 * width)
        values[t] = Op{}(values[t], values[t + width]);
    if (divisor != 1) values[0] = divided(values[0], divisor);
    *reinterpret_cast<T*>(destination.data + loops.offset(item, destination.strides)) = values[0];
  }
};

}  // namespace tessera::detail
