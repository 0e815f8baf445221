// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tessera/ops/detail/elementwise_op.hpp>
#include <tessera/ops/detail/operand.hpp>
#include <tessera/placement/placement.hpp>

namespace tessera::detail {

enum class ReductionOp : std::uint8_t {
  sum,
  mean,
  product,
  min,
  max,
  any,
  all,
  count_nonzero,
  norm_one,
  norm_inf,
  sum_of_squares,
  variance,
  dot,
  vdot,
  sum_of_exp,  ///< exponentials of the first operand less the second one, the largest element
  argmin,
  argmax,
};

/// Names the element type of a reduction's result.
enum class ReducedKind : std::uint8_t {
  same,
  wide,       ///< 64-bit where elements are integers or bool
  fractions,  ///< double where elements are integers or bool
  real,       ///< that of the parts of a complex number, double for integers
  boolean,
  index,  ///< int64
};

struct ReductionTraits {
  ReductionOp op;
  FunctionName function;
  const char* label;
  int tensors;  ///< number of operands
  unsigned kinds;
  ReducedKind result;
  ReduceOp combines;      ///< how results of parts are combined
  bool is_linear;         ///< whether sums and averages pass
  bool keeps_own;         ///< whether Partials of the op `combines` pass
  bool has_empty_result;  ///< whether there is a result of no elements
};

/// Lists all reductions, by op.
inline constexpr std::array reduction_table = [] {
  using R = ReductionOp;
  using K = ReducedKind;
  using P = ReduceOp;
  using T = ReductionTraits;
  return std::array{
      T{R::sum, "sum", "tessera::sum", 1, all_kinds, K::wide, P::sum, true, true, true},
      T{R::mean, "mean", "tessera::mean", 1, all_numbers, K::fractions, P::sum, true, false, true},
      T{R::product, "product", "tessera::product", 1, all_kinds, K::wide, P::product, false, true,
        true},
      T{R::min, "min", "tessera::min", 1, reals, K::same, P::min, false, true, false},
      T{R::max, "max", "tessera::max", 1, reals, K::same, P::max, false, true, false},
      T{R::any, "any", "tessera::any", 1, bools, K::boolean, P::bor, false, true, true},
      T{R::all, "all", "tessera::all", 1, bools, K::boolean, P::band, false, true, true},
      T{R::count_nonzero, "count_nonzero", "tessera::count_nonzero", 1, all_kinds, K::index, P::sum,
        false, false, true},
      T{R::norm_one, "norm", "tessera::norm", 1, all_numbers, K::real, P::sum, false, false, true},
      T{R::norm_inf, "norm", "tessera::norm", 1, all_numbers, K::real, P::max, false, false, true},
      T{R::sum_of_squares, "norm", "tessera::norm", 1, all_numbers, K::real, P::sum, false, false,
        true},
      T{R::variance, "var", "tessera::var", 2, all_numbers, K::real, P::sum, false, false, true},
      T{R::dot, "dot", "tessera::dot", 2, all_numbers, K::wide, P::sum, false, false, true},
      T{R::vdot, "vdot", "tessera::vdot", 2, all_numbers, K::wide, P::sum, false, false, true},
      T{R::sum_of_exp, "logsumexp", "tessera::logsumexp", 2, floats, K::same, P::sum, false, false,
        true},
      T{R::argmin, "argmin", "tessera::argmin", 1, reals, K::index, P::min, false, false, false},
      T{R::argmax, "argmax", "tessera::argmax", 1, reals, K::index, P::max, false, false, false},
  };
}();

constexpr const ReductionTraits& traits_of(ReductionOp op) {
  return reduction_table[static_cast<std::size_t>(op)];
}
/// Returns the name for rules: that of the function, but norm has three.
constexpr const char* rule_name(ReductionOp op) {
  if (op == ReductionOp::norm_one) return "norm_one";
  if (op == ReductionOp::sum_of_squares) return "norm_two";
  if (op == ReductionOp::norm_inf) return "norm_inf";
  return traits_of(op).function.text;
}
static_assert([] {
  for (std::size_t i = 0; i < reduction_table.size(); ++i)
    if (static_cast<std::size_t>(reduction_table[i].op) != i) return false;
  return reduction_table.size() == static_cast<std::size_t>(ReductionOp::argmax) + 1;
}());

/// Names the element type of the result of reducing elements of type T.
template <ReductionOp op, class T>
consteval auto reduced_element() {
  constexpr auto kind = traits_of(op).result;
  constexpr bool is_whole = std::is_integral_v<T>;
  if constexpr (kind == ReducedKind::boolean)
    return std::type_identity<bool>{};
  else if constexpr (kind == ReducedKind::index)
    return std::type_identity<std::int64_t>{};
  else if constexpr (kind == ReducedKind::wide && is_whole)
    return std::type_identity<std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>,
                                                 std::uint64_t, std::int64_t>>{};
  else if constexpr ((kind == ReducedKind::fractions || kind == ReducedKind::real) && is_whole)
    return std::type_identity<double>{};
  else if constexpr (kind == ReducedKind::real)
    return std::type_identity<typename PartOf<T>::type>{};
  else
    return std::type_identity<T>{};
}
template <ReductionOp op, class T>
using reduced_element_t = typename decltype(reduced_element<op, T>())::type;

}  // namespace tessera::detail
