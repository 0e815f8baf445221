// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <tessera/ops/detail/reduction.hpp>
#include <tessera/tensor/detail/index_map.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/loops.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

#include "kernels/number_types.hpp"
#include "ops/elementwise_function.hpp"
#include "ops/tuning.hpp"

namespace tessera::detail {
namespace {

/// Describes what ArgKernel goes through: dims of the result, and reduced dims, in row-major order.
struct ArgLoops {
  const std::byte* data;
  DeviceLoops kept;
  DeviceLoops reduced;
  LoopArray kept_strides{};     ///< strides of the elements, bytes
  LoopArray reduced_strides{};  ///< bytes
  Kokkos::Array<IndexMap, max_loops> maps{};
  LoopArray global_strides{};  ///< steps of the global position, by reduced dim
  std::int64_t results = 1;
  std::int64_t elements = 1;
};

/// Returns whether element `a` at position `i` is a better answer than `b` at `j`.
template <bool IsMax, class T>
KOKKOS_FUNCTION bool is_better(const T& a, std::int64_t i, const T& b, std::int64_t j) {
  if (j < 0) return true;
  if (i < 0) return false;
  const bool a_is_nan = !(a == a), b_is_nan = !(b == b);
  if (a_is_nan != b_is_nan) return a_is_nan;
  if (!a_is_nan && a != b) return IsMax ? a > b : a < b;
  return i < j;
}

/// Finds the best element of each result, and its global position; -1 if there are no elements.
template <bool IsMax, class T>
struct ArgKernel {
  ArgLoops loops;
  T* values;
  std::int64_t* positions;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    std::int64_t offset = 0;
    loops.kept.at(at, [&](int d, std::int64_t index) { offset += index * loops.kept_strides[d]; });
    T best{};
    std::int64_t best_position = -1;
    for (std::int64_t e = 0; e < loops.elements; ++e) {
      std::int64_t from = offset;
      loops.reduced.at(
          e, [&](int d, std::int64_t index) { from += index * loops.reduced_strides[d]; });
      // Local positions are in the order of global ones.
      const T value = *reinterpret_cast<const T*>(loops.data + from);
      if (!is_better<IsMax>(value, e, best, best_position)) continue;
      best = value;
      best_position = e;
    }
    values[at] = best;
    positions[at] = best_position < 0 ? -1 : global_position(best_position);
  }

 private:
  KOKKOS_FUNCTION std::int64_t global_position(std::int64_t local) const {
    std::int64_t result = 0;
    loops.reduced.at(local, [&](int d, std::int64_t index) {
      result += loops.maps[d].global_index(index) * loops.global_strides[d];
    });
    return result;
  }
};

/// Writes the best of what `parts` ranks found.
template <bool IsMax, class T>
struct ArgCombine {
  const T* values;
  const std::int64_t* positions;  ///< both: [part][result]
  std::int64_t parts;
  std::int64_t results = 1;
  std::byte* result;
  DeviceLoops kept;
  LoopArray result_strides;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    auto best = at;
    for (std::int64_t i = at + results; i < parts * results; i += results)
      if (is_better<IsMax>(values[i], positions[i], values[best], positions[best])) best = i;
    std::int64_t to = 0;
    kept.at(at, [&](int d, std::int64_t index) { to += index * result_strides[d]; });
    *reinterpret_cast<std::int64_t*>(result + to) = positions[best];
  }
};

template <class Kernel>
void launch_arg(const Execution& execution, const char* label, MemorySpace space,
                std::int64_t items, std::int64_t bytes, const Kernel& kernel) {
  if (is_on_device(space))
    launch_on_device(execution, label, items, kernel);
  else
    launch_on_host(execution, label, items, bytes, kernel);
}

bool is_arg_dim(const ReducedDims& over, std::size_t d) {
  return std::ranges::find(over.dims, static_cast<std::int64_t>(d)) != over.dims.end();
}

