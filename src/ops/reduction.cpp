// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <tessera/ops/reductions.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

#include "kernels/pack.hpp"
#include "ops/reduction_work.hpp"
#include "ops/rules.hpp"
#include "ops/temporaries.hpp"

namespace tessera::detail {
namespace {

ReducedDims dims_of(const OperatorCall& call) {
  return {Extents(call.integers("dims")), call.integers("keep_dims").front() != 0};
}

Extents reduced_shape_of_call(const OperatorCall& call) {
  const auto& shape = call.operands.front().spec->shape();
  for (const auto& operand : call.operands)
    require(call.name == "var" || call.name == "logsumexp" || operand.spec->shape() == shape, [&] {
      return fmt::format("expected tensors of one shape, got {} and {}", to_string(shape),
                         to_string(operand.spec->shape()));
    });
  return reduced_shape(shape, dims_of(call));
}

template <ReductionOp op>
std::vector<OperatorRule> reduction_rules_of(const OperatorCall& call) {
  constexpr const auto& traits = traits_of(op);
  const auto kind = call.operands.front().type.kind;
  const bool has_fractions = is_floating(kind) || is_complex(kind);
  std::vector<ReduceOp> kept;
  // A sum of smaller integers becomes wider, where contributions would not wrap around any more.
  const bool is_wide = is_integer(kind) && call.operands.front().type.size == 8;
  if (traits.is_linear && (has_fractions || (op == ReductionOp::sum && is_wide)))
    kept.push_back(ReduceOp::sum);
  if (traits.is_linear && has_fractions) kept.push_back(ReduceOp::avg);
  const bool is_widened = op == ReductionOp::product && !has_fractions && !is_wide;
  if (traits.keeps_own && !is_widened && traits.combines != ReduceOp::sum)
    kept.push_back(traits.combines);
  auto rules = reduction_rules(traits.combines, kept, call);
  if (op == ReductionOp::argmin || op == ReductionOp::argmax)
    for (auto& rule : rules)
      if (rule.output.is_partial()) rule.output = Replicate();
  return rules;
}

template <ReductionOp op>
constexpr OperatorInfo reduction_info_of() {
  constexpr const auto& traits = traits_of(op);
  return {traits.function,
          rule_name(op),
          traits.label,
          reduced_shape_of_call,
          reduction_rules_of<op>,
          true,
          true,
          {op == ReductionOp::argmin || op == ReductionOp::argmax ? 1 : 0}};
}

constexpr auto reduction_infos = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{reduction_info_of<static_cast<ReductionOp>(I)>()...};
}
(std::make_index_sequence<reduction_table.size()>());

bool is_reduced(const Extents& dims, std::size_t d) {
  return std::ranges::find(dims, static_cast<std::int64_t>(d)) != dims.end();
}

std::int64_t least_stride(const Extents& extents, const Extents& strides) {
  auto least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (extents[d] > 1) least = std::min(least, std::abs(strides[d]));
  return least;
}

ReductionLoops loops_of(std::span<const ArrayRef> operands, const ReducedDims& over, double divisor,
                        const ArrayRef& result) {
  ReductionLoops loops{result.space, result.data, operands[0].data};
  loops.divisor = divisor > 0 ? divisor : std::numeric_limits<double>::quiet_NaN();
  if (operands.size() > 1) loops.second = operands[1].data;
  std::size_t to = 0;
  for (std::size_t d = 0; d < operands[0].extents.size(); ++d) {
    const auto stride = [&](std::size_t k) -> std::int64_t {
      if (k >= operands.size()) return 0;
      const bool stretches = operands[k].extents[d] != operands[0].extents[d];
      return stretches ? 0 : operands[k].strides[d] * operands[k].type.size;
    };
    if (is_reduced(over.dims, d)) {
      loops.reduced.push_back(operands[0].extents[d]);
      for (std::size_t k = 0; k < 2; ++k) loops.reduced_strides[k].push_back(stride(k));
      if (over.keeps) ++to;
    } else {
      loops.kept.push_back(operands[0].extents[d]);
      loops.kept_strides[0].push_back(result.strides[to++] * result.type.size);
      for (std::size_t k = 0; k < 2; ++k) loops.kept_strides[k + 1].push_back(stride(k));
    }
  }
  loops.is_inner_kept = least_stride(loops.kept, loops.kept_strides[1]) <
                        least_stride(loops.reduced, loops.reduced_strides[0]);
  // Loops are ordered by the strides of the elements, of which there are more than results.
  std::swap(loops.kept_strides[0], loops.kept_strides[1]);
  simplify(loops.kept, loops.kept_strides);
  std::swap(loops.kept_strides[0], loops.kept_strides[1]);
  simplify(loops.reduced, loops.reduced_strides);
  return loops;
}

}  // namespace

