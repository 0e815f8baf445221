// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <tessera/ops/detail/elementwise_kernel.hpp>
#include <tessera/ops/matrix.hpp>

#include "kernels/copy_batch.hpp"
#include "ops/rules.hpp"

namespace tessera::detail {
namespace {

/// Finds the element of a matrix for an index of its diagonal; strides are in bytes.
struct DiagonalElements {
  const std::byte* data;
  std::int64_t row_stride, column_stride;
  IndexMap rows, columns, diagonal;
  std::int64_t first_row, first_column;

  /// Returns the element for a local index of the result; null if this rank lacks it.
  KOKKOS_FUNCTION const std::byte* find(const LoopArray& index) const {
    const auto i = diagonal.global_index(index[0]);
    const auto row = rows.local_index(first_row + i);
    const auto column = columns.local_index(first_column + i);
    if (row < 0 || column < 0) return nullptr;
    return data + row * row_stride + column * column_stride;
  }
};

/// Finds the element of a vector for an index of the matrix that has the vector on a diagonal.
struct DiagonalMatrix {
  const std::byte* data;
  std::int64_t stride;  ///< bytes
  IndexMap vector, rows, columns;
  std::int64_t offset, first_row;

  KOKKOS_FUNCTION const std::byte* find(const LoopArray& index) const {
    const auto row = rows.global_index(index[0]);
    if (columns.global_index(index[1]) - row != offset) return nullptr;
    const auto i = vector.local_index(row - first_row);
    return i < 0 ? nullptr : data + i * stride;
  }
};

/// Finds the elements of a triangle in arrays of the same piece.
struct Triangle {
  const std::byte* data;
  LoopArray strides;  ///< bytes
  int dims;
  IndexMap rows, columns;
  std::int64_t offset;
  bool is_upper;

  KOKKOS_FUNCTION const std::byte* find(const LoopArray& index) const {
    const auto above = columns.global_index(index[dims - 1]) - rows.global_index(index[dims - 2]);
    if (is_upper ? above < offset : above > offset) return nullptr;
    std::int64_t distance = 0;
    for (int d = 0; d < dims; ++d) distance += index[d] * strides[d];
    return data + distance;
  }
};

/// Holds an element as words that have the alignment of its parts.
template <int Bytes, int words>
struct [[gnu::may_alias]] ElementWords {
  Word<Bytes> word[words];
};

/// Sets each element of a result to what Finder finds, and to 0 where it finds nothing.
template <class Element, class Finder>
struct FindElements {
  Loops loops;
  LoopArray dims;  ///< tensor dim of each loop
  std::byte* result;
  LoopArray strides;  ///< strides of the result by loop, bytes
  Finder finder;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto item = loops.item(i);
    const int inner = loops.ndims - 1;
    LoopArray index{};
    for (int d = 0; d < loops.ndims; ++d) index[dims[d]] = item.index[d];
    std::byte* to = result + loops.offset(item, strides);
    for (std::int64_t k = 0; k < item.length; ++k) {
      const auto* const from = finder.find(index);
      *reinterpret_cast<Element*>(to) =
          from == nullptr ? Element{} : *reinterpret_cast<const Element*>(from);
      to += strides[inner];
      ++index[dims[inner]];
    }
  }
};

/// Does the same on a device, where each thread has one element.
template <class Element, class Finder>
struct FindElementsOnDevice {
  DeviceLoops loops;
  LoopArray dims;  ///< tensor dim of each loop
  std::byte* result;
  LoopArray strides;  ///< strides of the result by loop, bytes
  Finder finder;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    LoopArray index{};
    std::int64_t to = 0;
    loops.at(i, [&](int d, std::int64_t at) {
      index[dims[d]] = at;
      to += at * strides[d];
    });
    const auto* const from = finder.find(index);
    *reinterpret_cast<Element*>(result + to) =
        from == nullptr ? Element{} : *reinterpret_cast<const Element*>(from);
  }
};

