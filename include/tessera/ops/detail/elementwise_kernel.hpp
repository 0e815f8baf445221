// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <tessera/error/error.hpp>
#include <tessera/ops/detail/operand.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/loops.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

/// Says that a loop's iterations may run at once, also where the result is an operand. Others than GCC are
/// not told: clang warns where it cannot vectorise what it is asked to, as with sanitizers.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define TESSERA_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define TESSERA_INDEPENDENT_ITERATIONS
#endif

namespace tessera::detail {

inline constexpr std::size_t most_kernel_operands = 4;

/// Number of elements of a row that one task of an elementwise kernel computes on the host.
///
/// Smaller tasks cost more in finding where they begin; larger ones leave threads without work. Not
/// measured on its own; judgement. Shown by: perf_ops, rows add and row_added.
inline constexpr std::int64_t elementwise_chunk = 16384;

/// Describes the loops of an elementwise kernel over its arrays; strides are in bytes. An operand
/// without data is a number.
struct ElementwiseLoops {
  Extents extents;
  MemorySpace space;
  std::byte* result;
  std::array<const std::byte*, most_kernel_operands> data{};
  std::array<NumberBytes, most_kernel_operands> values{};
  /// Holds the strides of the result, then those of the operands.
  std::array<Extents, most_kernel_operands + 1> strides{};
  /// Holds copies of operands that had to be converted, or overlap with the result.
  std::array<OwnedArray, most_kernel_operands> copies{};
};

/// Returns loops that write `result`; set_operand() sets the operands.
ElementwiseLoops loops_over(const ArrayRef& result);
/// Sets operand `k`, which has the extents of the result or stretches to them: `array`, or a copy
/// if it has another type than `type`, or overlaps with the result without being the same array.
void set_operand(const Execution& execution, ElementwiseLoops& loops, std::size_t k,
                 const ArrayRef& array, ElementType type, const ArrayRef& result);
/// Waits for a device that may still read copies of operands.
void finish_copies(const Execution& execution, const ElementwiseLoops& loops);

/// Reads elements that follow one another.
template <class T>
struct Dense {
  const T* data;
  KOKKOS_FUNCTION const T& operator[](std::int64_t i) const { return data[i]; }
};
/// Reads one element again and again.
template <class T>
struct Constant {
  T value;
  KOKKOS_FUNCTION const T& operator[](std::int64_t) const { return value; }
};
/// Reads elements with a stride in bytes.
template <class T>
struct Strided {
  const std::byte* data;
  std::int64_t stride;
  KOKKOS_FUNCTION const T& operator[](std::int64_t i) const {
    return *reinterpret_cast<const T*>(data + i * stride);
  }
};

/// Computes rows on the host. One index is a part of a row; see Loops.
template <class Function, class Out, class... In>
struct HostElementwise {
  static constexpr std::size_t arity = sizeof...(In);
  using Operands = std::index_sequence_for<In...>;

  Loops loops;
  std::byte* result;
  std::array<const std::byte*, most_kernel_operands> data;
  std::array<NumberBytes, most_kernel_operands> values;
  std::array<LoopArray, most_kernel_operands + 1> strides;
  Function function;

  void operator()(std::int64_t i) const { row(loops.item(i), Operands()); }
  void operator()(std::int64_t begin, std::int64_t end) const {
    auto item = loops.item(begin);
    for (auto i = begin; i < end; ++i, loops.advance(item)) row(item, Operands());
  }

 private:
  template <std::size_t... I>
  void row(const Loops::Item& item, std::index_sequence<I...>) const {
    const int inner = loops.ndims - 1;
    auto* const to = result + loops.offset(item, strides[0]);
    const std::array from{(data[I] == nullptr ? values[I].bytes.data()
                                              : data[I] + loops.offset(item, strides[I + 1]))...};
    const std::array step{strides[I + 1][inner]...};
    const bool is_dense = strides[0][inner] == std::int64_t{sizeof(Out)} &&
                          ((step[I] == 0 || step[I] == std::int64_t{sizeof(In)}) && ...);
    const unsigned constants = ((step[I] == 0 ? 1u << I : 0u) | ...);
    if (is_dense && dense_row(to, from, item.length, constants)) return;
    strided_row(to, strides[0][inner], item.length, strided<In>(from[I], step[I])...);
  }

  /// Computes a row without gaps in which the operands of the bits in `constants` have one element.
  /// Returns false if there is no loop for these.
  bool dense_row(std::byte* to, const std::array<const std::byte*, arity>& from,
                 std::int64_t length, unsigned constants) const {
    return [&]<unsigned... Mask>(std::integer_sequence<unsigned, Mask...>) {
      return ((Mask == constants && (dense_row<Mask>(to, from, length, Operands()), true)) || ...);
    }
    (std::make_integer_sequence<unsigned, (1u << arity) - 1>());
  }

