// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <type_traits>

#include <tessera/error/error.hpp>
#include <tessera/tensor/detail/launch.hpp>

#include "kernels/device_average.hpp"
#include "kernels/host_average.hpp"
#include "kernels/number_types.hpp"
#include "placement/wide_sum.hpp"

namespace tessera::detail {
namespace {

/// Runs the host kernel of a number of which an element has one or two.
template <class T>
void average_on_host(const Execution& execution, const char* label, int parts,
                     const std::shared_ptr<const Reduction>& reduction) {
  const HostAverage<T> kernel(reduction, parts);
  launch_on_host(execution, label, kernel.loops.items(), reduction->bytes(), kernel);
}

/// Runs the kernel of T in `space`.
template <class T>
void average_as(const Execution& execution, MemorySpace space,
                const std::shared_ptr<const Reduction>& reduction) {
  const char* label = "tessera::detail::average";
  if (!is_on_device(space)) {
    if constexpr (is_complex_number<T>)
      average_on_host<typename T::value_type>(execution, label, 2, reduction);
    else
      average_on_host<T>(execution, label, 1, reduction);
  } else if constexpr (has_device && is_device_number<T>) {
    launch_on_device(execution, label, product(reduction->extents), DeviceAverage<T>(*reduction));
  } else {
    throw InvalidArgument("reduce: expected an element type other than long double on a device");
  }
}

}  // namespace

void average(const Execution& execution, ElementKind kind, MemorySpace space,
             const std::shared_ptr<const Reduction>& reduction) {
  with_number_type(kind, [&]<class T>(std::type_identity<T>) {
    require(wide_sum_type({kind, sizeof(T)}).size == sizeof(WideSum<T>),
            "average: expected a wide sum of the size that plans reckon with");
    average_as<T>(execution, space, reduction);
  });
}

}  // namespace tessera::detail
