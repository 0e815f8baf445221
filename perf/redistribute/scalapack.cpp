// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// ScaLAPACK's PDGEMR2D moves matrices between block-cyclic distributions. It takes columns to be
// contiguous, so it is given the transposed matrix: what lies row by row here lies column by column
// there.
#include <algorithm>
#include <array>
#include <memory>

#include "../../unit_tests/support/scalapack.hpp"
#include "variant.hpp"

namespace tessera::perf {

namespace {

using test::ProcessGrid;

/// Describes the transposed matrix under a sharding of one dim.
struct Distribution {
  std::unique_ptr<ProcessGrid> grid;
  std::array<int, 9> descriptor;

  Distribution(const Placement& placement, const Geometry& geometry) {
    const bool by_rows = placement.dim() == 0;  // of the matrix, which are columns here
    const int ranks = geometry.ranks();
    grid = std::make_unique<ProcessGrid>(by_rows ? 1 : ranks, by_rows ? ranks : 1);
    const auto rows = static_cast<int>(geometry.shape[1]);
    const auto columns = static_cast<int>(geometry.shape[0]);
    const auto extent = by_rows ? columns : rows;
    const auto block = placement.rule() == ShardingRule::cyclic
                           ? static_cast<int>(placement.block())
                           : (extent + ranks - 1) / ranks;
    const auto local =
        DTensorSpec(MeshLayout({ranks}), {placement}, geometry.shape).local_shape(geometry.rank);
    const auto leading = std::max(1, static_cast<int>(local[1]));
    constexpr int dense = 1;
    descriptor = {
        dense, grid->context(), rows, columns, by_rows ? rows : block, by_rows ? block : columns, 0,
        0,     leading};
  }
};

}  // namespace

std::vector<Variant> scalapack_variants(const Case& test_case, const Geometry& geometry) {
  const auto is_cyclic = [](const Placement& p) { return p.rule() == ShardingRule::cyclic; };
  if (!is_cyclic(test_case.source) && !is_cyclic(test_case.target)) return {};
  return {variant("pdgemr2d", Kind::peer, [test_case, geometry](const Workspace& workspace) {
    const auto from = std::make_shared<Distribution>(test_case.source, geometry);
    const auto to = std::make_shared<Distribution>(test_case.target, geometry);
    const auto all = std::make_shared<ProcessGrid>(1, geometry.ranks());
    return [from, to, all, source = workspace.source, target = workspace.target,
            rows = static_cast<int>(geometry.shape[1]),
            columns = static_cast<int>(geometry.shape[0])] {
      Cpdgemr2d(rows, columns, source, 1, 1, from->descriptor.data(), target, 1, 1,
                to->descriptor.data(), all->context());
    };
  })};
}

}  // namespace tessera::perf
