// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/extents/element_type.hpp>

namespace tessera::detail {

enum class ElementwiseOp : std::uint8_t {
  negate,
  abs,
  sign,
  square,
  sqrt,
  exp,
  log,
  sin,
  cos,
  tanh,
  sigmoid,
  relu,
  real,
  imag,
  conj,
  logical_not,
  clamp,
  add,
  subtract,
  multiply,
  divide,
  power,
  minimum,
  maximum,
  equal_to,
  not_equal_to,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
  axpby,
  where,
};

/// Says what an operator does with Partial operands besides reducing them first.
enum class OnPartial : std::uint8_t {
  reduces,
  linear,      ///< f(x + y) = f(x) + f(y)
  reverses,    ///< linear; turns max into min
  increasing,  ///< keeps max and min
  adds,        ///< linear in two operands together
  scales,      ///< linear in a tensor, if the other operand is a finite number
  divides,     ///< linear in the first operand, if the second one is a finite number other than 0
  selects,     ///< linear in all operands but the first
  minimum,     ///< keeps min of two operands
  maximum,     ///< keeps max of two operands
  ors,         ///< keeps bor of bool
};

/// Names the element type of a result.
enum class ResultKind : std::uint8_t {
  same,
  boolean,
  real,  ///< that of the parts of a complex number
};

/// Names kinds of element types, as bits.
enum Kinds : std::uint8_t { bools = 1, integers = 2, floats = 4, complexes = 8 };

struct ElementwiseTraits {
  ElementwiseOp op;
  const char* name;
  const char* label;      ///< name in the tools of Kokkos
  FunctionName function;  ///< name in errors
  int tensors;            ///< number of operands that are arrays in the kernel
  unsigned kinds;         ///< element types of operands, as Kinds
  ResultKind result = ResultKind::same;
  OnPartial on_partial = OnPartial::reduces;
};

inline constexpr unsigned reals = integers | floats;
inline constexpr unsigned fractions = floats | complexes;
inline constexpr unsigned all_numbers = reals | complexes;
inline constexpr unsigned all_kinds = all_numbers | bools;

/// Lists all elementwise operators, by op.
inline constexpr std::array elementwise_table = [] {
  using enum ElementwiseOp;
  using R = ResultKind;
  using P = OnPartial;
  return std::array{
      ElementwiseTraits{negate, "negate", "tessera::negate", "operator-", 1, all_numbers, R::same,
                        P::reverses},
      ElementwiseTraits{abs, "abs", "tessera::abs", "abs", 1, all_numbers, R::real},
      ElementwiseTraits{sign, "sign", "tessera::sign", "sign", 1, reals, R::same, P::increasing},
      ElementwiseTraits{square, "square", "tessera::square", "square", 1, all_numbers},
      ElementwiseTraits{sqrt, "sqrt", "tessera::sqrt", "sqrt", 1, fractions},
      ElementwiseTraits{exp, "exp", "tessera::exp", "exp", 1, fractions, R::same, P::increasing},
      ElementwiseTraits{log, "log", "tessera::log", "log", 1, fractions},
      ElementwiseTraits{sin, "sin", "tessera::sin", "sin", 1, fractions},
      ElementwiseTraits{cos, "cos", "tessera::cos", "cos", 1, fractions},
      ElementwiseTraits{tanh, "tanh", "tessera::tanh", "tanh", 1, fractions, R::same,
                        P::increasing},
      ElementwiseTraits{sigmoid, "sigmoid", "tessera::sigmoid", "sigmoid", 1, floats, R::same,
                        P::increasing},
      ElementwiseTraits{relu, "relu", "tessera::relu", "relu", 1, reals, R::same, P::increasing},
      ElementwiseTraits{real, "real", "tessera::real", "real", 1, all_numbers, R::real, P::linear},
      ElementwiseTraits{imag, "imag", "tessera::imag", "imag", 1, all_numbers, R::real, P::linear},
      ElementwiseTraits{conj, "conj", "tessera::conj", "conj", 1, all_numbers, R::same, P::linear},
      ElementwiseTraits{logical_not, "logical_not", "tessera::logical_not", "operator!", 1, bools},
      ElementwiseTraits{clamp, "clamp", "tessera::clamp", "clamp", 1, reals, R::same,
                        P::increasing},
      ElementwiseTraits{add, "add", "tessera::add", "operator+", 2, all_kinds, R::same, P::adds},
      ElementwiseTraits{subtract, "subtract", "tessera::subtract", "operator-", 2, all_numbers,
                        R::same, P::adds},
      ElementwiseTraits{multiply, "multiply", "tessera::multiply", "operator*", 2, all_kinds,
                        R::same, P::scales},
      ElementwiseTraits{divide, "divide", "tessera::divide", "operator/", 2, all_numbers, R::same,
                        P::divides},
      ElementwiseTraits{power, "pow", "tessera::pow", "pow", 2, all_numbers},
      ElementwiseTraits{minimum, "minimum", "tessera::minimum", "minimum", 2, reals, R::same,
                        P::minimum},
      ElementwiseTraits{maximum, "maximum", "tessera::maximum", "maximum", 2, reals, R::same,
                        P::maximum},
      ElementwiseTraits{equal_to, "equal_to", "tessera::equal_to", "equal_to", 2, all_kinds,
                        R::boolean},
      ElementwiseTraits{not_equal_to, "not_equal_to", "tessera::not_equal_to", "not_equal_to", 2,
                        all_kinds, R::boolean},
      ElementwiseTraits{less, "less", "tessera::less", "operator<", 2, reals, R::boolean},
      ElementwiseTraits{less_equal, "less_equal", "tessera::less_equal", "operator<=", 2, reals,
                        R::boolean},
      ElementwiseTraits{greater, "greater", "tessera::greater", "operator>", 2, reals, R::boolean},
      ElementwiseTraits{greater_equal, "greater_equal", "tessera::greater_equal", "operator>=", 2,
                        reals, R::boolean},
      ElementwiseTraits{logical_and, "logical_and", "tessera::logical_and", "operator&&", 2, bools},
      ElementwiseTraits{logical_or, "logical_or", "tessera::logical_or", "operator||", 2, bools,
                        R::same, P::ors},
      ElementwiseTraits{axpby, "axpby", "tessera::axpby", "axpby", 2, all_numbers, R::same,
                        P::adds},
      ElementwiseTraits{where, "where", "tessera::where", "where", 3, all_kinds, R::same,
                        P::selects},
  };
}();

constexpr const ElementwiseTraits& traits_of(ElementwiseOp op) {
  return elementwise_table[static_cast<std::size_t>(op)];
}
static_assert([] {
  for (std::size_t i = 0; i < elementwise_table.size(); ++i)
    if (static_cast<std::size_t>(elementwise_table[i].op) != i) return false;
  return elementwise_table.size() == static_cast<std::size_t>(ElementwiseOp::where) + 1;
}());

/// Returns the bit of an element kind; 0 for an opaque one.
constexpr unsigned bit_of(ElementKind kind) {
  if (kind == ElementKind::boolean) return bools;
  if (is_integer(kind)) return integers;
  if (is_floating(kind)) return floats;
  return is_complex(kind) ? complexes : 0;
}

}  // namespace tessera::detail
