// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <tessera/ops/detail/reduction_op.hpp>

#include "ops/elementwise_dispatch.hpp"
#include "ops/reduction_kernel.hpp"
#include "ops/softmax_function.hpp"

namespace tessera::detail {

template <class T>
inline constexpr bool is_whole = std::is_integral_v<T> || std::is_same_v<T, Boolean>;

/// Names the type that holds sums of elements of type T.
template <class T>
using WideAcc = std::conditional_t<
    is_whole<T>,
    std::conditional_t<std::is_integral_v<T> && std::is_unsigned_v<T>, std::uint64_t, std::int64_t>,
    std::conditional_t<is_computed_as_float<T>, float, T>>;
/// Names the type that holds sums of absolute values.
template <class T>
using RealAcc = std::conditional_t<
    is_whole<T>, double,
    std::conditional_t<is_computed_as_float<T>, float, typename RealPart<T>::type>>;

template <ReductionOp op, class T>
consteval auto acc_type() {
  using enum ReductionOp;
  constexpr auto kind = traits_of(op).result;
  if constexpr (kind == ReducedKind::boolean)
    return std::type_identity<std::uint8_t>{};
  else if constexpr (kind == ReducedKind::index)
    return std::type_identity<std::int64_t>{};
  else if constexpr (kind == ReducedKind::real)
    return std::type_identity<RealAcc<T>>{};
  else if constexpr (kind == ReducedKind::fractions)
    return std::type_identity<std::conditional_t<is_whole<T>, double, WideAcc<T>>>{};
  else if constexpr (kind == ReducedKind::same)
    return std::type_identity<std::conditional_t<is_computed_as_float<T>, float, T>>{};
  else
    return std::type_identity<WideAcc<T>>{};
}

/// Names the type of a result, given that of its sum.
template <ReductionOp op, class T, class Acc>
using ReducedOut = std::conditional_t<
    traits_of(op).result == ReducedKind::boolean, Boolean,
    std::conditional_t<is_computed_as_float<T> && std::is_same_v<Acc, float>, T, Acc>>;

/// Returns a real number's or a complex one's absolute value.
template <class Acc, class T>
KOKKOS_FUNCTION Acc absolute(const T& value) {
  if constexpr (is_complex_number<T>) {
    return Kokkos::hypot(value.real, value.imag);
  } else if constexpr (is_whole<T>) {
    const auto real = static_cast<Acc>(value);
    return real < 0 ? -real : real;
  } else {
    return Kokkos::fabs(static_cast<Acc>(value));
  }
}
template <class Acc, class T>
KOKKOS_FUNCTION Acc absolute_square(const T& value) {
  if constexpr (is_complex_number<T>)
    return value.real * value.real + value.imag * value.imag;
  else
    return static_cast<Acc>(value) * static_cast<Acc>(value);
}

/// Says what a reduction of elements of type T computes; see HostReduction.
template <ReductionOp op, class Element>
struct ReductionWork {
  using T = Element;
  using Second = Element;
  using Acc = typename decltype(acc_type<op, T>())::type;
  using Out = ReducedOut<op, T, Acc>;
  static constexpr bool has_second = traits_of(op).tensors == 2;
  static constexpr ReduceOp how = traits_of(op).combines;

  double divisor = 1;

  KOKKOS_FUNCTION Acc lift(const T& value) const {
    using enum ReductionOp;
    if constexpr (op == count_nonzero)
      return is_nonzero(value) ? 1 : 0;
    else if constexpr (op == norm_one || op == norm_inf)
      return absolute<Acc>(value);
    else if constexpr (op == sum_of_squares)
      return absolute_square<Acc>(value);
    else if constexpr (std::is_same_v<T, Boolean>)
      return static_cast<Acc>(value.value);
    else
      return static_cast<Acc>(value);
  }

  TESSERA_ALSO_FOR_HOST_NUMBERS
  KOKKOS_FUNCTION Acc lift(const T& a, const T& b) const {
    using enum ReductionOp;
    if constexpr (op == variance) {
      if constexpr (is_complex_number<T>)
        return absolute_square<Acc>(T{a.real - b.real, a.imag - b.imag});
      else
        return absolute_square<Acc>(static_cast<Acc>(a) - static_cast<Acc>(b));
    } else if constexpr (op == sum_of_exp) {
      return Kokkos::exp(static_cast<Acc>(a) - shift_of(static_cast<Acc>(b)));
    } else if constexpr (is_complex_number<T> && op == vdot) {
      return Product()(T{a.real, -a.imag}, b);
    } else {
      return Product()(static_cast<Acc>(a), static_cast<Acc>(b));
    }
  }

