// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "variant.hpp"

namespace tessera::perf {

namespace {

std::vector<Variant> rivals(const Case& test_case, const Geometry& geometry) {
  const auto& [source, target, shape] = test_case;
  if (!geometry.has_boxes()) return {};
  if (source.is_partial(ReduceOp::avg)) return {};  // MPI has no average
  if (source.is_partial())
    return target.is_shard() ? reduce_scatters(geometry) : all_reduces(geometry);
  if (source.is_replicate()) return slices(geometry);
  return target.is_shard() ? exchanges(geometry) : gathers(geometry);
}

}  // namespace

std::vector<Variant> variants(const Case& test_case, const Geometry& geometry) {
  auto result = bounds(geometry);
  for (const auto& more :
       {ours(test_case), rivals(test_case, geometry), costa_variants(test_case, geometry),
        scalapack_variants(test_case, geometry), heffte_variants(test_case, geometry)})
    result.insert(result.end(), more.begin(), more.end());
  return result;
}

}  // namespace tessera::perf