  template <unsigned Mask, std::size_t... I>
  void dense_row(std::byte* to, const std::array<const std::byte*, arity>& from,
                 std::int64_t length, std::index_sequence<I...>) const {
    compute(reinterpret_cast<Out*>(to), length,
            reader<(Mask >> I & 1u) != 0>(reinterpret_cast<const In*>(from[I]))...);
  }
  template <bool IsConstant, class T>
  static auto reader(const T* data) {
    if constexpr (IsConstant)
      return Constant<T>{*data};
    else
      return Dense<T>{data};
  }

  // nvcc wants a function where a pack makes aggregates.
  template <class T>
  static Strided<T> strided(const std::byte* data, std::int64_t stride) {
    return {data, stride};
  }

  template <class... Readers>
  void compute(Out* to, std::int64_t length, const Readers... from) const {
    const Function f = function;
    TESSERA_INDEPENDENT_ITERATIONS
    for (std::int64_t i = 0; i < length; ++i) to[i] = f(from[i]...);
  }
  void strided_row(std::byte* to, std::int64_t step, std::int64_t length,
                   const Strided<In>... from) const {
    for (std::int64_t i = 0; i < length; ++i)
      *reinterpret_cast<Out*>(to + i * step) = function(from[i]...);
  }
};

/// Computes one element per index on a device.
template <class Function, class Out, class... In>
struct DeviceElementwise {
  DeviceLoops loops;
  std::byte* result;
  Kokkos::Array<const std::byte*, most_kernel_operands> data;
  Kokkos::Array<NumberBytes, most_kernel_operands> values;
  Kokkos::Array<LoopArray, most_kernel_operands + 1> strides;
  Function function;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t distance[most_kernel_operands + 1] = {};
    loops.at(i, [&](int d, std::int64_t index) {
      for (std::size_t k = 0; k <= sizeof...(In); ++k) distance[k] += index * strides[k][d];
    });
    compute(distance, std::index_sequence_for<In...>());
  }

 private:
  template <std::size_t... I>
  KOKKOS_FUNCTION void compute(const std::int64_t* distance, std::index_sequence<I...>) const {
    *reinterpret_cast<Out*>(result + distance[0]) =
        function(read<In>(data[I] == nullptr ? nullptr : data[I] + distance[I + 1], values[I])...);
  }
  template <class T>
  KOKKOS_FUNCTION static T read(const std::byte* from, const NumberBytes& value) {
    return *reinterpret_cast<const T*>(from == nullptr ? &value : static_cast<const void*>(from));
  }
};

/// Tells whether devices can run the function. One that computes with long double says it cannot.
template <class Function>
inline constexpr bool is_computed_on_devices = true;
template <class Function>
requires requires {
  Function::is_for_host;
}
inline constexpr bool is_computed_on_devices<Function> = !Function::is_for_host;

/// Runs function(in…) -> Out for all elements, in one kernel.
template <class Out, class... In, class Function>
void run_elementwise_kernel(const Execution& execution, const char* label,
                            const ElementwiseLoops& plan, const Function& function) {
  const auto arrays = [&]<class Array>(Array strides) {
    for (std::size_t k = 0; k <= sizeof...(In); ++k) strides[k] = loop_strides(plan.strides[k]);
    return strides;
  };
  if (!is_on_device(plan.space)) {
    const HostElementwise<Function, Out, In...> kernel{
        make_loops(plan.extents, elementwise_chunk),
        plan.result,
        plan.data,
        plan.values,
        arrays(std::array<LoopArray, most_kernel_operands + 1>()),
        function};
    launch_on_host(execution, label, kernel.loops.items(),
                   product(plan.extents) * std::int64_t{sizeof(Out)}, kernel);
  } else if constexpr (has_device && is_computed_on_devices<Function>) {
    DeviceElementwise<Function, Out, In...> kernel{
        DeviceLoops(plan.extents),
        plan.result,
        {},
        {},
        arrays(Kokkos::Array<LoopArray, most_kernel_operands + 1>()),
        function};
    for (std::size_t k = 0; k < sizeof...(In); ++k) {
      kernel.data[k] = plan.data[k];
      kernel.values[k] = plan.values[k];
    }
    launch_on_device(execution, label, kernel.loops.items(), kernel);
  } else {
    throw InvalidArgument("expected an element type other than long double on a device");
  }
  finish_copies(execution, plan);
}

}  // namespace tessera::detail
