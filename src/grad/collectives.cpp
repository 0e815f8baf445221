// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include <tessera/grad/collectives.hpp>

namespace tessera::detail {

void require_linear(ReduceOp op) {
  require(op == ReduceOp::sum || op == ReduceOp::avg, [&] {
    return fmt::format(
        "expected sum or avg for a variable, got {}, whose gradient depends on the values of all "
        "ranks; pass view.detach() if no gradient is wanted",
        to_string(op));
  });
}

std::pair<DTensorSpec, DTensorSpec> adjoint_specs(const RedistributePlan& plan) {
  std::vector<Placement> contributions;
  for (const auto& placement : plan.target().placements())
    contributions.push_back(placement.is_replicate() ? Placement(Partial()) : placement);
  return {spec_with(plan.target(), Placements(contributions)), like_spec(plan.source())};
}

int adjoint_divisor(const RedistributePlan& plan) {
  const auto& from = plan.source();
  return from.placements()[0].is_partial(ReduceOp::avg) ? from.layout().size() : 1;
}

ArrayRef in_parts(const ArrayRef& array, int tensor_dim, int ranks) {
  const auto d = static_cast<std::size_t>(tensor_dim);
  auto part = array;
  part.extents[d] /= ranks;
  return with_leading_dim(part, ranks, part.extents[d] * part.strides[d]);
}

}  // namespace tessera::detail