/// Calls f(std::type_identity<Element>{}) with a type that copies elements of `type`.
template <class F>
void with_element_words(ElementType type, const F& f) {
  switch (type.size) {
    case 1:
      return f(std::type_identity<ElementWords<1, 1>>{});
    case 2:
      return f(std::type_identity<ElementWords<2, 1>>{});
    case 4:
      return f(std::type_identity<ElementWords<4, 1>>{});
    case 8:
      if (is_complex(type.kind)) return f(std::type_identity<ElementWords<4, 2>>{});
      return f(std::type_identity<ElementWords<8, 1>>{});
    case 16:
      return f(std::type_identity<ElementWords<8, 2>>{});
    default:
      return f(std::type_identity<ElementWords<8, 4>>{});
  }
}

template <class Finder>
void find_elements(const Execution& execution, const char* label, const ArrayRef& result,
                   const Finder& finder) {
  const auto dims = result.extents.size();
  const bool is_left = result.strides[0] < result.strides[dims - 1];
  Extents extents = result.extents, strides = result.strides;
  LoopArray dim_of_loop{};
  for (std::size_t d = 0; d < dims; ++d) {
    const auto dim = is_left ? dims - 1 - d : d;
    extents[d] = result.extents[dim];
    strides[d] = result.strides[dim] * result.type.size;
    dim_of_loop[d] = static_cast<std::int64_t>(dim);
  }
  with_element_words(result.type, [&]<class Element>(std::type_identity<Element>) {
    if (is_on_device(result.space)) {
      const FindElementsOnDevice<Element, Finder> kernel{
          DeviceLoops(extents), dim_of_loop, result.data, loop_strides(strides), finder};
      launch_on_device(execution, label, result.size(), kernel);
    } else {
      const FindElements<Element, Finder> kernel{make_loops(extents, elementwise_chunk),
                                                 dim_of_loop, result.data, loop_strides(strides),
                                                 finder};
      launch_on_host(execution, label, kernel.loops.items(), result.bytes(), kernel);
    }
  });
}

std::int64_t offset_of(const OperatorCall& call) {
  return std::get<std::int64_t>(call.attributes.front().value);
}

bool is_linear(ReduceOp op, ElementKind kind) {
  if (kind == ElementKind::boolean) return op == ReduceOp::bor;
  return op == ReduceOp::sum || (op == ReduceOp::avg && !is_integer(kind));
}

/// Adds rules by which the Partials of the operand pass: all of them, or those that are linear.
void add_partial_rules(std::vector<OperatorRule>& rules, const OperatorCall& call, bool all_pass) {
  const auto& operand = call.operands.front();
  for (const auto& placement : operand.spec->placements()) {
    if (!placement.is_partial() || !(all_pass || is_linear(placement.op(), operand.type.kind)))
      continue;
    const OperatorRule rule{placement, {placement}};
    if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
  }
}

/// Returns the dim of a matrix whose sharding its diagonal takes; -1 for none.
///
/// Only one dim gives it: then any combination of rules is right. The local result has the indices
/// of the diagonal that are this rank's rows (or columns), and mesh dims that split the other dim
/// give contributions to these. If both dims gave it, a combination could split the diagonal by
/// rows and columns at once.
int dim_of_diagonal(const OperatorCall& call) {
  const auto& spec = *call.operands.front().spec;
  if (offset_of(call) != 0) return -1;
  const auto splits = [&](int dim) {
    return std::ranges::any_of(spec.placements(),
                               [&](const Placement& placement) { return placement.is_shard(dim); });
  };
  const auto length = call.shape[0];
  if (length == spec.shape()[1] && splits(1) && !splits(0)) return 1;
  return length == spec.shape()[0] ? 0 : -1;
}

std::vector<OperatorRule> diag_rules(const OperatorCall& call) {
  std::vector<OperatorRule> rules;
  const bool is_matrix = call.tensor_dims(0) == 2;
  if (is_matrix) {
    const int kept = dim_of_diagonal(call);
    for (const int dim : {0, 1})
      rules.push_back(
          {dim == kept ? Placement(Shard(0)) : own_elements(call.type.kind), {Shard(dim)}});
  } else {
    rules.push_back(
        {offset_of(call) == 0 ? Placement(Shard(0)) : own_elements(call.type.kind), {Shard(0)}});
  }
  add_partial_rules(rules, call, is_matrix);
  rules.push_back({Replicate(), {Replicate()}});
  return rules;
}

std::vector<OperatorRule> triangle_rules(const OperatorCall& call) {
  std::vector<OperatorRule> rules;
  for (int d = 0; d < call.tensor_dims(0); ++d) rules.push_back({Shard(d), {Shard(d)}});
  add_partial_rules(rules, call, false);
  rules.push_back({Replicate(), {Replicate()}});
  return rules;
}

