// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What the table of operators says of those that are described by whole arrays: how they are
// called, what their dims mean, what one rank computes of its pieces, and what a serial program
// computes.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <tessera/ops/cross_entropy.hpp>
#include <tessera/ops/cumsum.hpp>
#include <tessera/ops/detail/reduction.hpp>
#include <tessera/ops/matmul.hpp>
#include <tessera/ops/matrix.hpp>
#include <tessera/ops/softmax.hpp>
#include <tessera/ops/take.hpp>

namespace tessera::test {

using detail::MatrixOp;
using detail::SoftmaxOp;

/// Holds an element of any number type without loss.
using Number = std::complex<long double>;
using Numbers = std::vector<Number>;

/// Describes a call on tensors and numbers, by their shapes.
struct Form {
  std::vector<std::optional<Extents>> shapes = {};  ///< by operand; none for a number
  ElementType type = {};
  detail::ReducedDims over = {};  ///< dims of a reduction, or the dim that an operator goes along
  std::optional<std::int64_t> offset = {};  ///< of a diagonal

  std::size_t operands() const { return shapes.size(); }
};

/// Names the dims of operands and result by letters, as einsum() does. Along a mesh dim, a letter
/// is split in all operands that have it, or in none.
struct Subscripts {
  std::vector<std::string> operands;
  std::string result;
  std::string order;              ///< all letters; splits of the first one are preferred
  Placement lacking = Partial();  ///< of the result, where a letter that it lacks is split
};

/// Says whether the second operand of an operator holds indices, and how they count.
enum class Indices : std::uint8_t { none, from_begin, from_both_ends };

/// Describes what one rank computes.
struct LocalCall {
  const Form& form;
  std::span<const ArrayRef> operands;
  std::span<const Piece> pieces;  ///< global indices of the operands
  ArrayRef result;
  Piece result_piece;
};

struct WholeOperator {
  const detail::OperatorInfo& (*info)();
  std::vector<Form> (*forms)(const Extents& shape);  ///< lists calls on a tensor of this shape
  Subscripts (*subscripts)(const OperatorCall& call);
  Numbers (*oracle)(const Form& form, std::span<const Numbers> operands);
  void (*run)(const LocalCall& call);
  detail::ReducedKind result = detail::ReducedKind::same;  ///< element type
  Indices indices = Indices::none;
  bool has_local_shape = true;  ///< whether shapes of pieces give the shape of a piece
  long double ulps = 0;         ///< error allowed: times epsilon (1 + |value|)
};

/// Returns the description of an operator of a family.
template <auto info, auto op>
const detail::OperatorInfo& info_of() {
  return info(op);
}

// Forms. An empty list means that an operator does not take such a tensor.

inline std::vector<Form> matmul_forms(const Extents& shape) {
  const auto dims = shape.size();
  const auto columns = shape[dims - 1];
  std::vector<Form> result;
  const auto add = [&](const Extents& a, const Extents& b) {
    result.push_back({.shapes = {a, b}});
  };
  add(shape, {columns});
  add(shape, {columns, 3});
  if (dims == 3) add(shape, {shape[0], columns, 2});
  if (dims < 2) return result;
  const auto rows = shape[dims - 2];
  add({rows}, shape);
  add({3, rows}, shape);
  return result;
}

/// Lists one form for each dim.
inline std::vector<Form> forms_along_dims(const Extents& shape) {
  std::vector<Form> result;
  for (std::size_t d = 0; d < shape.size(); ++d)
    result.push_back({.shapes = {shape}, .over = {{static_cast<std::int64_t>(d)}, false}});
  return result;
}

inline std::vector<Form> take_forms(const Extents& shape) {
  std::vector<Form> result;
  for (auto form : forms_along_dims(shape)) {
    const auto dim = static_cast<std::size_t>(form.over.dims[0]);
    std::vector<Extents> shapes = {Extents{0}};
    if (shape[dim] > 0) shapes = {Extents{}, Extents{3}, Extents{2, 2}};
    for (const auto& indices : shapes) {
      form.shapes = {shape, indices};
      result.push_back(form);
    }
  }
  return result;
}

inline std::vector<Form> pick_forms(const Extents& shape) {
  if (shape.size() != 2) return {};
  return {{.shapes = {shape, Extents{shape[0]}}, .over = {{1}, false}}};
}

inline std::vector<Form> outer_forms(const Extents& shape) {
  return {{.shapes = {Extents{shape[0]}, Extents{shape[shape.size() - 1]}}}};
}

inline std::vector<Form> forms_with_offsets(const Extents& shape) {
  std::vector<Form> result;
  for (const std::int64_t offset : {0, 2, -1})
    result.push_back({.shapes = {shape}, .offset = offset});
  return result;
}

inline std::vector<Form> triangle_forms(const Extents& shape) {
  return shape.size() < 2 ? std::vector<Form>() : forms_with_offsets(shape);
}

/// Lists diagonals of a matrix, and of a square one.
inline std::vector<Form> diagonal_forms(const Extents& shape) {
  if (shape.size() != 2) return {};
  auto result = forms_with_offsets(shape);
  std::ranges::copy(forms_with_offsets({shape[1], shape[1]}), std::back_inserter(result));
  return result;
}

inline std::vector<Form> diagonal_matrix_forms(const Extents& shape) {
  return forms_with_offsets({shape[0]});
}

// Subscripts.

/// Returns letters for dims.
inline std::string letters(int dims, const std::string& all = "abcdefgh") {
  return all.substr(0, static_cast<std::size_t>(dims));
}

/// Returns the Partial of a result of which each rank has its own elements, and 0 elsewhere.
inline Placement own_elements(const OperatorCall& call) {
  return Partial(call.type.kind == ElementKind::boolean ? ReduceOp::bor : ReduceOp::sum);
}

inline std::int64_t offset_of(const OperatorCall& call) {
  return std::get<std::int64_t>(call.attributes.front().value);
}

inline Subscripts matmul_subscripts(const OperatorCall& call) {
  const int a = call.tensor_dims(0), b = call.tensor_dims(1);
  const auto leading = letters(std::max({a, b, 2}) - 2);
  const std::string rows = a >= 2 ? "m" : "", columns = b >= 2 ? "n" : "";
  const auto result = leading + rows + columns;
  return {{(a > 2 ? leading : "") + rows + "k", (b > 2 ? leading : "") + "k" + columns},
          result,
          result + "k"};
}

/// Names the dims of an operator whose result has the dims of its operand.
inline Subscripts same_subscripts(const OperatorCall& call) {
  const auto all = letters(call.tensor_dims(0));
  return {{all}, all, all};
}

/// Names the dims of an operator that drops a dim, and combines itself what ranks have of it.
inline Subscripts dropping_subscripts(const OperatorCall& call) {
  const auto all = letters(call.tensor_dims(0));
  auto result = all;
  result.erase(static_cast<std::size_t>(call.integers("dims")[0]), 1);
  return {{all}, result, all, Replicate()};
}

inline Subscripts take_subscripts(const OperatorCall& call) {
  const auto dim = static_cast<std::size_t>(call.integers("dims")[0]);
  const auto table = letters(call.tensor_dims(0)), indices = letters(call.tensor_dims(1), "pqrs");
  auto result = table, others = table;
  result.replace(dim, 1, indices);
  others.erase(dim, 1);
  return {{table, indices}, result, others + indices + table[dim], own_elements(call)};
}

inline Subscripts pick_subscripts(const OperatorCall&) {
  return {{"nc", "n"}, "n", "nc", Replicate()};
}

inline Subscripts outer_subscripts(const OperatorCall&) {
  return {{"m", "n"}, "mn", "mn"};
}

/// Names the dims of a matrix and its diagonal. The main diagonal is split as the rows are, if it
/// has an element for each row; or as the columns are, if it has one for each column and the
/// columns alone are split.
inline Subscripts diagonal_subscripts(const OperatorCall& call) {
  const auto& spec = *call.operands[0].spec;
  const auto splits = [&](int dim) {
    return std::ranges::any_of(spec.placements(), [&](const auto& p) { return p.is_shard(dim); });
  };
  const auto follows = [&](std::size_t dim) {
    return offset_of(call) == 0 && call.shape[0] == spec.shape()[dim];
  };
  std::string result = follows(0) ? "i" : "d";
  if (follows(1) && splits(1) && !splits(0)) result = "j";
  return {{"ij"}, result, "ij", own_elements(call)};
}

/// Names the dims of a vector and the matrix that has it on a diagonal.
inline Subscripts diagonal_matrix_subscripts(const OperatorCall& call) {
  return {{"i"}, offset_of(call) == 0 ? "ij" : "rc", "i", own_elements(call)};
}

// Oracles, on arrays in row-major order.

inline Numbers product_of_matrices(const Form& form, std::span<const Numbers> operands) {
  const auto &a = *form.shapes[0], &b = *form.shapes[1];
  const auto rows = a.size() < 2 ? 1 : a[a.size() - 2], inner = a[a.size() - 1],
             columns = b.size() < 2 ? 1 : b[b.size() - 1];
  const auto leading = [](const Extents& shape) {
    std::int64_t result = 1;
    for (std::size_t d = 0; d + 2 < shape.size(); ++d) result *= shape[d];
    return result;
  };
  Numbers result;
  for (std::int64_t batch = 0; batch < leading(a.size() > 2 ? a : b); ++batch)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        Number sum = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          const auto of_a = ((a.size() > 2 ? batch : 0) * rows + i) * inner + k;
          const auto of_b = ((b.size() > 2 ? batch : 0) * inner + k) * columns + j;
          sum += operands[0][static_cast<std::size_t>(of_a)] *
                 operands[1][static_cast<std::size_t>(of_b)];
        }
        result.push_back(sum);
      }
  return result;
}

