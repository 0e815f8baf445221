// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/redistribute/distribute_tensor.hpp>
#include <tessera/redistribute/pending.hpp>
#include <tessera/tensor/execution.hpp>
#include <tessera/tensor/from_local.hpp>

/// The functional collectives take and return Views, for use inside local_map. Each of them takes
/// this rank's View and returns a new one (of the type that redistribute() would return), and is
/// collective over the ranks along `mesh_dims` (one mesh dim or several, row-major in the order
/// named) through the calling rank. Each is one exchange; on several nodes it takes as many as
/// redistribute(). With an execution space instance as the first argument, work is ordered on it.
/// Off the mesh it returns an empty View.
///
/// The functions with `_async` start the same collective in the background and return a Pending.
/// What the ranks agree on, and sizes that may differ, travel when the collective starts.
///
/// Errors: InvalidArgument for an unknown mesh dim, a tensor dim out of range, an op the element
/// type cannot reduce, arguments that differ between ranks; MpiError. All ranks throw, see
/// collectively().
namespace tessera {

namespace detail {

/// Returns the tensor dim counted from the first one. Errors: InvalidArgument for a dim out of
/// range.
int resolved_dim(int tensor_dim, std::size_t tensor_dims);

Placements uniform(const DeviceMesh& mesh, Placement placement);

/// Lists all mesh dims in their order.
MeshDims all_dims_of(const DeviceMesh& mesh);

/// Returns the ranks along `mesh_dims` through this one as a mesh of one dim.
DeviceMesh line(const DeviceMesh& mesh, const MeshDims& mesh_dims);

/// Returns `array` with one more dim in front.
ArrayRef with_leading_dim(const ArrayRef& array, std::int64_t extent, std::int64_t stride);

/// Describes a functional collective by what all ranks pass alike, for Operation::agree().
struct CollectiveCall {
  const char* function;
  std::size_t tensor_dims;
  ElementType type;
  bool on_device;
  std::vector<int> arguments;  ///< tensor dims, or the root
  Extents extents = {};        ///< those of the View, where all ranks pass the same

  std::string operator()() const;
  std::uint64_t hash() const;
};

/// Holds a functional collective as a redistribution that is ready to run.
template <class V>
struct Prepared {
  redistributed_view_t<V> result;
  Redistributor redistributor;
  ArrayRef source;
  ArrayRef destination;
};

template <class V>
Prepared<V> prepared(const V& view, const DeviceMesh& mesh, const DTensorSpec& to,
                     const Redistributor& redistributor, const char* label) {
  auto result = allocate<redistributed_view_t<V>>(local_extents(mesh, to), label);
  return {result, redistributor, array_ref(view), array_ref(result)};
}

/// Prepares a reduction along the mesh into other placements.
template <class V>
Prepared<V> prepare_reduction(Operation& operation, const V& view, ReduceOp op,
                              const DeviceMesh& mesh, const Target& target, const char* label) {
  const auto from = make_spec(mesh.layout(), uniform(mesh, Partial(op)), extents_of(view));
  const auto to = target_spec(from, target);
  require_representable<redistributed_view_t<V>>(to);
  const auto settings = plain_settings<V>();
  const RedistributeCall call{operation.name(), from, to, element_type_of<V>(), settings};
  return prepared(view, mesh, to, agreed_redistributor(operation, call, mesh, settings), label);
}

struct AllReduce {
  ReduceOp op;

  static constexpr FunctionName function = "all_reduce";
  static constexpr const char* label = "tessera::all_reduce";

  template <class V>
  Prepared<V> prepare(Operation& operation, const V& view, const DeviceMesh& mesh) const {
    return prepare_reduction(operation, view, op, mesh, all_replicate, label);
  }
};

struct ReduceScatter {
  ReduceOp op;
  int tensor_dim;

  static constexpr FunctionName function = "reduce_scatter";
  static constexpr const char* label = "tessera::reduce_scatter";

  template <class V>
  Prepared<V> prepare(Operation& operation, const V& view, const DeviceMesh& mesh) const {
    const int dim = resolved_dim(tensor_dim, V::rank());
    return prepare_reduction(operation, view, op, mesh, uniform(mesh, Shard(dim)), label);
  }
};

/// Prepares the move of `view`, this rank's shard in `from`, to other placements. Shards may differ
/// in extent.
template <class V>
Prepared<V> prepare_pieces(const V& view, const DeviceMesh& mesh, const DTensorSpec& from,
                           const Target& target, const char* label) {
  const auto to = target_spec(from, target);
  require_representable<redistributed_view_t<V>>(to);
  const auto redistributor =
      cached_redistributor(mesh, from, to, element_type_of<V>(), plain_settings<V>());
  return prepared(view, mesh, to, redistributor, label);
}

struct AllGather {
  int tensor_dim;