/// Makes the loops over a local piece. `piece` has the sections of each dim.
ArgLoops arg_loops_of(const ArrayRef& operand, const ReducedDims& over, const Extents& shape,
                      const Piece* piece) {
  ArgLoops loops{operand.data, {}, {}};
  std::int64_t stride = reduced_size(shape, over.dims);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto extent = operand.extents[d];
    const auto bytes = operand.strides[d] * operand.type.size;
    if (is_arg_dim(over, d)) {
      const auto at = loops.reduced.size;
      loops.reduced_strides[at] = bytes;
      stride = shape[d] > 0 ? stride / shape[d] : 0;
      loops.global_strides[at] = stride;
      if (piece != nullptr) loops.maps[at] = IndexMap(piece->sections[d]);
      if (piece == nullptr) loops.maps[at] = IndexMap(Sections(Interval{0, shape[d]}));
      loops.reduced.add(std::max<std::int64_t>(extent, 1));
      loops.elements *= extent;
    } else {
      loops.kept_strides[loops.kept.size] = bytes;
      loops.kept.add(std::max<std::int64_t>(extent, 1));
      loops.results *= extent;
    }
  }
  return loops;
}

/// Lists the mesh dims along which ranks hold parts of what is reduced.
std::vector<std::size_t> splitting_dims(const DTensorSpec& spec, const ReducedDims& over) {
  std::vector<std::size_t> result;
  for (std::size_t m = 0; m < spec.placements().size(); ++m) {
    const auto& placement = spec.placements()[m];
    if (placement.is_shard() && is_arg_dim(over, static_cast<std::size_t>(placement.dim())) &&
        spec.layout().shape()[m] > 1)
      result.push_back(m);
  }
  return result;
}

/// Holds what ranks found: an array of each rank's values, and one of their positions.
struct Found {
  OwnedArray values;
  OwnedArray positions;
  std::int64_t parts = 1;
};

/// Holds the specs of what ranks found, before and after an exchange: each rank's answers are one row of a
/// tensor whose other dims are those of the result.
struct ExchangeSpecs {
  DTensorSpec before;
  DTensorSpec after;
};

ExchangeSpecs exchange_specs(const DTensorSpec& spec, const ReducedDims& over,
                             const std::vector<std::size_t>& mesh_dims) {
  Extents shape{1};
  std::vector<int> kept_dim(spec.shape().size(), -1);  // dim in this shape by tensor dim
  Boundaries boundaries(1);
  for (std::size_t d = 0; d < spec.shape().size(); ++d) {
    if (is_arg_dim(over, d)) continue;
    kept_dim[d] = static_cast<int>(shape.size());
    shape.push_back(spec.shape()[d]);
    boundaries.push_back(spec.boundaries().empty() ? std::vector<std::int64_t>()
                                                   : spec.boundaries()[d]);
  }
  std::vector<Placement> before, after;
  std::vector<int> positions, positions_after;
  int rows = 0;
  for (std::size_t m = 0; m < spec.placements().size(); ++m) {
    const auto& placement = spec.placements()[m];
    const bool is_row = std::ranges::find(mesh_dims, m) != mesh_dims.end();
    const int dim = placement.is_shard() ? kept_dim[static_cast<std::size_t>(placement.dim())] : -1;
    const auto kept = dim > 0 ? placement.with_dim(dim) : Placement(Replicate());
    if (is_row) shape[0] *= spec.layout().shape()[m];
    before.push_back(is_row ? Placement(Shard(0)) : kept);
    after.push_back(is_row ? Placement(Replicate()) : kept);
    const int position = dim > 0 ? spec.placements().split_position(static_cast<int>(m)) : 0;
    positions.push_back(is_row ? rows++ : position);
    positions_after.push_back(is_row ? 0 : position);
  }
  return {make_spec(spec.layout(), Placements(before, positions), shape, boundaries),
          make_spec(spec.layout(), Placements(after, positions_after), shape, boundaries)};
}

