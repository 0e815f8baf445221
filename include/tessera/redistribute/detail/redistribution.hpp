// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/engine/detail/recycler.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>
#include <tessera/redistribute/options.hpp>
#include <tessera/redistribute/pending.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/sharding/target.hpp>
#include <tessera/tensor/detail/owned_array.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

// This header implements the overloads of redistribute() and of similar functions.
namespace tessera::detail {

template <class V>
constexpr ElementType element_type_of() {
  return element_type<std::remove_const_t<typename V::value_type>>();
}

/// Returns how elements change between Views of these types.
template <class Source, class Destination>
constexpr Change change_between(const Scaling& scaling = {}) {
  return {element_type_of<Source>(), element_type_of<Destination>(), scaling};
}

/// Returns whether elements change after they have arrived, in a pass of its own: where they are
/// reduced, which happens in the type of the source.
bool changes_at_last(const DTensorSpec& source, const DTensorSpec& target, const Change& change);

/// Returns the type in which elements travel: that of the source where they change at last, else the
/// smaller one of both.
ElementType type_on_the_way(const DTensorSpec& source, const DTensorSpec& target,
                            const Change& change);

/// Returns the plan for local pieces in Views of these types, as a call that the ranks agree on
/// here. Collective over the meshes.
template <class Source, class Destination>
Redistributor agreed_redistributor(Operation& operation, const Meshes& meshes,
                                   const DTensorSpec& source, const DTensorSpec& target,
                                   const RedistributeOptions& options) {
  const auto change = change_between<Source, Destination>();
  const auto type = type_on_the_way(source, target, change);
  const auto settings = settings_for<Source, Destination>(options.extra_memory);
  const RedistributeCall call{operation.name(), source, target, type, settings, change};
  return agreed_redistributor(operation, call, meshes, settings);
}

/// Returns memory in which elements for `destination` arrive, in its memory space, if they change at
/// last.
std::optional<OwnedArray> room_for_change(const DTensorSpec& source, const DTensorSpec& target,
                                          const Change& change, const ArrayRef& destination);
/// Changes elements as `scaling` and the types of both arrays say, and ends the call.
void change_arrived(const Execution& execution, const ArrayRef& arrived, const ArrayRef& to,
                    const Scaling& scaling, const char* label);

/// Returns the tensor for the result of a plan: in the memory of the plan's last result if nobody
/// holds that any more, else in fresh memory. With an execution space instance it is always in
/// fresh memory: kernels on the instance may still use memory that nobody holds.
template <class Result>
DTensor<Result> result_tensor(const Execution& execution, const DeviceMesh& mesh,
                              const DTensorSpec& target, const Redistributor& redistributor) {
  constexpr auto label = "tessera::redistribute";
  if (execution.is_given()) return allocate_dtensor<Result>(mesh, target, label);
  auto& recycled = recycler(mesh);
  const auto shape = local_extents(mesh, target);
  if (const auto* view = recycled.find<Result>(RedistributorAccess::identity(redistributor), shape))
    return DTensorAccess::make(*view, mesh, target);
  auto result = allocate_dtensor<Result>(mesh, target, label);
  recycled.keep(RedistributorAccess::identity(redistributor), result.to_local());
  return result;
}

/// Returns the tensor for the result, in the memory of a donated source if the plan allows it.
template <class Result, class V>
DTensor<Result> result_tensor(const Execution& execution, const DTensor<V>& source,
                              const DTensorSpec& target, const Redistributor& redistributor,
                              const RedistributeOptions& options) {
  const auto& mesh = source.device_mesh();
  if constexpr (std::is_same_v<Result, V>)
    if (options.donate_source &&
        RedistributorAccess::can_replace(redistributor, array_ref(source.to_local())))
      return DTensorAccess::make(source.to_local(), mesh, target);
  return result_tensor<Result>(execution, mesh, target, redistributor);
}

/// Holds a redistribution before it runs.
template <class Result>
struct ReadyRedistribution {
  DTensor<Result> result;
  std::optional<Redistributor> redistributor;  ///< empty if nothing moves
  std::optional<OwnedArray> arrived = {};      ///< empty unless elements change at last