/// Returns an array in which of_line(line) takes the place of each line along form.over.
template <class OfLine>
Numbers by_lines(const Form& form, const Numbers& array, const OfLine& of_line) {
  const auto& shape = *form.shapes[0];
  const auto dim = static_cast<std::size_t>(form.over.dims[0]);
  std::size_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < dim; ++d) outer *= static_cast<std::size_t>(shape[d]);
  for (std::size_t d = dim + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  const auto extent = static_cast<std::size_t>(shape[dim]);
  std::vector<Numbers> lines;
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      Numbers line;
      for (std::size_t e = 0; e < extent; ++e) line.push_back(array[(o * extent + e) * inner + i]);
      lines.push_back(of_line(line));
    }
  Numbers result;
  if (lines.empty()) return result;
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t e = 0; e < lines[0].size(); ++e)
      for (std::size_t i = 0; i < inner; ++i) result.push_back(lines[o * inner + i][e]);
  return result;
}

/// Returns log(sum(exp(x))); the numbers are small.
inline long double logsumexp_of(const Numbers& line) {
  long double sum = 0;
  for (const auto& x : line) sum += std::exp(x.real());
  return std::log(sum);
}

template <SoftmaxOp op>
Numbers softmax_of(const Form& form, std::span<const Numbers> operands) {
  return by_lines(form, operands[0], [](const Numbers& line) {
    const auto log_of_sum = logsumexp_of(line);
    if (op == SoftmaxOp::logsumexp) return Numbers(1, log_of_sum);
    Numbers result;
    for (const auto& x : line)
      result.emplace_back(op == SoftmaxOp::softmax ? std::exp(x.real() - log_of_sum)
                                                   : x.real() - log_of_sum);
    return result;
  });
}