  KOKKOS_FUNCTION Acc combine(const Acc& a, const Acc& b) const {
    if constexpr (how == ReduceOp::sum) return Sum()(a, b);
    if constexpr (how == ReduceOp::product) return Product()(a, b);
    if constexpr (how == ReduceOp::min) return is_first(b < a, b) ? b : a;
    if constexpr (how == ReduceOp::max) return is_first(a < b, b) ? b : a;
    if constexpr (how == ReduceOp::bor) return BitOr()(a, b);
    if constexpr (how == ReduceOp::band) return BitAnd()(a, b);
  }

  KOKKOS_FUNCTION Acc identity() const {
    if constexpr (is_complex_number<Acc>) {
      return {typename Acc::value_type(how == ReduceOp::product ? 1 : 0), 0};
    } else if constexpr (how == ReduceOp::product || how == ReduceOp::band) {
      return Acc(1);
    } else if constexpr (how == ReduceOp::min || (how == ReduceOp::max && op == ReductionOp::max)) {
      constexpr bool is_min = how == ReduceOp::min;
      if constexpr (std::is_integral_v<Acc>)
        return is_min ? Kokkos::Experimental::finite_max_v<Acc>
                      : Kokkos::Experimental::finite_min_v<Acc>;
      else
        return is_min ? Kokkos::Experimental::infinity_v<Acc>
                      : -Kokkos::Experimental::infinity_v<Acc>;
    } else {
      return Acc(0);  // also of absolute values' maximum
    }
  }

  KOKKOS_FUNCTION Out finish(const Acc& sum) const {
    if constexpr (op == ReductionOp::mean || op == ReductionOp::variance) {
      if constexpr (is_complex_number<Acc>) {
        using Part = typename Acc::value_type;
        return {sum.real / static_cast<Part>(divisor), sum.imag / static_cast<Part>(divisor)};
      } else {
        return static_cast<Out>(sum / static_cast<Acc>(divisor));
      }
    } else if constexpr (std::is_same_v<Out, Boolean>) {
      return Boolean{sum};
    } else {
      return static_cast<Out>(sum);
    }
  }

 private:
  /// Returns whether `value` takes the place of another one: if it comes before that, or is NaN.
  KOKKOS_FUNCTION static bool is_first(bool is_before, const Acc& value) {
    return (int{is_before} | int{value != value}) != 0;
  }
  KOKKOS_FUNCTION static bool is_nonzero(const T& value) {
    if constexpr (is_complex_number<T>)
      return value.real != 0 || value.imag != 0;
    else if constexpr (std::is_same_v<T, Boolean>)
      return value.value != 0;
    else
      return value != T(0);
  }
};

/// Returns whether integers are converted to double first.
constexpr bool converts_integers(ReductionOp op) {
  using enum ReductionOp;
  return op == norm_one || op == norm_inf || op == sum_of_squares || op == variance;
}

/// Returns whether there is a kernel for elements of type T.
template <ReductionOp op, class T>
consteval bool has_kernel() {
  using enum ReductionOp;
  if (op == argmin || op == argmax || (traits_of(op).kinds & kind_bit<T>()) == 0) return false;
  if (op == vdot) return is_complex_number<T>;  // it is dot of other numbers
  return !(is_whole<T> && converts_integers(op));
}

template <ReductionOp op, class T>
void reduce_elements(const Execution& execution, const ReductionLoops& loops) {
  constexpr const auto& traits = traits_of(op);
  if constexpr (has_kernel<op, T>())
    run_reduction_kernel(execution, traits.label, loops, ReductionWork<op, T>{loops.divisor});
}

/// Runs the reduction `op`, known at run time, of elements of type T.
template <class T>
void reduce_as(const Execution& execution, ReductionOp op, const ReductionLoops& loops) {
  using Run = void (*)(const Execution&, const ReductionLoops&);
  static constexpr auto all = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Run, sizeof...(I)>{&reduce_elements<static_cast<ReductionOp>(I), T>...};
  }
  (std::make_index_sequence<reduction_table.size()>());
  all[static_cast<std::size_t>(op)](execution, loops);
}

/// Run it for the kinds of types that their names say.
void reduce_integers(const Execution& execution, ReductionOp op, ElementKind kind,
                     const ReductionLoops& loops);
void reduce_others(const Execution& execution, ReductionOp op, ElementKind kind,
                   const ReductionLoops& loops);

}  // namespace tessera::detail
