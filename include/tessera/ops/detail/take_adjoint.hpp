// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <tessera/ops/take.hpp>

/// The adjoint of y = take(table, indices, dim) adds up the gradient of y in the places of the
/// table that the indices name: dtable[…, indices[i…], …] += dy[…, i…, …]. Elements that no index
/// names get 0.
///
/// Indices are those of a call of take, which has checked them; negative ones count from the end.
/// Where an index repeats, the host adds in the row-major order of the indices, a device in any
/// order.
namespace tessera::detail {

/// Describes the operator: its operands are the gradient dy and the indices, its attributes "dim"
/// and "table", the shape of the table.
const OperatorInfo& take_adjoint_info();

/// Adds up elements of local pieces of a floating-point or complex type. `rows` are the global
/// indices that this rank has along `dim` of the result, which has `extent` of them; other indices
/// count for nothing. `mesh` is null for Views of this rank. Expects a result without holes.
void run_take_adjoint(const Execution& execution, const DeviceMesh* mesh, const ArrayRef& gradient,
                      const ArrayRef& indices, const Sections& rows, std::int64_t extent,
                      std::int64_t dim, const ArrayRef& result);

/// Returns the spec `sums`, where `dim` is split as in `table` if it is Replicate along all mesh
/// dims that split it there: each rank needs to add the rows that it has, and no others.
DTensorSpec with_own_rows(const DTensorSpec& sums, const DTensorSpec& table, std::int64_t dim);

/// Returns the gradient with respect to a table with the spec `table`, which has no Partial. `dim`
/// counts from the first one.
///
/// Result:     split as the gradient dy is; P(sum) where the indices are split; a Partial dy gives
///             the same Partial. Rows that every rank could add are split as those of the table.
/// Collective: where operands move; otherwise local.
/// Errors:     PlacementMismatch for placements that do not fit, unless operands may move.
template <LocalView Result, LocalView G, LocalView I>
DTensor<Result> take_adjoint(const DTensor<G>& gradient, const DTensor<I>& indices,
                             const DTensorSpec& table, std::int64_t dim) {
  using T = std::remove_const_t<typename G::value_type>;
  using Index = std::remove_const_t<typename I::value_type>;
  const auto& info = take_adjoint_info();
  const std::array operands{operand_ref<T>(gradient), operand_ref<Index>(indices)};
  const std::array attributes{OperatorAttribute{"dim", std::vector<std::int64_t>{dim}},
                              OperatorAttribute{"table", std::vector<std::int64_t>(table.shape())}};
  const CallRequest request{info, operands, element_type<T>(), {}, false, attributes};
  const DeviceMesh& mesh = common_mesh(request);
  const auto prepared = prepare(mesh, request);
  const auto spec = with_own_rows(output_of(*prepared), table, dim);
  require_representable<Result>(spec);
  const auto box = local_box(mesh, spec);
  const auto view =
      mesh.coordinate() ? recycler(mesh).view_for_any<Result>(box.shape, info.label) : Result();
  const auto result = DTensorAccess::make(view, mesh, spec, box);
  const auto kernel = [&](std::span<const ArrayRef> arrays, const ArrayRef& to) {
    const auto at = static_cast<std::size_t>(dim);
    const auto rows = spec.sections(*mesh.coordinate()).sections[at];
    run_take_adjoint(Execution(), &mesh, arrays[0], arrays[1], rows, table.shape()[at], dim, to);
  };
  run(Execution(), *prepared, request, array_ref(result.to_local()), kernel,
      [&] { return held_all(result, gradient, indices); });
  return result;
}
/// Returns the gradient with respect to a View of this rank with the extents `table`.
template <LocalView Result, LocalView G, LocalView I>
Result take_adjoint(const G& gradient, const I& indices, const Extents& table, std::int64_t dim) {
  const auto extent = table[static_cast<std::size_t>(dim)];
  auto result = allocate<Result>(table, take_adjoint_info().label);
  run_take_adjoint(Execution(), nullptr, array_ref(gradient), array_ref(indices),
                   Sections(Interval{0, extent}), extent, dim, array_ref(result));
  return result;
}

}  // namespace tessera::detail
