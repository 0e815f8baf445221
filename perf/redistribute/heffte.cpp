// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// heFFTe redistributes arrays of up to three dims between the steps of its transforms. These
// variants run that redistribution without the transforms.
#include <algorithm>
#include <array>
#include <memory>

#include <heffte.h>

#include "variant.hpp"

namespace tessera::perf {

namespace {

using Reshape = heffte::reshape3d_base<int>;

/// Returns the box with its dims counted from the fastest one.
heffte::box3d<int> reversed(const Box& piece) {
  std::array<int, 3> low = {0, 0, 0};
  std::array<int, 3> high = {0, 0, 0};
  const auto dims = piece.shape.size();
  for (std::size_t d = 0; d < dims; ++d) {
    low[dims - 1 - d] = static_cast<int>(piece.interval(d).begin);
    high[dims - 1 - d] = static_cast<int>(piece.interval(d).end) - 1;
  }
  return {low, high};
}

std::vector<heffte::box3d<int>> reversed(const std::vector<Box>& pieces) {
  std::vector<heffte::box3d<int>> result;
  for (const auto& piece : pieces) result.push_back(reversed(piece));
  return result;
}

Variant reshape(const Geometry& geometry, const char* name, heffte::reshape_algorithm algorithm) {
  using Backend = heffte::backend::stock;
  return variant(name, Kind::peer, [geometry, algorithm](Workspace& workspace) {
    auto options = heffte::default_options<Backend>();
    options.algorithm = algorithm;
    const std::shared_ptr<Reshape> reshape = heffte::make_reshape3d<Backend, int>(
        nullptr, reversed(geometry.source), reversed(geometry.target), MPI_COMM_WORLD, options);
    return [reshape, &workspace] {
      auto* const scratch =
          workspace.outgoing.at_least(static_cast<std::int64_t>(reshape->size_workspace()));
      reshape->apply(1, workspace.source, workspace.target, scratch);
    };
  });
}

}  // namespace

std::vector<Variant> heffte_variants(const Case& test_case, const Geometry& geometry) {
  const bool moves =
      geometry.has_boxes() && test_case.source.is_shard() && test_case.target.is_shard();
  const bool has_empty = std::ranges::any_of(geometry.source, &Box::is_empty) ||
                         std::ranges::any_of(geometry.target, &Box::is_empty);
  if (!moves || has_empty || geometry.ranks() == 1) return {};
  return {reshape(geometry, "heffte_alltoallv", heffte::reshape_algorithm::alltoallv),
          reshape(geometry, "heffte_alltoall", heffte::reshape_algorithm::alltoall),
          reshape(geometry, "heffte_p2p", heffte::reshape_algorithm::p2p),
          reshape(geometry, "heffte_p2p_plined", heffte::reshape_algorithm::p2p_plined)};
}

}  // namespace tessera::perf