  static constexpr FunctionName function = "all_gather";
  static constexpr const char* label = "tessera::all_gather";

  template <class V>
  Prepared<V> prepare(Operation& operation, const V& view, const DeviceMesh& mesh) const {
    const int dim = resolved_dim(tensor_dim, V::rank());
    const CollectiveCall call{
        operation.name(), V::rank(), element_type_of<V>(), are_on_device<V>, {dim}};
    operation.agree(call.hash(), call);
    const auto from = infer_spec(mesh, uniform(mesh, Shard(dim)), extents_of(view));
    return prepare_pieces(view, mesh, from, all_replicate, label);
  }
};

/// Returns two specs of [rank, … dims of the View …]: in the first one each rank holds its full
/// View, in the second one its chunk of `tensor_dim` of all Views.
///
/// Errors: InvalidArgument unless all Views, the shards of `joined` along `tensor_dim`, are alike.
std::pair<DTensorSpec, DTensorSpec> chunk_specs(const DeviceMesh& mesh, const DTensorSpec& joined,
                                                int tensor_dim, const Extents& local_shape);

/// Checks a View's static extents (0: dynamic). Errors: InvalidArgument for 8 dims, or a static
/// extent that chunks of one size do not make.
void require_static_chunks(const Extents& static_extents, int tensor_dim, int ranks);

struct AllToAll {
  int split_dim;
  int concat_dim;

  static constexpr FunctionName function = "all_to_all";
  static constexpr const char* label = "tessera::all_to_all";

  template <class V>
  Prepared<V> prepare(Operation& operation, const V& view, const DeviceMesh& mesh) const {
    const int split = resolved_dim(split_dim, V::rank());
    const int concat = resolved_dim(concat_dim, V::rank());
    const CollectiveCall call{
        operation.name(), V::rank(), element_type_of<V>(), are_on_device<V>, {split, concat}};
    operation.agree(call.hash(), call);
    const auto from = infer_spec(mesh, uniform(mesh, Shard(concat)), extents_of(view));
    if (split == concat) return prepare_chunks(view, split, mesh, from);
    return prepare_pieces(view, mesh, from, uniform(mesh, Shard(split)), label);
  }

  /// Prepares the collective along one dim: chunk i goes to rank i, and what arrives is joined in
  /// rank order.
  template <class V>
  static Prepared<V> prepare_chunks(const V& view, int tensor_dim, const DeviceMesh& mesh,
                                    const DTensorSpec& joined) {
    const auto d = static_cast<std::size_t>(tensor_dim);
    require_static_chunks(static_extents<V>(), tensor_dim, mesh.size());
    const auto [from, to] = chunk_specs(mesh, joined, tensor_dim, extents_of(view));
    const auto chunk = local_extents(mesh, to)[d + 1];
    auto shape = extents_of(view);
    shape[d] = chunk * mesh.size();
    auto result = allocate<redistributed_view_t<V>>(shape, label);
    auto destination = array_ref(result);
    destination.extents[d] = chunk;
    destination = with_leading_dim(destination, mesh.size(), chunk * destination.strides[d]);
    return {result, cached_redistributor(mesh, from, to, element_type_of<V>(), plain_settings<V>()),
            with_leading_dim(array_ref(view), 1, 1), destination};
  }
};

struct Broadcast {
  int root;

  static constexpr FunctionName function = "broadcast";
  static constexpr const char* label = "tessera::broadcast";

  template <class V>
  Prepared<V> prepare(Operation& operation, const V& view, const DeviceMesh& mesh) const {
    using Result = redistributed_view_t<V>;
    const auto* name = operation.name();
    require_mesh_rank(mesh, root);
    const CollectiveCall call{name, V::rank(), element_type_of<V>(), are_on_device<V>, {root}};
    operation.agree(call.hash(), call);
    const auto shape = shape_on(mesh, root, extents_of(view), label);
    const auto target = common_spec<Result>(mesh, all_replicate, shape);
    auto result = allocate<Result>(shape, label);
    auto move =
        move_from_root(mesh, root, target, array_ref(view), array_ref(result), plain_settings<V>());
    return {result, std::move(move.redistributor), move.source, move.destination};
  }
};

/// Describes broadcast_into(): every rank has a View of the same extents.
struct BroadcastInto {
  int root;

