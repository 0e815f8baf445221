// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// COSTA moves matrices between layouts that every rank describes.
#include <memory>

#include <costa/grid2grid/transform.hpp>

#include "../costa_layout.hpp"
#include "variant.hpp"

namespace tessera::perf {

namespace {

using Layout = CostaLayout;

/// Returns the layout of a matrix that is dealt out in blocks along one dim.
Layout cyclic_layout(const Placement& placement, const Geometry& geometry, double* data) {
  const auto rows = static_cast<int>(geometry.shape[0]);
  const auto columns = static_cast<int>(geometry.shape[1]);
  const auto block = static_cast<int>(placement.block());
  const bool by_rows = placement.dim() == 0;
  const auto local = DTensorSpec(MeshLayout({geometry.ranks()}), {placement}, geometry.shape)
                         .local_shape(geometry.rank);
  return costa::block_cyclic_layout<double>(
      rows, columns, by_rows ? block : rows, by_rows ? columns : block, 1, 1, rows, columns,
      by_rows ? geometry.ranks() : 1, by_rows ? 1 : geometry.ranks(), 'R', 0, 0, data,
      static_cast<int>(local[1]), 'R', geometry.rank);
}

Layout layout(const Placement& placement, const std::vector<Box>& boxes, const Geometry& geometry,
              double* data) {
  if (placement.rule() == ShardingRule::cyclic) return cyclic_layout(placement, geometry, data);
  return costa_layout(boxes, geometry.self(), data);
}

}  // namespace

std::vector<Variant> costa_variants(const Case& test_case, const Geometry& geometry) {
  if (!test_case.source.is_shard() || !test_case.target.is_shard() || test_case.shape.size() != 2)
    return {};
  return {variant("costa", Kind::peer, [test_case, geometry](const Workspace& workspace) {
    const auto from = std::make_shared<Layout>(
        layout(test_case.source, geometry.source, geometry, workspace.source));
    const auto to = std::make_shared<Layout>(
        layout(test_case.target, geometry.target, geometry, workspace.target));
    return [from, to] { costa::transform<double>(*from, *to, MPI_COMM_WORLD); };
  })};
}

}  // namespace tessera::perf