  ArrayRef destination() const { return arrived ? arrived->array : array_ref(result.to_local()); }
};

/// Returns the redistribution into `result`, with room for elements that change at last.
template <class V, class Result>
ReadyRedistribution<Result> ready_for(const DTensorSpec& source, const DTensorSpec& target,
                                      DTensor<Result> result, Redistributor redistributor) {
  auto arrived =
      room_for_change(source, target, change_between<V, Result>(), array_ref(result.to_local()));
  return {std::move(result), std::move(redistributor), std::move(arrived)};
}

/// Returns the tensor on a mesh of the same ranks and shape, perhaps with other names.
template <class V>
DTensor<V> on_same_mesh(const DTensor<V>& tensor, const DeviceMesh& mesh) {
  const auto& spec = tensor.spec();
  auto other = make_spec(mesh.layout(), spec.placements(), spec.shape(), spec.boundaries());
  const auto piece = local_box(mesh, other);
  return DTensorAccess::make(tensor.to_local(), mesh, std::move(other), piece,
                             DTensorAccess::owner(tensor));
}

/// Prepares a redistribution on the tensor's mesh. The ranks agree on it here.
template <class Out, class V>
ReadyRedistribution<redistributed_view_t<V, Out>> prepare_redistribution(
    Operation& operation, const Execution& execution, const DTensor<V>& tensor,
    const DTensorSpec& target, const RedistributeOptions& options) {
  using Result = redistributed_view_t<V, Out>;
  require_representable<Result>(target);
  const auto& mesh = tensor.device_mesh();
  if constexpr (std::is_same_v<Result, V>) {
    if (options.donate_source) require_unsaved(array_ref(tensor.to_local()));
    if (hold_alike(target, tensor.spec())) {
      constexpr auto type = element_type<typename Result::value_type>();
      const auto settings = settings_for<V, Result>(options.extra_memory);
      const RedistributeCall call{operation.name(), tensor.spec(), target, type, settings};
      operation.agree(plan_hash(tensor.spec(), target, type, settings), call);
      finish(execution, operation.name());
      return ReadyRedistribution<Result>{DTensorAccess::make(tensor.to_local(), mesh, target), {}};
    }
  }
  if (!mesh.coordinate())
    return ReadyRedistribution<Result>{
        allocate_dtensor<Result>(mesh, target, "tessera::redistribute"), {}};
  auto redistributor =
      agreed_redistributor<V, Result>(operation, mesh, tensor.spec(), target, options);
  auto result = result_tensor<Result>(execution, tensor, target, redistributor, options);
  return ready_for<V>(tensor.spec(), target, std::move(result), std::move(redistributor));
}

/// Holds what ranks that call a redistribution from one mesh to another know alike before it.
struct AcrossCall {
  const char* function;
  const Meshes& meshes;
  const PlanSettings& settings;
  ElementType type;
  std::size_t tensor_dims;
  std::uint64_t source_hash = 0;  ///< 0 unless all ranks know it
  std::uint64_t target_hash = 0;
  std::string target = {};  ///< description

