// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include <tessera/ops/detail/reduction.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

#include "kernels/number_types.hpp"
#include "ops/arg_kernel.hpp"
#include "ops/elementwise_function.hpp"
#include "ops/reduction_kernel.hpp"
#include "ops/temporaries.hpp"
#include "ops/tuning.hpp"

namespace tessera::detail {
namespace {

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

/// Makes loops over dims in this order; those that follow one another in memory become one.
void set_loops(DeviceLoops& loops, LoopArray& loop_array, Extents extents, Extents strides) {
  join_dims(extents, std::span(&strides, 1));
  loops = DeviceLoops(extents);
  loop_array = loop_strides(strides);
}

/// Makes the loops over a local piece. `piece` has the sections of each dim.
ArgLoops arg_loops_of(const ArrayRef& operand, const ReducedDims& over, const Extents& shape,
                      const Piece* piece) {
  ArgLoops loops{operand.data, {}, {}, {}, {}, {}};
  Extents kept, kept_strides, reduced, reduced_strides;
  std::int64_t stride = reduced_size(shape, over.dims);
  auto least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto extent = operand.extents[d], looped = std::max<std::int64_t>(extent, 1);
    const auto bytes = operand.strides[d] * operand.type.size;
    const bool is_reduced = is_arg_dim(over, d);
    if (extent > 1 && std::abs(bytes) < least) {
      least = std::abs(bytes);
      loops.is_inner_kept = !is_reduced;
    }
    if (is_reduced) {
      const auto at = loops.reduced_dims.size;
      stride = shape[d] > 0 ? stride / shape[d] : 0;
      loops.global_strides[at] = stride;
      if (piece != nullptr) loops.maps[at] = IndexMap(piece->sections[d]);
      if (piece == nullptr) loops.maps[at] = IndexMap(Sections(Interval{0, shape[d]}));
      loops.reduced_dims.add(looped);
      reduced.push_back(looped);
      reduced_strides.push_back(bytes);
      loops.elements *= extent;
    } else {
      kept.push_back(looped);
      kept_strides.push_back(bytes);
      loops.results *= extent;
    }
  }
  set_loops(loops.kept, loops.kept_strides, kept, kept_strides);
  set_loops(loops.reduced, loops.reduced_strides, reduced, reduced_strides);
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

/// Holds what was found, by parts or by ranks: an array of values, and one of their positions.
struct Found {
  OwnedArray values;
  OwnedArray positions;
  std::int64_t parts = 1;
};

Found allocate_found(Temporaries& temporaries, ElementType type, std::int64_t parts,
                     std::int64_t results, MemorySpace space, const char* label) {
  const Extents shape{parts, results};
  return {temporaries.allocate(type, shape, space, label),
          temporaries.allocate(element_type<std::int64_t>(), shape, space, label), parts};
}

/// Returns `count` parts from `first` on.
Found parts_of(const Found& found, std::int64_t first, std::int64_t count) {
  const auto cut = [&](const OwnedArray& from) {
    const auto results = from.array.extents[1];
    return OwnedArray{from.array.part({first, 0}, {count, results}), from.memory};
  };
  return {cut(found.values), cut(found.positions), count};
}

template <class T>
FoundParts<T> pointers_to(const Found& found, std::int64_t results) {
  return {reinterpret_cast<T*>(found.values.array.data),
          reinterpret_cast<std::int64_t*>(found.positions.array.data), found.parts, results};
}

/// Returns the number of threads that share the elements of a result, where one part has so many items.
template <class T>
std::int64_t arg_parts(const Execution& execution, const ArgLoops& loops, bool on_device,
                       std::int64_t items, std::int64_t bytes) {
  if (on_device) return device_parts<T, T>(loops.results, loops.elements, loops.is_inner_kept);
  if (!is_for_threads(execution, bytes)) return 1;
  const std::int64_t threads = execution.instance<MemorySpace::host>().concurrency();
  if (items >= 4 * threads) return 1;
  return std::clamp<std::int64_t>(loops.elements * loops.results / least_reduced_part, 1,
                                  std::min(threads, std::max<std::int64_t>(1, loops.elements)));
}

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
Found gathered(const Execution& execution, Temporaries& temporaries, const DeviceMesh& mesh,
               const ExchangeSpecs& specs, const Found& mine, const char* label) {
  Found all;
  all.parts = specs.after.shape()[0];
  std::vector<Redistributor> redistributors;
  std::vector<Pieces> pieces;
  const auto add = [&](const OwnedArray& from, OwnedArray& to) {
    const auto type = from.array.type;
    to = temporaries.allocate(type, local_extents(mesh, specs.after), from.array.space, label);
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
                      bool is_spread, Temporaries& temporaries, const Gather& gather) {
  const bool on_device = is_on_device(result.space);
  const auto operand_dims = result.extents.size() + (over.keeps ? 0 : over.dims.size());
  const auto bytes = loops.results * loops.elements * std::int64_t{sizeof(T)};
  ArgRows<IsMax, T> rows{loops, 1, nullptr, nullptr};
  const bool by_rows = loops.is_inner_kept && !on_device;
  const auto parts =
      arg_parts<T>(execution, loops, on_device, by_rows ? rows.items() : loops.results, bytes);
  // The parts, and what they become in each step.
  const auto fewer_than = [](std::int64_t some) {
    return std::max<std::int64_t>(1, some / parts_per_thread);
  };
  auto room = parts;
  for (auto some = parts; some > 1; room += some) some = fewer_than(some);
  const auto all = allocate_found(temporaries, type, room, loops.results, result.space, label);
  auto found = parts_of(all, 0, parts);
  const auto at_first = pointers_to<T>(found, loops.results);
  rows.parts = parts;
  rows.values = at_first.values;
  rows.positions = at_first.positions;
  if (by_rows)
    launch_on_host(execution, label, parts * rows.items(), bytes, rows);
  else
    launch_arg(execution, label, result.space, parts * loops.results, bytes,
               ArgKernel<IsMax, T>{loops, parts, on_device, at_first.values, at_first.positions});
  // Other ranks get one part; else the last kernel combines the last parts.
  for (auto used = parts; found.parts > (is_spread ? 1 : parts_per_thread);) {
    const auto fewer = parts_of(all, used, fewer_than(found.parts));
    launch_arg(execution, label, result.space, fewer.parts * loops.results,
               found.parts * loops.results * std::int64_t{sizeof(T)},
               ArgFewerParts<IsMax, T>{pointers_to<T>(found, loops.results),
                                       pointers_to<T>(fewer, loops.results)});
    found = fewer;
    used += fewer.parts;
  }
  if (is_spread) found = gather(found);
  ArgCombine<IsMax, T> combine{pointers_to<T>(found, loops.results), result.data, {}, {}};
  Extents kept, strides;
  for (std::size_t d = 0, to = 0; d < operand_dims; ++d) {
    const bool is_gone = is_arg_dim(over, d);
    if (!is_gone) {
      kept.push_back(std::max<std::int64_t>(1, result.extents[to]));
      strides.push_back(result.strides[to] * result.type.size);
    }
    if (!is_gone || over.keeps) ++to;
  }
  set_loops(combine.kept, combine.result_strides, kept, strides);
  launch_arg(execution, label, result.space, loops.results,
             found.parts * loops.results * std::int64_t{sizeof(T)}, combine);
  temporaries.finish();
  if (!on_device) finish_host(execution);
}

template <class Gather>
void reduce_positions(const Execution& execution, ReductionOp op, const ArgLoops& loops,
                      ElementType type, const ArrayRef& result, const ReducedDims& over,
                      bool is_spread, Temporaries& temporaries, const Gather& gather) {
  const auto* const label = traits_of(op).label;
  const auto run = [&]<class T>(std::type_identity<T>) {
    if constexpr (!is_device_number<T> && has_device)
      if (is_on_device(result.space))
        throw InvalidArgument("expected an element type other than long double on a device");
    if (op == ReductionOp::argmax)
      reduce_positions<true, T>(execution, label, loops, type, result, over, is_spread, temporaries,
                                gather);
    else
      reduce_positions<false, T>(execution, label, loops, type, result, over, is_spread,
                                 temporaries, gather);
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
  Temporaries temporaries(execution, &mesh);
  reduce_positions(execution, op, loops, operand.type, result, over, !mesh_dims.empty(),
                   temporaries, [&](const Found& mine) {
                     const auto specs = exchange_specs(spec, over, mesh_dims);
                     return gathered(execution, temporaries, mesh, specs, mine,
                                     traits_of(op).label);
                   });
}

void run_arg_reduction(const Execution& execution, ReductionOp op, const ArrayRef& operand,
                       const ReducedDims& over, const ArrayRef& result) {
  const auto loops = arg_loops_of(operand, over, operand.extents, nullptr);
  Temporaries temporaries(execution, nullptr);
  reduce_positions(execution, op, loops, operand.type, result, over, false, temporaries,
                   [](const Found& mine) { return mine; });
}

}  // namespace tessera::detail
