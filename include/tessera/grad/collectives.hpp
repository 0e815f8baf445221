// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <tessera/grad/detail/adjoints.hpp>
#include <tessera/grad/pending.hpp>
#include <tessera/movement/shift.hpp>
#include <tessera/plan/plan.hpp>
#include <tessera/redistribute/collectives.hpp>

/// The functional collectives take local variables, too: they compute as with Views, and are
/// recorded.
///
/// Each rank has its own result, and its own gradient of that. The gradient of a rank's operand is
/// the sum of what the results of all ranks contribute to it. Each adjoint is one exchange along
/// the same mesh dims; only that of shift() sends metadata.
///
/// | function       | adjoint                                                         |
/// | -------------- | --------------------------------------------------------------- |
/// | all_reduce     | all_reduce                                                      |
/// | all_gather     | reduce_scatter into pieces of the extents that the operands had |
/// | reduce_scatter | all_gather                                                      |
/// | all_to_all     | all_to_all with the dims exchanged, into the extents as before  |
/// | broadcast      | sum on the root, zeros on the other ranks                       |
/// | shift by d     | shift by -d, zeros where the operand was sent to no rank        |
///
/// Averages divide the gradient by the number of ranks. Reductions by min, max and product cannot
/// be recorded.
///
/// Result, Collective, Errors: those of the functions for Views; InvalidArgument for a recorded
/// reduction by another op than sum and avg. All ranks record the call, also where the View is
/// empty or is not read, and take part in the backward pass.
namespace tessera {

namespace detail {

/// Throws InvalidArgument unless a reduction is linear.
void require_linear(ReduceOp op);

/// Returns the specs between which the adjoint of a plan on a mesh of one dim moves gradients. The
/// gradients of replicas are contributions; those of contributions are replicas.
std::pair<DTensorSpec, DTensorSpec> adjoint_specs(const RedistributePlan& plan);
/// Returns by what the adjoint of a plan divides: the number of ranks for averages, else 1.
int adjoint_divisor(const RedistributePlan& plan);

/// Returns the array with a leading dim, which counts the `ranks` parts of equal extent that follow
/// one another along `tensor_dim`.
ArrayRef in_parts(const ArrayRef& array, int tensor_dim, int ranks);

/// Is the adjoint of a collective with this plan, as a collective.
struct AdjointCollective {
  RedistributePlan plan;
  Extents shape;  ///< extents of the operand, and so of the gradient

  static constexpr FunctionName function = "backward";
  static constexpr const char* label = "tessera::backward";

  template <class V>
  Prepared<V> prepare(Operation& operation, const V& dy, const DeviceMesh& mesh) const {
    const auto [from, to] = adjoint_specs(plan);
    const auto settings = plain_settings<V>();
    const RedistributeCall call{operation.name(), from, to, element_type_of<V>(), settings};
    auto redistributor = agreed_redistributor(operation, call, mesh, settings);
    auto result = allocate<redistributed_view_t<V>>(shape, label);
    auto source = array_ref(dy), destination = array_ref(result);
    if (from.shape().size() > V::rank()) {  // an all_to_all along one dim
      source = in_parts(source, from.placements()[0].dim() - 1, mesh.size());
      destination = with_leading_dim(destination, 1, 1);
    }
    return {result, std::move(redistributor), source, destination};
  }
};

/// Is a collective that tells its plan.
template <class Kind>
struct PlannedCollective {
  Kind kind;
  std::shared_ptr<std::optional<RedistributePlan>> plan;  ///< stays empty off the mesh

  static constexpr FunctionName function = Kind::function;
  static constexpr const char* label = Kind::label;

