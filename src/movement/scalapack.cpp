// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error/error.hpp>
#include <tessera/movement/scalapack.hpp>

namespace tessera {
namespace {

constexpr int dense_matrix = 1;

int narrow(std::int64_t number, const char* what) {
  require(number <= std::numeric_limits<int>::max(), [&] {
    return fmt::format("expected {} that ScaLAPACK can count, below 2^31, got {}", what, number);
  });
  return static_cast<int>(number);
}

}  // namespace

ScalapackDescriptor detail::descriptor_of(const DTensorSpec& spec, std::int64_t leading_dimension,
                                          int context) {
  const auto& placements = spec.placements();
  const auto is_dealt_out = [&](std::size_t dim) {
    const auto& placement = placements[dim];
    return placement.is_shard(static_cast<int>(dim)) && placement.rule() == ShardingRule::cyclic &&
           !spec.split(dim).is_slice();
  };
  const bool is_grid =
      spec.tensor_dims() == 2 && placements.size() == 2 && is_dealt_out(0) && is_dealt_out(1);
  require(is_grid, [&] {
    return fmt::format(
        "expected a matrix on a mesh of 2 dims under {{Cyclic(0, mb), Cyclic(1, nb)}}, got {}",
        to_string(spec));
  });
  return {dense_matrix,
          context,
          narrow(spec.shape()[0], "rows"),
          narrow(spec.shape()[1], "columns"),
          narrow(placements[0].block(), "rows of a block"),
          narrow(placements[1].block(), "columns of a block"),
          0,
          0,
          narrow(std::max<std::int64_t>(1, leading_dimension), "a leading dimension")};
}

DTensorSpec spec_of(const ScalapackDescriptor& descriptor, const DeviceMesh& mesh) {
  return detail::named("spec_of", [&] {
    const auto& [type, context, rows, columns, row_block, column_block, row_source, column_source,
                 leading] = descriptor;
    const bool is_right = type == dense_matrix && row_source == 0 && column_source == 0 &&
                          row_block >= 1 && column_block >= 1 && rows >= 0 && columns >= 0;
    require(is_right, [&] {
      return fmt::format(
          "expected DTYPE 1, extents of 0 and more, blocks of 1 and more, and RSRC and CSRC 0, got "
          "[{}]",
          fmt::join(descriptor, ", "));
    });
    require(mesh.ndim() == 2, [&] {
      return fmt::format("expected a mesh of 2 dims, the process grid, got {}", to_string(mesh));
    });
    return detail::make_spec(mesh.layout(), {Cyclic(0, row_block), Cyclic(1, column_block)},
                             {rows, columns});
  });
}

}  // namespace tessera