const OperatorInfo& reduction_info(ReductionOp op) {
  return reduction_infos[static_cast<std::size_t>(op)];
}

ReducedDims reduced_dims(std::span<const int> dims, bool keeps, std::size_t tensor_dims) {
  ReducedDims result{{}, keeps};
  const auto size = static_cast<int>(tensor_dims);
  for (const int dim : dims) {
    require(dim >= -size && dim < size, [&] {
      return fmt::format("expected dims of a tensor with {} dims, got {}", size, dim);
    });
    const auto from_first = static_cast<std::int64_t>(dim < 0 ? dim + size : dim);
    require(std::ranges::find(result.dims, from_first) == result.dims.end(),
            [&] { return fmt::format("expected each dim once, got dim {} twice", from_first); });
    result.dims.push_back(from_first);
  }
  std::ranges::sort(result.dims);
  return result;
}

Extents reduced_shape(const Extents& shape, const ReducedDims& over) {
  Extents result;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (!is_reduced(over.dims, d))
      result.push_back(shape[d]);
    else if (over.keeps)
      result.push_back(1);
  return result;
}

std::int64_t reduced_size(const Extents& shape, const Extents& dims) {
  std::int64_t result = 1;
  for (const auto d : dims) result *= shape[static_cast<std::size_t>(d)];
  return result;
}

void require_elements(ReductionOp op, const Extents& shape, const ReducedDims& over) {
  require(traits_of(op).has_empty_result || reduced_size(shape, over.dims) > 0 ||
              tessera::product(reduced_shape(shape, over)) == 0,
          [&] {
            return fmt::format("expected at least one element to reduce, got shape {}",
                               to_string(shape));
          });
}

void require_may_reduce(const DTensorSpec& spec, const char* function) {
  if (!spec.placements().has_partial() || current_redistribution() != Redistribution::none) return;
  throw PlacementMismatch(
      fmt::format("{}: expected a tensor that is not Partial under "
                  "RedistributionScope(Redistribution::none), got "
                  "{}; call reduce_partial() first",
                  function, to_string(spec)));
}

void run_reduction(const Execution& execution, ReductionOp op, const DeviceMesh* mesh,
                   std::span<const ArrayRef> operands, const ReducedDims& over, double divisor,
                   const ArrayRef& result) {
  if (result.size() == 0) return;
  Temporaries temporaries(execution, mesh);
  std::array<ArrayRef, 2> arrays{operands[0], operands.size() > 1 ? operands[1] : ArrayRef()};
  OwnedArray converted;
  if (is_integer(arrays[0].type.kind) && converts_integers(op)) {
    converted = temporaries.allocate(element_type<double>(), arrays[0].extents, arrays[0].space,
                                     "tessera::ops converted operand");
    copy(execution, {arrays[0], converted.array, Stores::cached, {}});
    arrays[0] = converted.array;
  }
  const bool is_real = !is_complex(arrays[0].type.kind);
  if (op == ReductionOp::vdot && is_real) op = ReductionOp::dot;
  auto loops = loops_of(std::span(arrays).first(operands.size()), over, divisor, result);
  loops.temporaries = &temporaries;
  const auto kind = arrays[0].type.kind;
  if (is_integer(kind))
    reduce_integers(execution, op, kind, loops);
  else
    reduce_others(execution, op, kind, loops);
  temporaries.finish();
}

}  // namespace tessera::detail
