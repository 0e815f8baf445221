// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For ops: kernels that change each element of an array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/error/error.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/loops.hpp>
#include <tessera/tensor/execution.hpp>

#include "kernels/arithmetic.hpp"
#include "kernels/tuning.hpp"

namespace tessera::detail {

template <class T>
struct Assign {
  using value_type = T;
  T value;
  KOKKOS_FUNCTION void operator()(T& element) const { element = value; }
};

template <class T>
struct Multiply {
  using value_type = T;
  std::int64_t factor;
  KOKKOS_FUNCTION void operator()(T& element) const { element = multiplied(element, factor); }
};

/// Calls function(element) for each element of an array; one index is one chunk of the innermost
/// loop.
template <class Function>
struct ForEachElement {
  using T = typename Function::value_type;

  std::byte* data;
  Loops loops;
  LoopArray strides;
  Function function;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto item = loops.item(i);
    auto* begin = data + loops.offset(item, strides);
    const auto stride = strides[loops.ndims - 1];
    if (stride == static_cast<std::int64_t>(sizeof(T)))
      for (std::int64_t k = 0; k < item.length; ++k) function(reinterpret_cast<T*>(begin)[k]);
    else
      for (std::int64_t k = 0; k < item.length; ++k)
        function(*reinterpret_cast<T*>(begin + k * stride));
  }
};

/// Calls function(element) for each element of `array`, in one kernel. Expects elements aligned for
/// Function::value_type.
template <class Function>
void for_each_element(const Execution& execution, const char* label, const ArrayRef& array,
                      Function function) {
  using T = typename Function::value_type;
  if (array.bytes() == 0) return;

  Extents extents = array.extents;
  std::array strides{array.strides};
  for (auto& stride : strides[0]) stride *= array.type.size;
  simplify(extents, strides);
  const bool on_device = is_on_device(array.space);
  const ForEachElement<Function> kernel{array.data,
                                        make_loops(extents, on_device ? 1 : elementwise_host_chunk),
                                        loop_strides(strides[0]), function};
  if (!on_device)
    launch_on_host(execution, label, kernel.loops.items(), array.bytes(), kernel);
  else if constexpr (has_device && is_device_number<T>)
    launch_on_device(execution, label, kernel.loops.items(), kernel);
  else
    throw InvalidArgument("expected an element type other than long double on a device");
}

}  // namespace tessera::detail
