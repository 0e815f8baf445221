// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tessera/ops/matmul.hpp>

#include "ops/prepared_call.hpp"
#include "ops/product.hpp"
#include "ops/summa.hpp"

namespace tessera::detail {
namespace {

/// Says which dims of the operands of a product are which.
struct ProductDims {
  int a, b;     ///< number of dims of the operands
  int leading;  ///< number of leading dims of the result

  ProductDims(std::size_t dims_a, std::size_t dims_b)
      : a(static_cast<int>(dims_a)),
        b(static_cast<int>(dims_b)),
        leading(std::max({2, a, b}) - 2) {}

  bool has_rows() const { return a >= 2; }
  bool has_columns() const { return b >= 2; }
  int summed_in_a() const { return a - 1; }
  int summed_in_b() const { return has_columns() ? b - 2 : 0; }
};

Extents matmul_shape_of_call(const OperatorCall& call) {
  return product_shape(call.operands[0].spec->shape(), call.operands[1].spec->shape());
}

/// Lists the rules: leading dims, rows or columns are split, or what is summed up, or nothing is.
std::vector<OperatorRule> matmul_rules_of_call(const OperatorCall& call) {
  const ProductDims dims(call.operands[0].spec->shape().size(),
                         call.operands[1].spec->shape().size());
  std::vector<OperatorRule> rules;
  for (int d = 0; d < dims.leading; ++d) {
    const auto split_if = [&](bool has_leading) {
      return has_leading ? Placement(Shard(d)) : Placement(Replicate());
    };
    rules.push_back({Shard(d), {split_if(dims.a > 2), split_if(dims.b > 2)}});
  }
  if (dims.has_rows()) rules.push_back({Shard(dims.leading), {Shard(dims.a - 2), Replicate()}});
  if (dims.has_columns())
    rules.push_back(
        {Shard(dims.leading + (dims.has_rows() ? 1 : 0)), {Replicate(), Shard(dims.b - 1)}});
  rules.push_back({Partial(), {Shard(dims.summed_in_a()), Shard(dims.summed_in_b())}});
  rules.push_back({Replicate(), {Replicate(), Replicate()}});
  return rules;
}

const OperatorInfo matmul_operator{
    "matmul", "matmul", "tessera::matmul", matmul_shape_of_call, matmul_rules_of_call,
    true,     false,    {0, summa_choice}};

/// Returns the array with one more dim, of extent 1, at `position`.
ArrayRef with_dim(const ArrayRef& array, std::size_t position) {
  auto result = array;
  result.extents = {};
  result.strides = {};
  for (std::size_t d = 0; d <= array.extents.size(); ++d) {
    if (d == position) {
      result.extents.push_back(1);
      result.strides.push_back(1);
    }
    if (d == array.extents.size()) break;
    result.extents.push_back(array.extents[d]);
    result.strides.push_back(array.strides[d]);
  }
  return result;
}

/// Multiplies local pieces: rows and columns of 1 dim become matrices.
void multiply_pieces(const Execution& execution, const DeviceMesh* mesh,
                     std::span<const ArrayRef> operands, const ArrayRef& result) {
  auto a = operands[0], b = operands[1], c = result;
  const bool is_column = b.extents.size() == 1;
  if (a.extents.size() == 1) {
    a = with_dim(a, 0);
    c = with_dim(c, is_column ? c.extents.size() : c.extents.size() - 1);
  }
  if (is_column) {
    b = with_dim(b, 1);
    c = with_dim(c, c.extents.size());
  }
  multiply(execution, mesh, a, b, false, c);
}

}  // namespace

const OperatorInfo& matmul_info() {
  return matmul_operator;
}

Extents product_shape(const Extents& a, const Extents& b) {
  const ProductDims dims(a.size(), b.size());
  const auto at = [](const Extents& shape, int d) { return shape[static_cast<std::size_t>(d)]; };
  Extents shape;
  bool fits = at(a, dims.summed_in_a()) == at(b, dims.summed_in_b());
  for (int d = 0; d < dims.leading; ++d) {
    const auto& longer = dims.a > 2 ? a : b;
    shape.push_back(at(longer, d));
    fits = fits && (dims.a <= 2 || dims.b <= 2 || at(a, d) == at(b, d));
  }
  require(fits, [&] {
    return fmt::format(
        "expected shapes (…, m, k) and (…, k, n) with equal leading dims, or none in one of them, "
        "got {} and {}",
        to_string(a), to_string(b));
  });
  if (dims.has_rows()) shape.push_back(at(a, dims.a - 2));
  if (dims.has_columns()) shape.push_back(at(b, dims.b - 1));
  return shape;
}

void run_matmul(const Execution& execution, const DeviceMesh& mesh, const PreparedCall& call,
                std::span<const ArrayRef> operands, const ArrayRef& result) {
  const bool is_empty = tessera::product(input_of(call, 0).shape()) == 0 ||
                        tessera::product(input_of(call, 1).shape()) == 0;
  if (call.summa != nullptr && !is_empty)
    call.summa->run(execution, mesh, operands[0], operands[1], result);
  else
    multiply_pieces(execution, &mesh, operands, result);
}

void run_matmul(const Execution& execution, std::span<const ArrayRef> operands,
                const ArrayRef& result) {
  multiply_pieces(execution, nullptr, operands, result);
}

}  // namespace tessera::detail
