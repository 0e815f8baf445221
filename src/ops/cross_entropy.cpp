// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/ops/cross_entropy.hpp>

#include "kernels/pack.hpp"
#include "ops/lookup.hpp"
#include "ops/rows.hpp"
#include "ops/temporaries.hpp"

namespace tessera::detail {
namespace {

Extents pick_shape_of_call(const OperatorCall& call) {
  return losses_shape(call.operands[0].spec->shape(), call.operands[1].spec->shape());
}

std::vector<OperatorRule> pick_rules_of_call(const OperatorCall&) {
  return {{Shard(0), {Shard(0), Shard(0)}},
          {Replicate(), {Shard(1), Replicate()}},
          {Replicate(), {Replicate(), Replicate()}}};
}

/// Copies the logits of the targets from the columns that this rank has; 0 where it lacks the column.
void look_up_targets(const Execution& execution, const ArrayRef& logits, const ArrayRef& targets,
                     const Sections& columns, std::int64_t classes, const ArrayRef& result) {
  look_up(execution, {.function = cross_entropy_info().function.text,
                      .label = cross_entropy_info().label,
                      .what = "a target",
                      .table = logits,
                      .indices = targets,
                      .result = result,
                      .table_strides = {logits.strides[0]},
                      .index_strides = {targets.strides[0]},
                      .dim_stride = logits.strides[1],
                      .sections = columns,
                      .extent = classes,
                      .least = 0});
}

}  // namespace

const OperatorInfo& cross_entropy_info() {
  static constexpr OperatorInfo pick_operator{"cross_entropy",
                                              "cross_entropy",
                                              "tessera::cross_entropy",
                                              pick_shape_of_call,
                                              pick_rules_of_call,
                                              true,
                                              true,
                                              {1}};
  return pick_operator;
}

Extents losses_shape(const Extents& logits, const Extents& targets) {
  require(logits[0] == targets[0], [&] {
    return fmt::format("expected one target for each row, got logits {} and targets {}",
                       to_string(logits), to_string(targets));
  });
  return targets;
}

void run_pick(const Execution& execution, const DeviceMesh& mesh, const DTensorSpec& spec,
              const ArrayRef& logits, const ArrayRef& targets, const ArrayRef& result) {
  const auto* const label = cross_entropy_info().label;
  const auto columns = spec.sections(*mesh.coordinate()).sections[1];
  Temporaries temporaries(execution, &mesh);
  const Rows rows(execution, temporaries, &mesh, &spec, 1, label);
  if (!rows.are_split())
    return look_up_targets(execution, logits, targets, columns, spec.shape()[1], result);
  auto own = temporaries.allocate(result.type, {result.extents[0], 1}, result.space, label);
  const auto line = [](const OwnedArray& column) {
    const auto& array = column.array;
    return row_major(array.data, array.type, {array.extents[0]}, array.space);
  };
  look_up_targets(execution, logits, targets, columns, spec.shape()[1], line(own));
  own = rows.combined(own, ReduceOp::sum);
  copy(execution, line(own), result);
  temporaries.finish();
}

void run_pick(const Execution& execution, const ArrayRef& logits, const ArrayRef& targets,
              const ArrayRef& result) {
  look_up_targets(execution, logits, targets, Sections(Interval{0, logits.extents[1]}),
                  logits.extents[1], result);
}

}  // namespace tessera::detail