inline Numbers running_sums(const Form& form, std::span<const Numbers> operands) {
  return by_lines(form, operands[0], [](Numbers line) {
    for (std::size_t i = 1; i < line.size(); ++i) line[i] += line[i - 1];
    return line;
  });
}

inline Numbers taken(const Form& form, std::span<const Numbers> operands) {
  return by_lines(form, operands[0], [&](const Numbers& line) {
    Numbers result;
    for (const auto& number : operands[1]) {
      const auto index = static_cast<std::int64_t>(number.real());
      const auto from_begin = index < 0 ? index + static_cast<std::int64_t>(line.size()) : index;
      result.push_back(line[static_cast<std::size_t>(from_begin)]);
    }
    return result;
  });
}

inline Numbers picked_of_rows(const Form& form, std::span<const Numbers> operands) {
  const auto columns = static_cast<std::size_t>((*form.shapes[0])[1]);
  Numbers result;
  for (std::size_t row = 0; row < operands[1].size(); ++row)
    result.push_back(
        operands[0][row * columns + static_cast<std::size_t>(operands[1][row].real())]);
  return result;
}

inline Numbers outer_product(const Form&, std::span<const Numbers> operands) {
  Numbers result;
  for (const auto& x : operands[0])
    for (const auto& y : operands[1]) result.push_back(x * y);
  return result;
}