  template <class V>
  Prepared<V> prepare(Operation& operation, const V& view, const DeviceMesh& mesh) const {
    auto ready = kind.prepare(operation, view, mesh);
    *plan = ready.redistributor.plan();
    return ready;
  }
};

template <class Kind>
PlannedCollective<Kind> planned(const Kind& kind) {
  return {kind, std::make_shared<std::optional<RedistributePlan>>()};
}

/// Computes the adjoint of a collective: this rank's gradient, given that of its result.
template <class G>
redistributed_view_t<G> adjoint_of_collective(const RedistributePlan& plan, const Extents& shape,
                                              const DeviceMesh& line, const G& dy) {
  constexpr auto function = AdjointCollective::function;
  const auto gradient = collectively(line, function, [&](Operation& operation) {
    return run_collective(Execution(), dy, AdjointCollective{plan, shape}, line, operation);
  });
  const int divisor = adjoint_divisor(plan);
  if (divisor == 1) return gradient;
  return as_gradient<G>(ops::divide(gradient, divisor));
}

/// Records the result of a collective on a variable. Off the mesh the gradient is zero.
template <class V, class Kind>
grad::LocalVariable<redistributed_view_t<V>> recorded_collective(
    const grad::LocalVariable<V>& variable, const PlannedCollective<Kind>& kind,
    const DeviceMesh& mesh, const MeshDims& mesh_dims, const redistributed_view_t<V>& y) {
  const auto tape = tape_of(variable);
  if (!tape) return unrecorded(y);
  const auto input = input_of(*tape, Kind::function.text, variable, Keep::nothing);
  return recorded(
      tape, y, [input, plan = *kind.plan, along = line(mesh, mesh_dims)](const auto& dy) {
        const auto& form = input.form();
        input.add(plan ? adjoint_of_collective(*plan, form.shape(), along, dy) : form.zeros());
      });
}

/// Runs a collective on a variable, and records it.
template <class V, class Kind>
grad::LocalVariable<redistributed_view_t<V>> run_recorded(const grad::LocalVariable<V>& variable,
                                                          const Kind& kind, const DeviceMesh& mesh,
                                                          const MeshDims& mesh_dims) {
  const auto planning = planned(kind);
  const auto y = run_collective(Execution(), variable.detach(), planning, mesh, mesh_dims);
  return recorded_collective(variable, planning, mesh, mesh_dims, y);
}

/// Starts a collective on a variable in the background.
template <class V, class Kind>
grad::PendingVariable<redistributed_view_t<V>> start_recorded(
    const grad::LocalVariable<V>& variable, const Kind& kind, const DeviceMesh& mesh,
    const MeshDims& mesh_dims) {
  const auto planning = planned(kind);
  return {start_collective(Execution(), variable.detach(), planning, mesh, mesh_dims),
          [=](const redistributed_view_t<V>& y) {
            return recorded_collective(variable, planning, mesh, mesh_dims, y);
          }};
}

/// Throws InvalidArgument for a reduction that has no adjoint, if a tape records it.
template <class V>
void require_reducible(FunctionName function, const grad::LocalVariable<V>& variable, ReduceOp op) {
  named(function.text, [&] {
    if (tape_of(variable)) require_linear(op);
  });
}

/// Records the result of a broadcast on a variable.
template <class V>
grad::LocalVariable<redistributed_view_t<V>> recorded_broadcast(
    const grad::LocalVariable<V>& variable, int root, const DeviceMesh& mesh,
    const MeshDims& mesh_dims, const redistributed_view_t<V>& y) {
  const auto tape = tape_of(variable);
  if (!tape) return unrecorded(y);
  const auto input = input_of(*tape, "broadcast", variable, Keep::nothing);
  return recorded(tape, y, [input, root, along = line(mesh, mesh_dims)](const auto& dy) {
    const auto parts = tessera::from_local(dy, along, Partial(), extents_of(dy));
    const auto sum = gather_to(Execution(), parts, root);
    input.add(along.rank() == root ? sum : input.form().zeros());
  });
}

}  // namespace detail

namespace grad {

/// Returns the sum, or the average, of the Views of all ranks, see tessera::all_reduce().
template <LocalView V>
LocalVariable<redistributed_view_t<V>> all_reduce(const LocalVariable<V>& view, ReduceOp op,
                                                  const DeviceMesh& mesh,
                                                  const MeshDims& mesh_dims) {
  detail::require_reducible("all_reduce", view, op);
  return detail::run_recorded(view, detail::AllReduce{op}, mesh, mesh_dims);
}
/// Starts all_reduce() in the background.
template <LocalView V>
PendingVariable<redistributed_view_t<V>> all_reduce_async(const LocalVariable<V>& view, ReduceOp op,
                                                          const DeviceMesh& mesh,
                                                          const MeshDims& mesh_dims) {
  detail::require_reducible("all_reduce", view, op);
  return detail::start_recorded(view, detail::AllReduce{op}, mesh, mesh_dims);
}

/// Returns the Views one after another along `tensor_dim`, see tessera::all_gather().
template <LocalView V>
LocalVariable<redistributed_view_t<V>> all_gather(const LocalVariable<V>& view, int tensor_dim,
                                                  const DeviceMesh& mesh,
                                                  const MeshDims& mesh_dims) {
  return detail::run_recorded(view, detail::AllGather{tensor_dim}, mesh, mesh_dims);
}
/// Starts all_gather() in the background.
template <LocalView V>
PendingVariable<redistributed_view_t<V>> all_gather_async(const LocalVariable<V>& view,
                                                          int tensor_dim, const DeviceMesh& mesh,
                                                          const MeshDims& mesh_dims) {
  return detail::start_recorded(view, detail::AllGather{tensor_dim}, mesh, mesh_dims);
}

/// Returns this rank's chunk along `tensor_dim` of the sum, or the average, of the Views, see
/// tessera::reduce_scatter().
template <LocalView V>
LocalVariable<redistributed_view_t<V>> reduce_scatter(const LocalVariable<V>& view, ReduceOp op,
                                                      int tensor_dim, const DeviceMesh& mesh,
                                                      const MeshDims& mesh_dims) {
  detail::require_reducible("reduce_scatter", view, op);
  return detail::run_recorded(view, detail::ReduceScatter{op, tensor_dim}, mesh, mesh_dims);
}
/// Starts reduce_scatter() in the background.
template <LocalView V>
PendingVariable<redistributed_view_t<V>> reduce_scatter_async(const LocalVariable<V>& view,
                                                              ReduceOp op, int tensor_dim,
                                                              const DeviceMesh& mesh,
                                                              const MeshDims& mesh_dims) {
  detail::require_reducible("reduce_scatter", view, op);
  return detail::start_recorded(view, detail::ReduceScatter{op, tensor_dim}, mesh, mesh_dims);
}

/// Splits each View into chunks along `split_dim`, sends chunk i to rank i, and joins what arrives
/// along `concat_dim`, see tessera::all_to_all().
template <LocalView V>
LocalVariable<redistributed_view_t<V>> all_to_all(const LocalVariable<V>& view, int split_dim,
                                                  int concat_dim, const DeviceMesh& mesh,
                                                  const MeshDims& mesh_dims) {
  return detail::run_recorded(view, detail::AllToAll{split_dim, concat_dim}, mesh, mesh_dims);
}
/// Starts all_to_all() in the background.
template <LocalView V>
PendingVariable<redistributed_view_t<V>> all_to_all_async(const LocalVariable<V>& view,
                                                          int split_dim, int concat_dim,
                                                          const DeviceMesh& mesh,
                                                          const MeshDims& mesh_dims) {
  return detail::start_recorded(view, detail::AllToAll{split_dim, concat_dim}, mesh, mesh_dims);
}

/// Returns the View of `root`, a position along `mesh_dims`, on every rank, see
/// tessera::broadcast(). The gradient of a View that is not read is zero.
template <LocalView V>
LocalVariable<redistributed_view_t<V>> broadcast(const LocalVariable<V>& view, int root,
                                                 const DeviceMesh& mesh,
                                                 const MeshDims& mesh_dims) {
  const auto y = tessera::broadcast(view.detach(), root, mesh, mesh_dims);
  return detail::recorded_broadcast(view, root, mesh, mesh_dims, y);
}
/// Starts broadcast() in the background.
template <LocalView V>
PendingVariable<redistributed_view_t<V>> broadcast_async(const LocalVariable<V>& view, int root,
                                                         const DeviceMesh& mesh,
                                                         const MeshDims& mesh_dims) {
  return {tessera::broadcast_async(view.detach(), root, mesh, mesh_dims),
          [=](const redistributed_view_t<V>& y) {
            return detail::recorded_broadcast(view, root, mesh, mesh_dims, y);
          }};
}

/// Sends a View to the rank that is `distance` after this one along a mesh dim, and returns what
/// arrives, see tessera::shift().
template <LocalView V>
LocalVariable<redistributed_view_t<V>> shift(const LocalVariable<V>& view, int distance,
                                             const DeviceMesh& mesh, const MeshDim& mesh_dim,
                                             const Shift& options = {}) {
  const auto y = tessera::shift(view.detach(), distance, mesh, mesh_dim, options);
  const auto tape = detail::tape_of(view);
  if (!tape) return detail::unrecorded(y);
  const auto input = detail::input_of(*tape, "shift", view, detail::Keep::nothing);
  const bool is_sent = mesh.neighbour(mesh_dim, distance, options.periodic).has_value();
  return detail::recorded(tape, y, [=](const auto& dy) {
    const auto back = tessera::shift(dy, -distance, mesh, mesh_dim, options);
    const auto& form = input.form();
    input.add(is_sent && detail::extents_of(back) == form.shape() ? back : form.zeros());
  });
}

}  // namespace grad
}  // namespace tessera
