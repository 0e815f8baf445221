// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include <tessera/ops/detail/elementwise.hpp>
#include <tessera/ops/detail/elementwise_kernel.hpp>
#include <tessera/ops/softmax.hpp>

#include "kernels/number_types.hpp"
#include "kernels/pack.hpp"
#include "ops/rows.hpp"
#include "ops/rules.hpp"
#include "ops/softmax_function.hpp"
#include "ops/temporaries.hpp"

namespace tessera::detail {
namespace {

Extents shape_of_call(const OperatorCall& call, bool drops_dim) {
  const auto& shape = call.operands.front().spec->shape();
  return drops_dim ? reduced_shape(shape, {Extents(call.integers("dims")), false}) : shape;
}

/// Lists the rules: whatever dim is split, the result is split alike, and the operator itself combines what
/// ranks have of the reduced dim.
std::vector<OperatorRule> rules_of_call(const OperatorCall& call, bool drops_dim) {
  if (drops_dim) {
    auto rules = reduction_rules(ReduceOp::sum, {}, call);
    for (auto& rule : rules)
      if (rule.output.is_partial()) rule.output = Replicate();
    return rules;
  }
  std::vector<OperatorRule> rules;
  for (int d = 0; d < call.tensor_dims(0); ++d) rules.push_back({Shard(d), {Shard(d)}});
  rules.push_back({Replicate(), {Replicate()}});
  return rules;
}

template <SoftmaxOp op>
constexpr OperatorInfo info_of(FunctionName name, const char* label) {
  constexpr bool drops_dim = op == SoftmaxOp::logsumexp;
  return {name,
          name.text,
          label,
          [](const OperatorCall& call) { return shape_of_call(call, drops_dim); },
          [](const OperatorCall& call) { return rules_of_call(call, drops_dim); },
          true,
          true,
          {2}};
}

constexpr std::array softmax_infos{
    info_of<SoftmaxOp::softmax>("softmax", "tessera::softmax"),
    info_of<SoftmaxOp::log_softmax>("log_softmax", "tessera::log_softmax"),
    info_of<SoftmaxOp::logsumexp>("logsumexp", "tessera::logsumexp")};

/// Runs function(a, b) for all elements of `result`; operands of extent 1 stretch.
template <class T, class Function>
void compute(const Execution& execution, const char* label, const ArrayRef& result,
             const ArrayRef& a, const ArrayRef& b, const Function& function) {
  if (result.size() == 0) return;
  auto loops = loops_over(result);
  set_operand(execution, loops, 0, a, result.type, result);
  set_operand(execution, loops, 1, b, result.type, result);
  simplify(loops.extents, std::span(loops.strides).first(3));
  run_elementwise_kernel<T, T, T>(execution, label, loops, function);
}

template <class T>
void run_as(const Execution& execution, SoftmaxOp op, const Rows& rows, Temporaries& temporaries,
            const DeviceMesh* mesh, const ArrayRef& operand, std::int64_t dim,
            const ArrayRef& result) {
  const auto* const label = softmax_info(op).label;
  const ReducedDims over{{dim}, true};
  const auto shape = reduced_shape(operand.extents, over);
  const auto row = [&] { return temporaries.allocate(operand.type, shape, operand.space, label); };
  auto most = row(), sums = row();
  run_reduction(execution, ReductionOp::max, mesh, std::array{operand}, over, 1, most.array);
  most = rows.combined(most, ReduceOp::max);
  if (op == SoftmaxOp::softmax) {
    compute<T>(execution, label, result, operand, most.array, ExpOfDifference<T>());
    run_reduction(execution, ReductionOp::sum, mesh, std::array{result}, over, 1, sums.array);
    sums = rows.combined(sums, ReduceOp::sum);
    compute<T>(execution, label, result, result, sums.array, Quotient<T>());
    return;
  }
  run_reduction(execution, ReductionOp::sum_of_exp, mesh, std::array{operand, most.array}, over, 1,
                sums.array);
  sums = rows.combined(sums, ReduceOp::sum);
  if (op == SoftmaxOp::log_softmax) {
    // In this order nothing is lost where the largest element is much larger than the logarithm.
    compute<T>(execution, label, result, operand, most.array, DifferenceToLargest<T>());
    compute<T>(execution, label, result, result, sums.array, LessLog<T>());
    return;
  }
  auto kept = result;
  kept.extents = shape;
  kept.strides = {};
  for (std::int64_t d = 0, to = 0; d < static_cast<std::int64_t>(shape.size()); ++d)
    kept.strides.push_back(d == dim ? 0 : result.strides[static_cast<std::size_t>(to++)]);
  compute<T>(execution, label, kept, sums.array, most.array, LogOfSum<T>());
}

/// Computes in float: sums of 16-bit numbers are larger than these, or lose their last digits.
void run_in_float(const Execution& execution, SoftmaxOp op, const Rows& rows,
                  Temporaries& temporaries, const DeviceMesh* mesh, const ArrayRef& operand,
                  std::int64_t dim, const ArrayRef& result) {
  const auto as_float = [&](const ArrayRef& array) {
    return temporaries.allocate(element_type<float>(), array.extents, array.space,
                                softmax_info(op).label);
  };
  const auto wide_operand = as_float(operand), wide_result = as_float(result);
  copy(execution, operand, wide_operand.array);
  run_as<float>(execution, op, rows, temporaries, mesh, wide_operand.array, dim, wide_result.array);
  copy(execution, wide_result.array, result);
}

}  // namespace

const OperatorInfo& softmax_info(SoftmaxOp op) {
  return softmax_infos[static_cast<std::size_t>(op)];
}

void run_softmax(const Execution& execution, SoftmaxOp op, const DeviceMesh* mesh,
                 const DTensorSpec* spec, const ArrayRef& operand, std::int64_t dim,
                 const ArrayRef& result) {
  Temporaries temporaries(execution, mesh);
  const Rows rows(execution, temporaries, mesh, spec, dim, softmax_info(op).label);
  const auto run = [&]<class T>(std::type_identity<T>) {
    run_as<T>(execution, op, rows, temporaries, mesh, operand, dim, result);
  };
  if (operand.type.size == 2)
    run_in_float(execution, op, rows, temporaries, mesh, operand, dim, result);
  else if (operand.type.kind == ElementKind::float32)
    run(std::type_identity<float>());
  else if (operand.type.kind == ElementKind::float64)
    run(std::type_identity<double>());
  else
    run(std::type_identity<long double>());
  temporaries.finish();
}

}  // namespace tessera::detail