  std::string operator()() const;
  std::uint64_t hash() const;
};
/// Makes the AcrossCall. `source` is the tensor's spec, as far as this rank knows it.
AcrossCall across_call(const Operation& operation, const Meshes& meshes, const DTensorSpec& source,
                       const Target& target, ElementType type, const PlanSettings& settings);

/// Returns the source's spec on all ranks of both meshes; `mine` is that spec on ranks of the
/// source. Collective over both meshes. Errors: InvalidArgument if it differs between ranks of the
/// source.
DTensorSpec source_spec(const Meshes& meshes, const DTensorSpec& mine);

/// Returns `target` as a spec of the tensor `source` on another mesh.
DTensorSpec spec_on(const DeviceMesh& mesh, const DTensorSpec& source, const Target& target);

/// Prepares a redistribution to another mesh. The ranks agree on it here.
template <class Out, class V>
ReadyRedistribution<redistributed_view_t<V, Out>> prepare_redistribution(
    Operation& operation, const Execution& execution, const DTensor<V>& tensor,
    const DeviceMesh& mesh, const Target& target, const RedistributeOptions& options) {
  using Result = redistributed_view_t<V, Out>;
  constexpr auto change = change_between<V, Result>();
  const Meshes meshes(tensor.device_mesh(), mesh);
  if (calls_of(meshes) == nullptr) {
    auto spec = spec_on(mesh, tensor.spec(), target);
    return ReadyRedistribution<Result>{DTensorAccess::make(Result(), mesh, std::move(spec)), {}};
  }
  const auto settings = settings_for<V, Result>(options.extra_memory);
  const auto call =
      across_call(operation, meshes, tensor.spec(), target, change.destination, settings);
  operation.agree(hash_combine(call.hash(), change.source), call);
  const auto source = source_spec(meshes, tensor.spec());
  const auto spec = spec_on(mesh, source, target);
  require_representable<Result>(spec);
  const auto type = type_on_the_way(source, spec, change);
  auto redistributor = cached_redistributor(meshes, source, spec, type, settings);
  auto result = result_tensor<Result>(execution, mesh, spec, redistributor);
  return ready_for<V>(source, spec, std::move(result), std::move(redistributor));
}

template <class V, class W>
void run(const Redistributor& redistributor, const Execution& execution, const V& source,
         const W& destination, const char* label) {
  RedistributorAccess::run(redistributor, execution, array_ref(source), array_ref(destination),
                           label, [&] { return held(source, destination); });
}

/// Runs the plan from `source`, which holds the values of `tensor`, into `result`, and changes them on
/// their way, or at last where they arrive in `arrived`.
template <class V, class W>
void run_and_change(const Redistributor& redistributor, const Execution& execution,
                    const ArrayRef& source, const DTensor<V>& tensor, const W& result,
                    const std::optional<OwnedArray>& arrived, const Scaling& scaling) {
  constexpr auto label = "tessera::redistribute";
  const auto to = array_ref(result);
  RedistributorAccess::run(
      redistributor, execution, source, arrived ? arrived->array : to, label,
      [&] {
        return std::make_shared<std::pair<std::shared_ptr<void>, std::optional<OwnedArray>>>(
            held_with(tensor, result), arrived);
      },
      arrived ? Scaling{} : scaling);
  if (arrived) change_arrived(execution, arrived->array, to, scaling, label);
}

template <class Result, class V>
void run(const ReadyRedistribution<Result>& redistribution, const Execution& execution,
         const DTensor<V>& tensor) {
  if (redistribution.redistributor)
    run_and_change(*redistribution.redistributor, execution, array_ref(tensor.to_local()), tensor,
                   redistribution.result.to_local(), redistribution.arrived, {});
}

template <class Out, class V>
DTensor<redistributed_view_t<V, Out>> redistribute(Operation& operation, const Execution& execution,
                                                   const DTensor<V>& tensor,
                                                   const DTensorSpec& target,
                                                   const RedistributeOptions& options) {
  const auto ready = prepare_redistribution<Out>(operation, execution, tensor, target, options);
  run(ready, execution, tensor);
  return ready.result;
}

template <class Out, class V>
DTensor<redistributed_view_t<V, Out>> redistribute(const Execution& execution,
                                                   const DTensor<V>& tensor, const Target& target,
                                                   const RedistributeOptions& options,
                                                   FunctionName function) {
  return collectively(tensor.device_mesh(), function, [&](Operation& operation) {
    return detail::redistribute<Out>(operation, execution, tensor,
                                     target_spec(tensor.spec(), target), options);
  });
}

/// Checks the meshes of a redistribution to another mesh. Errors, on this rank alone:
/// InvalidArgument for a tensor without a mesh, MeshMismatch for meshes of two communicators.
void require_pair(const DeviceMesh& source, const DeviceMesh& target);

template <class Out, class V>
DTensor<redistributed_view_t<V, Out>> redistribute(const Execution& execution,
                                                   const DTensor<V>& tensor, const DeviceMesh& mesh,
                                                   const Target& target,
                                                   const RedistributeOptions& options) {
  constexpr FunctionName function = "redistribute";
  named(function.text, [&] { require_pair(tensor.device_mesh(), mesh); });
  if (tensor.device_mesh() == mesh)
    return on_same_mesh(detail::redistribute<Out>(execution, tensor, target, options, function),
                        mesh);
  auto* const calls = named(function.text, [&] { return calls_of({tensor.device_mesh(), mesh}); });
  return collectively(calls, function, [&](Operation& operation) {
    const auto ready =
        prepare_redistribution<Out>(operation, execution, tensor, mesh, target, options);
    run(ready, execution, tensor);
    return ready.result;
  });
}

/// Starts a redistribution in the background; prepare(operation) returns a ReadyRedistribution.
template <class V, class Prepare>
auto start_redistribution(const Execution& execution, const DTensor<V>& tensor,
                          const Meshes& meshes, const Prepare& prepare) {
  constexpr FunctionName function = "redistribute_async";
  auto* const calls = named(function.text, [&] { return calls_of(meshes); });
  return start_call(function, meshes.source, calls, [&](Operation& operation) {
    const auto ready = prepare(operation);
    std::pair<decltype(ready.result), std::optional<PendingWork>> started(ready.result,
                                                                          std::nullopt);
    if (!ready.redistributor) return started;
    constexpr auto label = "tessera::redistribute";
    const auto views =
        std::make_shared<std::pair<std::shared_ptr<void>, std::optional<OwnedArray>>>(
            held_with(tensor, ready.result.to_local()), ready.arrived);
    const Pieces pieces{array_ref(tensor.to_local()), ready.destination()};
    started.second = PendingWork{
        {RedistributorAccess::move(*ready.redistributor, pieces)}, execution, views, label};
    if (ready.arrived)
      started.second->complete = [arrived = ready.arrived->array,
                                  to = array_ref(ready.result.to_local())](const Execution& on) {
        change_arrived(on, arrived, to, {}, label);
      };
    return started;
  });
}

/// Starts a redistribution on `mesh`, which is the tensor's, perhaps with other names.
template <class Out, class V>
auto start_on_same_mesh(const Execution& execution, const DTensor<V>& tensor,
                        const DeviceMesh& mesh, const Target& target,
                        const RedistributeOptions& options) {
  return start_redistribution(execution, tensor, mesh, [&](Operation& operation) {
    const auto spec = target_spec(tensor.spec(), target);
    auto ready = prepare_redistribution<Out>(operation, execution, tensor, spec, options);
    ready.result = on_same_mesh(ready.result, mesh);
    return ready;
  });
}

template <class Out, class V>
Pending<DTensor<redistributed_view_t<V, Out>>> redistribute_async(
    const Execution& execution, const DTensor<V>& tensor, const Target& target,
    const RedistributeOptions& options) {
  return start_on_same_mesh<Out>(execution, tensor, tensor.device_mesh(), target, options);
}

template <class Out, class V>
Pending<DTensor<redistributed_view_t<V, Out>>> redistribute_async(
    const Execution& execution, const DTensor<V>& tensor, const DeviceMesh& mesh,
    const Target& target, const RedistributeOptions& options) {
  named("redistribute_async", [&] { require_pair(tensor.device_mesh(), mesh); });
  if (tensor.device_mesh() == mesh)
    return start_on_same_mesh<Out>(execution, tensor, mesh, target, options);
  return start_redistribution(
      execution, tensor, Meshes(tensor.device_mesh(), mesh), [&](Operation& operation) {
        return prepare_redistribution<Out>(operation, execution, tensor, mesh, target, options);
      });
}

/// Throws unless elements of the type can be scaled, and a target with these placements can.
void require_scalable(const DTensorSpec& target, ElementType type, const Scaling& scaling);

template <class V, class W>
void redistribute_into(const Execution& execution, const DTensor<W>& destination,
                       const DTensor<V>& tensor, const IntoOptions& options) {
  static_assert(!std::is_const_v<typename W::value_type>,
                "redistribute_into: expected a destination that can be written");
  static_assert(elements_convert<V, W>,
                "redistribute_into: expected a destination with the element type of the tensor, or "
                "with a number type to which it converts (complex numbers do not become real)");
  static_assert(W::rank() == V::rank(),
                "redistribute_into: expected a destination with as many dims as the tensor");
  const auto& mesh = tensor.device_mesh();
  collectively(mesh, "redistribute_into", [&](Operation& operation) {
    require<MeshMismatch>(destination.device_mesh() == mesh, [&] {
      const auto [expected, got] = told_apart(mesh, destination.device_mesh());
      return "expected a destination on the source's mesh " + expected + ", got mesh " + got;
    });
    if (!mesh.coordinate()) return;
    const auto change = change_between<V, W>({options.alpha, options.beta});
    require_scalable(destination.spec(), change.destination, change.scaling);
    const auto type = type_on_the_way(tensor.spec(), destination.spec(), change);
    const auto settings = settings_for<V, W>(options.extra_memory);
    const RedistributeCall call{operation.name(), tensor.spec(), destination.spec(), type,
                                settings,         change};
    const auto to = array_ref(destination.to_local());
    require_writable(to);
    const auto arrived = room_for_change(tensor.spec(), destination.spec(), change, to);
    const Pieces pieces{array_ref(tensor.to_local()), arrived ? arrived->array : to};
    const auto ready = agreed_into_memory(operation, call, mesh, settings, execution, pieces);
    run_and_change(ready.redistributor, execution, ready.source, tensor, destination.to_local(),
                   arrived, change.scaling);
  });
}

/// Returns the placements with every Partial turned into Replicate.
Placements reduced_placements(const Placements& placements);
/// Returns the spec in which every rank holds the full tensor.
DTensorSpec replicated(const MeshLayout& layout, const Extents& shape);
/// Returns the spec in which mesh rank `owner` holds the full tensor and the other ranks nothing.
/// Expects at least one tensor dim.
DTensorSpec spec_on_one_rank(const MeshLayout& layout, const Extents& shape, int owner);
void require_mesh_rank(const DeviceMesh& mesh, int mesh_rank);

template <class V>
redistributed_view_t<V> gather_to(const Execution& execution, const DTensor<V>& tensor,
                                  int mesh_rank) {
  using Result = redistributed_view_t<V>;
  const auto& mesh = tensor.device_mesh();
  return collectively(mesh, "gather_to", [&](Operation& operation) {
    require_mesh_rank(mesh, mesh_rank);
    constexpr bool is_static = V::rank() == 0 || V::rank_dynamic() == 0;
    if constexpr (is_static) {
      const auto target = target_spec(tensor.spec(), all_replicate);
      const auto full = detail::redistribute<void>(operation, execution, tensor, target, {});
      return mesh.rank() == mesh_rank ? Result(full.to_local()) : Result();
    } else {
      const auto target = spec_on_one_rank(mesh.layout(), tensor.shape(), mesh_rank);
      Result result;
      if (mesh.rank() == mesh_rank) result = allocate<Result>(tensor.shape(), "tessera::gather_to");
      if (mesh.coordinate())
        run(agreed_redistributor<V, Result>(operation, mesh, tensor.spec(), target, {}), execution,
            tensor.to_local(), result, "tessera::gather_to");
      return result;
    }
  });
}

template <class V>
DTensor<redistributed_view_t<V>> reduce_partial(const Execution& execution,
                                                const DTensor<V>& tensor) {
  return detail::redistribute<void>(execution, tensor, reduced_placements(tensor.placements()), {},
                                    "reduce_partial");
}

template <class V>
redistributed_view_t<V> full_tensor(const Execution& execution, const DTensor<V>& tensor) {
  return detail::redistribute<void>(execution, tensor, all_replicate, {}, "full_tensor").to_local();
}

}  // namespace tessera::detail
