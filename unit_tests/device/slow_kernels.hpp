// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera::test {

using DevicePolicy =
    Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace, Kokkos::IndexType<std::int64_t>>;

/// Sets element i to i, after a while if there are many steps.
template <class V>
struct FillSlowly {
  V view;
  int steps;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double one = 1;
    for (int step = 0; step < steps; ++step) one = 0.5 * (one + 1 / one);
    view.data()[i] = one * static_cast<double>(i);
  }
};

/// Launches a kernel on `exec` that sets element i to i, which is -1 until then. On a device the
/// kernel takes milliseconds if `is_slow`.
template <class V>
void fill_slowly(const Kokkos::DefaultExecutionSpace& exec, const V& view, bool is_slow) {
  constexpr int slow = 200000;
  Kokkos::deep_copy(exec, view, -1.0);
  Kokkos::parallel_for("fill", DevicePolicy(exec, 0, static_cast<std::int64_t>(view.size())),
                       FillSlowly<V>{view, detail::has_device && is_slow ? slow : 1});
}

/// Returns twice a View, by a kernel on an instance.
struct Twice {
  Kokkos::DefaultExecutionSpace exec;

  template <class V>
  V operator()(const V& x) const {
    const auto result = detail::allocate<V>(detail::extents_of(x), "twice");
    Kokkos::parallel_for("twice", DevicePolicy(exec, 0, static_cast<std::int64_t>(x.size())),
                         Double<V>{result, x});
    return result;
  }

  template <class V>
  struct Double {
    V to;
    V from;
    KOKKOS_FUNCTION void operator()(std::int64_t i) const { to.data()[i] = 2 * from.data()[i]; }
  };
};

}  // namespace tessera::test
