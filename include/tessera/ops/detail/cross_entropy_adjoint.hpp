// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include <tessera/ops/cross_entropy.hpp>

/// The adjoint of y = cross_entropies(x, t) is dx[i, j] = (exp(l[i, j]) - [j is t[i]]) dy[i], where
/// l is log_softmax(x, 1). No row is gathered: each rank compares the targets with the columns that
/// it has.
namespace tessera::detail {

/// Describes the operator, whose operands are l, the targets, and the gradient dy of the cross
/// entropies.
const OperatorInfo& cross_entropy_adjoint_info();

/// Computes it on local pieces, all of which have the same rows. `columns` are the global indices
/// of the columns of this rank. `mesh` is null for Views of this rank.
void run_cross_entropy_adjoint(const Execution& execution, const DeviceMesh* mesh,
                               const ArrayRef& logs, const ArrayRef& targets,
                               const ArrayRef& gradient, const Sections& columns,
                               const ArrayRef& result);

/// Returns the gradient with respect to the logits. Targets are those of a call of cross_entropies,
/// which has checked them.
///
/// Shapes:     logs (N, C), targets (N), gradient (N) → (N, C).
/// Result:     split as the rows or the columns of `logs` are; a Partial gradient of replicated
///             rows gives the same Partial.
/// Collective: where operands move or are reduced; otherwise local.
/// Errors:     PlacementMismatch for placements that do not fit, unless operands may move.
template <LocalView Result, LocalView V, LocalView I, LocalView G>
DTensor<Result> cross_entropy_adjoint(const DTensor<V>& logs, const DTensor<I>& targets,
                                      const DTensor<G>& gradient) {
  using T = std::remove_const_t<typename V::value_type>;
  using Class = std::remove_const_t<typename I::value_type>;
  const std::array operands{operand_ref<T>(logs), operand_ref<Class>(targets),
                            operand_ref<T>(gradient)};
  const CallRequest request{cross_entropy_adjoint_info(), operands, element_type<T>()};
  const auto kernel = [&](const PreparedCall& call, std::span<const ArrayRef> arrays,
                          const ArrayRef& to) {
    const auto& mesh = logs.device_mesh();
    const auto columns = output_of(call).sections(*mesh.coordinate()).sections[1];
    run_cross_entropy_adjoint(Execution(), &mesh, arrays[0], arrays[1], arrays[2], columns, to);
  };
  return call_with_kernel<Result>(Execution(), request, kernel, logs, targets, gradient);
}
/// Computes it with Views of this rank.
template <LocalView Result, LocalView V, LocalView I, LocalView G>
Result cross_entropy_adjoint(const V& logs, const I& targets, const G& gradient) {
  const auto shape = extents_of(logs);
  auto result = allocate<Result>(shape, cross_entropy_adjoint_info().label);
  run_cross_entropy_adjoint(Execution(), nullptr, array_ref(logs), array_ref(targets),
                            array_ref(gradient), Sections(Interval{0, shape[1]}),
                            array_ref(result));
  return result;
}

}  // namespace tessera::detail