  static constexpr FunctionName function = "broadcast_into";
  static constexpr const char* label = "tessera::broadcast_into";

  template <class V>
  Prepared<V> prepare(Operation& operation, const V& view, const DeviceMesh& mesh) const {
    require_mesh_rank(mesh, root);
    require_writable(array_ref(view));
    CollectiveCall call{
        operation.name(), V::rank(), element_type_of<V>(), are_on_device<V>, {root}};
    call.extents = extents_of(view);
    operation.agree(call.hash(), call);
    const auto target = common_spec<V>(mesh, all_replicate, call.extents);
    auto move =
        move_from_root(mesh, root, target, array_ref(view), array_ref(view), plain_settings<V>());
    return {{}, std::move(move.redistributor), move.source, move.destination};
  }
};

/// Runs the collective that `kind` prepares, blocking.
template <class Kind, class V>
redistributed_view_t<V> run_collective(const Execution& execution, const V& view, const Kind& kind,
                                       const DeviceMesh& mesh, Operation& operation) {
  if (!mesh.coordinate()) return {};
  const auto ready = kind.prepare(operation, view, mesh);
  RedistributorAccess::run(ready.redistributor, execution, ready.source, ready.destination,
                           Kind::label, [&] { return held(view, ready.result); });
  return ready.result;
}

/// Runs the collective along `mesh_dims`. On a mesh of one dim, the other ranks also learn of a
/// wrong mesh dim.
template <class Kind, class V>
redistributed_view_t<V> run_collective(const Execution& execution, const V& view, const Kind& kind,
                                       const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  const auto along =
      named(Kind::function.text, [&] { return mesh.ndim() == 1 ? mesh : line(mesh, mesh_dims); });
  return collectively(along, Kind::function, [&](Operation& operation) {
    if (mesh.ndim() == 1) line(mesh, mesh_dims);
    return run_collective(execution, view, kind, along, operation);
  });
}

template <class Kind, class V>
Pending<redistributed_view_t<V>> start_collective(const Execution& execution, const V& view,
                                                  const Kind& kind, const DeviceMesh& mesh,
                                                  const MeshDims& mesh_dims) {
  const auto along =
      named(Kind::function.text, [&] { return mesh.ndim() == 1 ? mesh : line(mesh, mesh_dims); });
  return start_call(Kind::function, along, [&](Operation& operation) {
    std::pair<redistributed_view_t<V>, std::optional<PendingWork>> started;
    if (mesh.ndim() == 1) line(mesh, mesh_dims);
    if (!along.coordinate()) return started;
    const auto ready = kind.prepare(operation, view, along);
    const Pieces pieces{ready.source, ready.destination};
    started.first = ready.result;
    started.second = PendingWork{{RedistributorAccess::move(ready.redistributor, pieces)},
                                 execution,
                                 held(view, ready.result),
                                 Kind::label};
    return started;
  });
}

template <class T>
struct NumbersIn {
  using Element = T;
  static constexpr std::size_t count = 1;
};
template <class T, std::size_t N>
struct NumbersIn<std::array<T, N>> {
  using Element = T;
  static constexpr std::size_t count = N;
};

/// Matches numbers that have an ElementKind, and arrays of them.
template <class T>
concept NumberOrArray = element_kind<typename NumbersIn<T>::Element>
!= ElementKind::opaque && !Kokkos::is_view_v<T>;

template <NumberOrArray T>
T all_reduce_numbers(const T& numbers, ReduceOp op, const DeviceMesh& mesh,
                     const std::optional<MeshDims>& mesh_dims) {
  using Element = typename NumbersIn<T>::Element;
  using Few = Kokkos::View<Element*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  auto result = numbers;
  const Few few(reinterpret_cast<Element*>(&result), NumbersIn<T>::count);
  const auto along = mesh_dims ? *mesh_dims : all_dims_of(mesh);
  if (!mesh.coordinate()) return result;
  const auto reduced = run_collective(Execution(), few, AllReduce{op}, mesh, along);
  Kokkos::deep_copy(few, reduced);
  return result;
}

}  // namespace detail

/// Returns the reduction of all Views, which have the same extents, on every rank. They are
/// combined by the fixed tree in the order of the ranks.
template <LocalView V>
redistributed_view_t<V> all_reduce(const V& view, ReduceOp op, const DeviceMesh& mesh,
                                   const MeshDims& mesh_dims) {
  return detail::run_collective(Execution(), view, detail::AllReduce{op}, mesh, mesh_dims);
}
/// Orders the work on `exec`.
template <LocalView V>
redistributed_view_t<V> all_reduce(const Execution& exec, const V& view, ReduceOp op,
                                   const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return detail::run_collective(exec, view, detail::AllReduce{op}, mesh, mesh_dims);
}
/// Returns the reduction of a number of each rank on every rank; of a std::array of numbers, the array
/// of the reductions, in one exchange. `mesh_dims` is the whole mesh if it is left out. Off the mesh
/// it returns what was passed.
template <detail::NumberOrArray T>
T all_reduce(const T& numbers, ReduceOp op, const DeviceMesh& mesh,
             const std::optional<MeshDims>& mesh_dims = {}) {
  return detail::all_reduce_numbers(numbers, op, mesh, mesh_dims);
}
/// Starts all_reduce() in the background.
template <LocalView V>
Pending<redistributed_view_t<V>> all_reduce_async(const V& view, ReduceOp op,
                                                  const DeviceMesh& mesh,
                                                  const MeshDims& mesh_dims) {
  return detail::start_collective(Execution(), view, detail::AllReduce{op}, mesh, mesh_dims);
}
/// Starts all_reduce() in the background, ordered on `exec`.
template <LocalView V>
Pending<redistributed_view_t<V>> all_reduce_async(const Execution& exec, const V& view, ReduceOp op,
                                                  const DeviceMesh& mesh,
                                                  const MeshDims& mesh_dims) {
  return detail::start_collective(exec, view, detail::AllReduce{op}, mesh, mesh_dims);
}

/// Returns the Views one after another along `tensor_dim`, on every rank. Their extents there may
/// differ (sizes travel as metadata).
template <LocalView V>
redistributed_view_t<V> all_gather(const V& view, int tensor_dim, const DeviceMesh& mesh,
                                   const MeshDims& mesh_dims) {
  return detail::run_collective(Execution(), view, detail::AllGather{tensor_dim}, mesh, mesh_dims);
}
/// Orders the work on `exec`.
template <LocalView V>
redistributed_view_t<V> all_gather(const Execution& exec, const V& view, int tensor_dim,
                                   const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return detail::run_collective(exec, view, detail::AllGather{tensor_dim}, mesh, mesh_dims);
}
/// Starts all_gather() in the background.
template <LocalView V>
Pending<redistributed_view_t<V>> all_gather_async(const V& view, int tensor_dim,
                                                  const DeviceMesh& mesh,
                                                  const MeshDims& mesh_dims) {
  return detail::start_collective(Execution(), view, detail::AllGather{tensor_dim}, mesh,
                                  mesh_dims);
}
/// Starts all_gather() in the background, ordered on `exec`.
template <LocalView V>
Pending<redistributed_view_t<V>> all_gather_async(const Execution& exec, const V& view,
                                                  int tensor_dim, const DeviceMesh& mesh,
                                                  const MeshDims& mesh_dims) {
  return detail::start_collective(exec, view, detail::AllGather{tensor_dim}, mesh, mesh_dims);
}

/// Returns this rank's chunk along `tensor_dim` of the reduction of all Views, which have the same
/// extents.
template <LocalView V>
redistributed_view_t<V> reduce_scatter(const V& view, ReduceOp op, int tensor_dim,
                                       const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return detail::run_collective(Execution(), view, detail::ReduceScatter{op, tensor_dim}, mesh,
                                mesh_dims);
}
/// Orders the work on `exec`.
template <LocalView V>
redistributed_view_t<V> reduce_scatter(const Execution& exec, const V& view, ReduceOp op,
                                       int tensor_dim, const DeviceMesh& mesh,
                                       const MeshDims& mesh_dims) {
  return detail::run_collective(exec, view, detail::ReduceScatter{op, tensor_dim}, mesh, mesh_dims);
}
/// Starts reduce_scatter() in the background.
template <LocalView V>
Pending<redistributed_view_t<V>> reduce_scatter_async(const V& view, ReduceOp op, int tensor_dim,
                                                      const DeviceMesh& mesh,
                                                      const MeshDims& mesh_dims) {
  return detail::start_collective(Execution(), view, detail::ReduceScatter{op, tensor_dim}, mesh,
                                  mesh_dims);
}
/// Starts reduce_scatter() in the background, ordered on `exec`.
template <LocalView V>
Pending<redistributed_view_t<V>> reduce_scatter_async(const Execution& exec, const V& view,
                                                      ReduceOp op, int tensor_dim,
                                                      const DeviceMesh& mesh,
                                                      const MeshDims& mesh_dims) {
  return detail::start_collective(exec, view, detail::ReduceScatter{op, tensor_dim}, mesh,
                                  mesh_dims);
}

/// Splits each View into chunks along `split_dim`, sends chunk i to rank i, and joins what arrives
/// along `concat_dim`. Extents along `concat_dim` may differ (sizes travel as metadata) unless it
/// is `split_dim` too.
template <LocalView V>
redistributed_view_t<V> all_to_all(const V& view, int split_dim, int concat_dim,
                                   const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return detail::run_collective(Execution(), view, detail::AllToAll{split_dim, concat_dim}, mesh,
                                mesh_dims);
}
/// Orders the work on `exec`.
template <LocalView V>
redistributed_view_t<V> all_to_all(const Execution& exec, const V& view, int split_dim,
                                   int concat_dim, const DeviceMesh& mesh,
                                   const MeshDims& mesh_dims) {
  return detail::run_collective(exec, view, detail::AllToAll{split_dim, concat_dim}, mesh,
                                mesh_dims);
}
/// Starts all_to_all() in the background.
template <LocalView V>
Pending<redistributed_view_t<V>> all_to_all_async(const V& view, int split_dim, int concat_dim,
                                                  const DeviceMesh& mesh,
                                                  const MeshDims& mesh_dims) {
  return detail::start_collective(Execution(), view, detail::AllToAll{split_dim, concat_dim}, mesh,
                                  mesh_dims);
}
/// Starts all_to_all() in the background, ordered on `exec`.
template <LocalView V>
Pending<redistributed_view_t<V>> all_to_all_async(const Execution& exec, const V& view,
                                                  int split_dim, int concat_dim,
                                                  const DeviceMesh& mesh,
                                                  const MeshDims& mesh_dims) {
  return detail::start_collective(exec, view, detail::AllToAll{split_dim, concat_dim}, mesh,
                                  mesh_dims);
}

/// Returns the View of `root`, a position along `mesh_dims`, on every rank. The other Views are not
/// read (the shape travels as metadata).
template <LocalView V>
redistributed_view_t<V> broadcast(const V& view, int root, const DeviceMesh& mesh,
                                  const MeshDims& mesh_dims) {
  return detail::run_collective(Execution(), view, detail::Broadcast{root}, mesh, mesh_dims);
}
/// Orders the work on `exec`.
template <LocalView V>
redistributed_view_t<V> broadcast(const Execution& exec, const V& view, int root,
                                  const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  return detail::run_collective(exec, view, detail::Broadcast{root}, mesh, mesh_dims);
}
/// Starts broadcast() in the background.
template <LocalView V>
Pending<redistributed_view_t<V>> broadcast_async(const V& view, int root, const DeviceMesh& mesh,
                                                 const MeshDims& mesh_dims) {
  return detail::start_collective(Execution(), view, detail::Broadcast{root}, mesh, mesh_dims);
}
/// Starts broadcast() in the background, ordered on `exec`.
template <LocalView V>
Pending<redistributed_view_t<V>> broadcast_async(const Execution& exec, const V& view, int root,
                                                 const DeviceMesh& mesh,
                                                 const MeshDims& mesh_dims) {
  return detail::start_collective(exec, view, detail::Broadcast{root}, mesh, mesh_dims);
}

/// Copies the View of rank `root` along `mesh_dims` into those of the other ranks, which have the same
/// extents: no shape travels, and nothing is allocated. Errors, besides those of broadcast():
/// InvalidArgument for a View whose own elements share memory (a stride of 0).
template <LocalView V>
void broadcast_into(const V& view, int root, const DeviceMesh& mesh, const MeshDims& mesh_dims) {
  broadcast_into(Execution(), view, root, mesh, mesh_dims);
}
/// Orders the work on `exec`.
template <LocalView V>
void broadcast_into(const Execution& exec, const V& view, int root, const DeviceMesh& mesh,
                    const MeshDims& mesh_dims) {
  static_assert(!std::is_const_v<typename V::value_type>,
                "broadcast_into: expected a View that can be written");
  detail::run_collective(exec, view, detail::BroadcastInto{root}, mesh, mesh_dims);
}

}  // namespace tessera