template <MatrixOp op>
Numbers triangle_of(const Form& form, std::span<const Numbers> operands) {
  const auto& shape = *form.shapes[0];
  const auto rows = shape[shape.size() - 2], columns = shape[shape.size() - 1];
  auto result = operands[0];
  for (std::size_t flat = 0; flat < result.size(); ++flat) {
    const auto at = static_cast<std::int64_t>(flat);
    const auto above = at % columns - at / columns % rows;
    if (op == MatrixOp::tril ? above > *form.offset : above < *form.offset) result[flat] = 0;
  }
  return result;
}

inline Numbers diagonal_of(const Form& form, std::span<const Numbers> operands) {
  const auto rows = (*form.shapes[0])[0], columns = (*form.shapes[0])[1];
  Numbers result;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      if (j - i == *form.offset)
        result.push_back(operands[0][static_cast<std::size_t>(i * columns + j)]);
  return result;
}

inline Numbers diagonal_matrix_of(const Form& form, std::span<const Numbers> operands) {
  const auto offset = *form.offset;
  const auto rows = (*form.shapes[0])[0] + std::abs(offset);
  Numbers result;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < rows; ++j)
      result.push_back(j - i == offset ? operands[0][static_cast<std::size_t>(std::min(i, j))]
                                       : Number(0));
  return result;
}

// Kernels of one rank.

inline void run_local_matmul(const LocalCall& call) {
  detail::run_matmul(Execution(), call.operands, call.result);
}

template <SoftmaxOp op>
void run_local_softmax(const LocalCall& call) {
  detail::run_softmax(Execution(), op, nullptr, nullptr, call.operands[0], call.form.over.dims[0],
                      call.result);
}

inline void run_local_cumsum(const LocalCall& call) {
  detail::run_cumsum(Execution(), nullptr, nullptr, call.operands[0], call.form.over.dims[0],
                     call.result);
}

inline void run_local_take(const LocalCall& call) {
  const auto dim = static_cast<std::size_t>(call.form.over.dims[0]);
  detail::run_take(Execution(), call.operands[0], call.operands[1], call.pieces[0].sections[dim],
                   (*call.form.shapes[0])[dim], call.form.over.dims[0], call.result);
}

inline void run_local_pick(const LocalCall& call) {
  detail::run_pick(Execution(), call.operands[0], call.operands[1], call.result);
}

inline void run_local_outer(const LocalCall& call) {
  detail::run_outer(Execution(), call.operands[0], call.operands[1], call.result);
}

template <MatrixOp op>
void run_local_matrix(const LocalCall& call) {
  detail::run_matrix_op(Execution(), op, *call.form.offset, call.operands[0], call.pieces[0],
                        call.result, call.result_piece);
}

}  // namespace tessera::test