std::vector<OperatorRule> outer_rules(const OperatorCall&) {
  return {{Shard(0), {Shard(0), Replicate()}},
          {Shard(1), {Replicate(), Shard(0)}},
          {Replicate(), {Replicate(), Replicate()}}};
}

template <MatrixOp op>
constexpr OperatorInfo info_of(FunctionName name, const char* label,
                               std::vector<OperatorRule> (*rules)(const OperatorCall&)) {
  return {name, name.text, label,
          [](const OperatorCall& call) {
            const auto& shape = call.operands.front().spec->shape();
            if constexpr (op == MatrixOp::outer)
              return Extents{shape[0], call.operands.back().spec->shape()[0]};
            else
              return matrix_shape(op, shape, offset_of(call));
          },
          rules};
}

constexpr std::array matrix_infos{info_of<MatrixOp::diag>("diag", "tessera::diag", diag_rules),
                                  info_of<MatrixOp::tril>("tril", "tessera::tril", triangle_rules),
                                  info_of<MatrixOp::triu>("triu", "tessera::triu", triangle_rules),
                                  info_of<MatrixOp::outer>("outer", "tessera::outer", outer_rules)};

std::int64_t diagonal_length(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  if (offset >= columns || offset <= -rows) return 0;
  return offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns);
}

}  // namespace

const OperatorInfo& matrix_info(MatrixOp op) {
  return matrix_infos[static_cast<std::size_t>(op)];
}

Extents matrix_shape(MatrixOp op, const Extents& shape, std::int64_t offset) {
  if (op != MatrixOp::diag) return shape;
  if (shape.size() == 2) return {diagonal_length(shape[0], shape[1], offset)};
  // The largest n with n² < 2^63.
  constexpr std::int64_t most = 3037000499;
  const bool fits = offset >= -most && offset <= most && shape[0] <= most &&
                    shape[0] + std::max(offset, -offset) <= most;
  require(fits, [&] {
    return fmt::format("expected a matrix of at most {} rows, got {} elements and offset {}", most,
                       shape[0], offset);
  });
  const auto rows = shape[0] + std::max(offset, -offset);
  return {rows, rows};
}

Piece whole_piece(const Extents& shape) {
  Piece result;
  for (const auto extent : shape) result.sections.emplace_back(Interval{0, extent});
  return result;
}

void run_matrix_op(const Execution& execution, MatrixOp op, std::int64_t offset,
                   const ArrayRef& operand, const Piece& operand_piece, const ArrayRef& result,
                   const Piece& result_piece) {
  if (result.size() == 0) return;
  const auto* const label = matrix_info(op).label;
  const auto dims = operand.extents.size();
  const auto stride = [&](std::size_t d) { return operand.strides[d] * operand.type.size; };
  const auto held = [&](std::size_t d) { return IndexMap(operand_piece.sections[d]); };
  const auto wanted = [&](std::size_t d) { return IndexMap(result_piece.sections[d]); };
  if (op != MatrixOp::diag) {
    Triangle triangle{operand.data,     {},     static_cast<int>(dims), wanted(dims - 2),
                      wanted(dims - 1), offset, op == MatrixOp::triu};
    for (std::size_t d = 0; d < dims; ++d) triangle.strides[d] = stride(d);
    return find_elements(execution, label, result, triangle);
  }
  const auto first_row = std::max<std::int64_t>(-offset, 0);
  if (dims == 1)
    return find_elements(
        execution, label, result,
        DiagonalMatrix{operand.data, stride(0), held(0), wanted(0), wanted(1), offset, first_row});
  find_elements(execution, label, result,
                DiagonalElements{operand.data, stride(0), stride(1), held(0), held(1), wanted(0),
                                 first_row, std::max<std::int64_t>(offset, 0)});
}

void run_outer(const Execution& execution, const ArrayRef& x, const ArrayRef& y,
               const ArrayRef& result) {
  auto column = x;
  column.extents.push_back(1);
  column.strides.push_back(0);
  const std::array<OperandRef, 2> tensors{};
  run_elementwise(execution, ElementwiseOp::multiply, result.type, tensors, std::array{column, y},
                  result, true);
}

}  // namespace tessera::detail