/// Returns what all ranks found that hold other parts of what is reduced.
Found gathered(const Execution& execution, const DeviceMesh& mesh, const ExchangeSpecs& specs,
               const Found& mine, const char* label) {
  Found all;
  all.parts = specs.after.shape()[0];
  std::vector<Redistributor> redistributors;
  std::vector<Pieces> pieces;
  const auto add = [&](const OwnedArray& from, OwnedArray& to) {
    const auto type = from.array.type;
    to = allocate_array(type, local_extents(mesh, specs.after), from.array.space, label);
    redistributors.push_back(cached_redistributor(mesh, specs.before, specs.after, type, {}));
    const auto row =
        row_major(from.array.data, type, local_extents(mesh, specs.before), from.array.space);
    pieces.push_back({row, to.array});
  };
  add(mine.values, all.values);
  add(mine.positions, all.positions);
  keeping(
      mesh.communicator(), [&] { run_together(execution, redistributors, pieces, label); },
      [&] { return std::make_shared<std::pair<Found, Found>>(mine, all); });
  return all;
}

template <bool IsMax, class T, class Gather>
void reduce_positions(const Execution& execution, const char* label, const ArgLoops& loops,
                      ElementType type, const ArrayRef& result, const ReducedDims& over,
                      const Gather& gather) {
  const Extents row{1, loops.results};
  Found found{allocate_array(type, row, result.space, label),
              allocate_array(element_type<std::int64_t>(), row, result.space, label)};
  const ArgKernel<IsMax, T> kernel{loops, reinterpret_cast<T*>(found.values.array.data),
                                   reinterpret_cast<std::int64_t*>(found.positions.array.data)};
  launch_arg(execution, label, result.space, loops.results,
             loops.results * loops.elements * std::int64_t{sizeof(T)}, kernel);
  found = gather(found);
  ArgCombine<IsMax, T> combine{reinterpret_cast<const T*>(found.values.array.data),
                               reinterpret_cast<const std::int64_t*>(found.positions.array.data),
                               found.parts,
                               loops.results,
                               result.data,
                               loops.kept,
                               {}};
  int kept = 0;
  for (std::size_t d = 0, to = 0; d < static_cast<std::size_t>(loops.kept.size) + over.dims.size();
       ++d) {
    const bool is_gone = is_arg_dim(over, d);
    if (!is_gone) combine.result_strides[kept++] = result.strides[to] * result.type.size;
    if (!is_gone || over.keeps) ++to;
  }
  launch_arg(execution, label, result.space, loops.results,
             found.parts * loops.results * std::int64_t{sizeof(T)}, combine);
  if (is_on_device(result.space)) execution.fence("tessera::ops: positions that were found");
}

template <class Gather>
void reduce_positions(const Execution& execution, ReductionOp op, const ArgLoops& loops,
                      ElementType type, const ArrayRef& result, const ReducedDims& over,
                      const Gather& gather) {
  const auto* const label = traits_of(op).label;
  const auto run = [&]<class T>(std::type_identity<T>) {
    if constexpr (!is_device_number<T> && has_device)
      if (is_on_device(result.space))
        throw InvalidArgument("expected an element type other than long double on a device");
    if (op == ReductionOp::argmax)
      reduce_positions<true, T>(execution, label, loops, type, result, over, gather);
    else
      reduce_positions<false, T>(execution, label, loops, type, result, over, gather);
  };
  if (is_floating(type.kind))
    with_floating_type(type.kind, run);
  else
    with_integer_type(type.kind, run);
}

}  // namespace

void run_arg_reduction(const Execution& execution, ReductionOp op, const DeviceMesh& mesh,
                       const DTensorSpec& spec, const ArrayRef& operand, const ReducedDims& over,
                       const ArrayRef& result) {
  const auto piece = spec.sections(*mesh.coordinate());
  const auto loops = arg_loops_of(operand, over, spec.shape(), &piece);
  const auto mesh_dims = splitting_dims(spec, over);
  reduce_positions(execution, op, loops, operand.type, result, over, [&](const Found& mine) {
    if (mesh_dims.empty()) return mine;
    const auto specs = exchange_specs(spec, over, mesh_dims);
    return gathered(execution, mesh, specs, mine, traits_of(op).label);
  });
}

void run_arg_reduction(const Execution& execution, ReductionOp op, const ArrayRef& operand,
                       const ReducedDims& over, const ArrayRef& result) {
  const auto loops = arg_loops_of(operand, over, operand.extents, nullptr);
  reduce_positions(execution, op, loops, operand.type, result, over,
                   [](const Found& mine) { return mine; });
}

}  // namespace tessera::detail
