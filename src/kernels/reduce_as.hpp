// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>

#include <tessera/error/error.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/execution.hpp>

#include "kernels/device_reduce.hpp"
#include "kernels/host_reduce.hpp"

namespace tessera::detail {

/// Runs the kernel of T and Op in `space`.
template <class T, class Op>
void reduce_as(const Execution& execution, MemorySpace space,
               const std::shared_ptr<const Reduction>& reduction) {
  if (!is_on_device(space)) {
    const HostReduce<T, Op> kernel(reduction);
    launch_on_host(execution, "tessera::detail::reduce", kernel.loops.items(), reduction->bytes(),
                   kernel);
    // The locked instructions of the kernel's barrier order the non-temporal stores of other
    // threads.
    fence_non_temporal_stores();
  } else if constexpr (has_device && is_device_number<T>) {
    launch_on_device(execution, "tessera::detail::reduce", product(reduction->extents),
                     DeviceReduce<T, Op>(*reduction));
  } else {
    throw InvalidArgument("reduce: expected an element type other than long double on a device");
  }
}

}  // namespace tessera::detail
