// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <tessera/ops/cumsum.hpp>
#include <tessera/sharding/dim_split.hpp>
#include <tessera/tensor/detail/index_map.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/loops.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

#include "kernels/number_types.hpp"
#include "ops/elementwise_function.hpp"
#include "ops/temporaries.hpp"
#include "ops/tuning.hpp"

namespace tessera::detail {
namespace {

Extents cumsum_shape_of_call(const OperatorCall& call) {
  return call.operands.front().spec->shape();
}

/// Lists the rules: whatever dim is split, the result is split alike; sums and averages pass.
std::vector<OperatorRule> cumsum_rules_of_call(const OperatorCall& call) {
  std::vector<OperatorRule> rules;
  for (int d = 0; d < call.tensor_dims(0); ++d) rules.push_back({Shard(d), {Shard(d)}});
  const auto type = call.operands.front().type;
  const auto pass = [&](ReduceOp op) { rules.push_back({Partial(op), {Partial(op)}}); };
  const bool has_fractions = is_floating(type.kind) || is_complex(type.kind);
  // A sum of smaller integers becomes wider, where contributions would not wrap around any more.
  if (has_fractions || (is_integer(type.kind) && type.size == 8)) pass(ReduceOp::sum);
  if (has_fractions) pass(ReduceOp::avg);
  rules.push_back({Replicate(), {Replicate()}});
  return rules;
}

constexpr OperatorInfo cumsum_operator{
    "cumsum", "cumsum", "tessera::cumsum", cumsum_shape_of_call, cumsum_rules_of_call, true,
    true,     {1}};

/// Describes the runs of a line: intervals of successive indices, each of which is summed up on its own, in
/// `parts` chunks.
struct Runs {
  std::int64_t extent = 0;  ///< number of elements of a line
  std::int64_t count = 1;   ///< number of runs
  std::int64_t first = 0;   ///< number of elements of the first run
  std::int64_t block = 0;   ///< number of elements of each later run; the last one may be shorter
  std::int64_t parts = 1;   ///< number of chunks of each run

  std::int64_t chunks() const { return count * parts; }
  std::int64_t longest() const { return count > 1 && block > first ? block : first; }

  /// Sets the first element of a chunk, and the one behind its last element.
  KOKKOS_FUNCTION void set_chunk(std::int64_t chunk, std::int64_t& begin, std::int64_t& end) const {
    const auto run = chunk / parts, part = chunk % parts;
    const auto from = run == 0 ? 0 : first + (run - 1) * block;
    const auto behind = first + run * block;
    const auto length = (behind < extent ? behind : extent) - from;
    begin = from + part * length / parts;
    end = from + (part + 1) * length / parts;
  }
};

/// Describes lines of elements, and lines of their sums. Neighbouring lines, as they are numbered, are
/// neighbours in memory. Strides and steps are in bytes.
struct Lines {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::int64_t from_step = 0;  ///< distance of successive elements of a line
  std::int64_t to_step = 0;
  std::int64_t count = 0;  ///< number of lines
  DeviceLoops loops;       ///< loops over lines
  LoopArray from_strides{};
  LoopArray to_strides{};
  Runs runs;

  KOKKOS_FUNCTION std::int64_t innermost() const {
    return loops.size == 0 ? 1 : loops.extents[loops.size - 1];
  }
  KOKKOS_FUNCTION std::int64_t rows_of_innermost(std::int64_t width) const {
    return (innermost() + width - 1) / width;
  }
  /// Returns the number of rows of up to `width` neighbouring lines.
  KOKKOS_FUNCTION std::int64_t rows(std::int64_t width) const {
    return count / innermost() * rows_of_innermost(width);
  }
};

/// Describes one item of a kernel: a chunk of a row of neighbouring lines.
struct ChunkOfRow {
  std::int64_t line;    ///< number of the first line
  std::int64_t length;  ///< number of lines
  std::int64_t begin;   ///< first element of the chunk
  std::int64_t end;
  std::int64_t sum;         ///< position of the sum of the first line in [chunk][line]
  std::int64_t from_apart;  ///< distance of neighbouring lines, bytes
  std::int64_t to_apart;
  const std::byte* from;  ///< element `begin` of the first line
  std::byte* to;
};

template <int Width>
KOKKOS_FUNCTION ChunkOfRow chunk_of_row(const Lines& lines, std::int64_t item) {
  const auto rows = lines.rows(Width), chunk = item / rows, row = item % rows;
  const auto innermost = lines.innermost(), of_innermost = lines.rows_of_innermost(Width);
  const auto at = row % of_innermost * Width, left = innermost - at;
  ChunkOfRow result{};
  result.line = row / of_innermost * innermost + at;
  result.length = left < Width ? left : Width;
  lines.runs.set_chunk(chunk, result.begin, result.end);
  result.sum = chunk * lines.count + result.line;
  auto from = result.begin * lines.from_step, to = result.begin * lines.to_step;
  lines.loops.at(result.line, [&](int d, std::int64_t index) {
    from += index * lines.from_strides[d];
    to += index * lines.to_strides[d];
  });
  if (lines.loops.size > 0) {
    result.from_apart = lines.from_strides[lines.loops.size - 1];
    result.to_apart = lines.to_strides[lines.loops.size - 1];
  }
  result.from = lines.from + from;
  result.to = lines.to + to;
  return result;
}

/// Returns the number that changes no sum.
template <class Acc>
KOKKOS_FUNCTION Acc neutral() {
  if constexpr (is_complex_number<Acc>)
    return {-typename Acc::value_type(0), -typename Acc::value_type(0)};
  else if constexpr (std::is_integral_v<Acc>)
    return 0;
  else
    return -Acc(0);
}

/// Sums up each chunk of each line: one item is a chunk of up to Width lines.
template <class T, class Acc, int Width>
struct SumChunks {
  Lines lines;
  Acc* sums;  ///< [chunk][line]

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const auto chunk = chunk_of_row<Width>(lines, item);
    const auto length = Width == 1 ? 1 : chunk.length;
    Acc sum[Width];
    for (std::int64_t k = 0; k < length; ++k) sum[k] = neutral<Acc>();
    const bool is_dense = Width > 1 && chunk.from_apart == std::int64_t{sizeof(T)};
    const auto* from = chunk.from;
    for (auto e = chunk.begin; e < chunk.end; ++e, from += lines.from_step) {
      if (is_dense) {
        const auto* const values = reinterpret_cast<const T*>(from);
        for (std::int64_t k = 0; k < length; ++k)
          sum[k] = Sum()(sum[k], static_cast<Acc>(values[k]));
      } else {
        for (std::int64_t k = 0; k < length; ++k)
          sum[k] = Sum()(
              sum[k], static_cast<Acc>(*reinterpret_cast<const T*>(from + k * chunk.from_apart)));
      }
    }
    for (std::int64_t k = 0; k < length; ++k) sums[chunk.sum + k] = sum[k];
  }
};

/// Computes the running sums of each chunk of each line. Element k of an exclusive sum is the sum of the
/// elements before k; the sums may then take the place of the elements.
template <class T, class Acc, class Out, bool IsExclusive, int Width>
struct ScanChunks {
  Lines lines;
  const Acc* starts;  ///< what is added to each sum of a chunk, [chunk][line]; null for nothing

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const auto chunk = chunk_of_row<Width>(lines, item);
    const auto length = Width == 1 ? 1 : chunk.length;
    Acc sum[Width];
    for (std::int64_t k = 0; k < length; ++k)
      sum[k] = starts == nullptr ? neutral<Acc>() : starts[chunk.sum + k];
    const bool is_dense = Width > 1 && chunk.from_apart == std::int64_t{sizeof(T)} &&
                          chunk.to_apart == std::int64_t{sizeof(Out)};
    const auto* from = chunk.from;
    auto* to = chunk.to;
    for (auto e = chunk.begin; e < chunk.end; ++e, from += lines.from_step, to += lines.to_step) {
      if (is_dense) {
        const auto* const values = reinterpret_cast<const T*>(from);
        auto* const sums = reinterpret_cast<Out*>(to);
        for (std::int64_t k = 0; k < length; ++k) take(values[k], sum[k], sums[k]);
      } else {
        for (std::int64_t k = 0; k < length; ++k)
          take(*reinterpret_cast<const T*>(from + k * chunk.from_apart), sum[k],
               *reinterpret_cast<Out*>(to + k * chunk.to_apart));
      }
    }
  }

 private:
  KOKKOS_FUNCTION static void take(const T& value, Acc& sum, Out& result) {
    const auto next = Sum()(sum, static_cast<Acc>(value));
    result = static_cast<Out>(IsExclusive ? sum : next);
    sum = next;
  }
};

/// Copies the sums of this rank's runs from those of all runs, [run][line].
template <class Acc>
struct PickRuns {
  const Acc* all;
  Acc* mine;
  std::int64_t lines;
  IndexMap runs;  ///< global number of each run of this rank

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    mine[i] = all[runs.global_index(i / lines) * lines + i % lines];
  }
};

/// Returns the lines of an array [extent][line], whose sums take its place.
Lines lines_in_place(std::byte* data, std::int64_t element_size, std::int64_t lines,
                     const Runs& runs) {
  Lines result;
  result.from = result.to = data;
  result.from_step = result.to_step = lines * element_size;
  result.count = lines;
  result.runs = runs;
  if (lines == 0) return result;
  result.loops.add(lines);
  result.from_strides[0] = result.to_strides[0] = element_size;
  return result;
}

/// Lists the dims other than `dim`, the one with the largest stride first.
std::vector<std::size_t> line_dims(const ArrayRef& operand, std::size_t dim) {
  std::vector<std::size_t> result(operand.extents.size());
  std::iota(result.begin(), result.end(), std::size_t{0});
  result.erase(result.begin() + static_cast<std::ptrdiff_t>(dim));
  std::ranges::stable_sort(result, std::greater(),
                           [&](std::size_t d) { return std::abs(operand.strides[d]); });
  return result;
}

/// Returns the lines of a local piece along `dim`, in the order of `dims`.
Lines lines_of(const ArrayRef& operand, const ArrayRef& result, std::size_t dim,
               const std::vector<std::size_t>& dims) {
  Lines lines;
  lines.from = operand.data;
  lines.to = result.data;
  lines.from_step = operand.strides[dim] * operand.type.size;
  lines.to_step = result.strides[dim] * result.type.size;
  Extents extents;
  std::array<Extents, 2> strides;
  for (const auto d : dims) {
    extents.push_back(operand.extents[d]);
    strides[0].push_back(operand.strides[d] * operand.type.size);
    strides[1].push_back(result.strides[d] * result.type.size);
  }
  lines.count = product(extents);
  if (lines.count == 0) return lines;
  join_dims(extents, strides);
  lines.loops = DeviceLoops(extents);
  lines.from_strides = loop_strides(strides[0]);
  lines.to_strides = loop_strides(strides[1]);
  return lines;
}

/// Computes running sums of arrays of one call, and holds the memory that this takes.
class Scan {
 public:
  Scan(const Execution& execution, Temporaries& temporaries, MemorySpace space,
       ElementType sum_type)
      : execution_(execution), temporaries_(temporaries), space_(space), sum_type_(sum_type) {}

  /// Computes the running sums of all runs.
  ///
  /// Sums of chunks are summed up to sums of larger chunks, and so on up to one sum for each run. These
  /// are handed to to_starts(), if it is given, which replaces them by the sums of all earlier runs. On
  /// the way back, the exclusive running sums of chunks are where the chunks start. `is_wide` tells
  /// whether the host takes neighbouring lines together.
  template <class T, class Acc, class Out, bool IsExclusive>
  void run(Lines lines, bool is_wide, const std::function<void(const OwnedArray&)>& to_starts) {
    std::vector<OwnedArray> sums;
    std::vector<Lines> levels;
    const auto is_last = [&] { return levels.back().runs.parts == 1; };
    lines.runs.parts = first_parts<T>(lines, is_wide);
    levels.push_back(lines);
    while (!is_last()) {
      sums.push_back(sums_of(levels.back()));
      auto runs = levels.back().runs;
      runs.first = runs.block = runs.parts;
      runs.extent = runs.chunks();
      runs.parts =
          is_on_device(space_) ? std::max<std::int64_t>(1, runs.parts / parts_per_thread) : 1;
      levels.push_back(lines_in_place(sums.back().array.data, sizeof(Acc), lines.count, runs));
    }
    if (to_starts) sums.push_back(sums_of(levels.back()));
    const auto pointer = [&](std::size_t level) {
      return level < sums.size() ? reinterpret_cast<Acc*>(sums[level].array.data) : nullptr;
    };
    for (std::size_t level = 0; level < sums.size(); ++level)
      if (level == 0)
        sum_up<T, Acc>(lines, is_wide, pointer(0));
      else
        sum_up<Acc, Acc>(levels[level], true, pointer(level));
    if (to_starts) to_starts(sums.back());
    for (auto level = levels.size(); level-- > 1;)
      scan<Acc, Acc, Acc, true>(levels[level], true, pointer(level));
    scan<T, Acc, Out, IsExclusive>(lines, is_wide, pointer(0));
  }

  /// Returns an array [rows][lines] of sums, which lives as long as this object.
  OwnedArray allocate(std::int64_t rows, std::int64_t lines) {
    kept_.push_back(temporaries_.allocate(sum_type_, {rows, lines}, space_, cumsum_operator.label));
    return kept_.back();
  }

  /// Copies, for each run of this rank, the sums of this run.
  template <class Acc>
  void pick(const OwnedArray& all, const OwnedArray& mine, std::int64_t lines,
            const IndexMap& runs) const {
    const PickRuns<Acc> kernel{reinterpret_cast<const Acc*>(all.array.data),
                               reinterpret_cast<Acc*>(mine.array.data), lines, runs};
    launch<Acc>(mine.array.size(), mine.array.bytes(), kernel);
  }

 private:
  OwnedArray sums_of(const Lines& lines) { return allocate(lines.runs.chunks(), lines.count); }

  /// Returns the number of chunks of each run of elements.
  template <class T>
  std::int64_t first_parts(const Lines& lines, bool is_wide) const {
    const auto& runs = lines.runs;
    const auto all = std::max<std::int64_t>(1, lines.count * runs.count);
    if (is_on_device(space_))
      return std::clamp<std::int64_t>(runs.longest() / least_device_chunk, 1,
                                      std::max<std::int64_t>(1, most_device_parts / all));
    const auto elements = lines.count * runs.extent;
    if (!is_for_threads(execution_, elements * std::int64_t{sizeof(T)})) return 1;
    const std::int64_t threads = execution_.instance<MemorySpace::host>().concurrency();
    if (runs.count * lines.rows(is_wide ? summed_lines : 1) >= 4 * threads) return 1;
    const auto of_run = elements / std::max<std::int64_t>(1, runs.count);
    return std::clamp<std::int64_t>(of_run / least_reduced_part, 1,
                                    std::min(threads, std::max<std::int64_t>(1, runs.longest())));
  }

  template <class T, class Acc>
  void sum_up(const Lines& lines, bool is_wide, Acc* sums) const {
    launch_rows<T>(lines, is_wide, [&]<int width>(std::integral_constant<int, width>) {
      return SumChunks<T, Acc, width>{lines, sums};
    });
  }

  template <class T, class Acc, class Out, bool IsExclusive>
  void scan(const Lines& lines, bool is_wide, const Acc* starts) const {
    launch_rows<T>(lines, is_wide, [&]<int width>(std::integral_constant<int, width>) {
      return ScanChunks<T, Acc, Out, IsExclusive, width>{lines, starts};
    });
  }

  /// Launches the kernel that make() returns for a width of rows.
  template <class T, class Make>
  void launch_rows(const Lines& lines, bool is_wide, const Make& make) const {
    const auto bytes = lines.count * lines.runs.extent * std::int64_t{sizeof(T)};
    const auto chunks = lines.runs.chunks();
    if (is_wide && !is_on_device(space_))
      launch_on_host(execution_, cumsum_operator.label, chunks * lines.rows(summed_lines), bytes,
                     make(std::integral_constant<int, summed_lines>()));
    else
      launch<T>(chunks * lines.count, bytes, make(std::integral_constant<int, 1>()));
  }

  template <class T, class Kernel>
  void launch(std::int64_t items, std::int64_t bytes, const Kernel& kernel) const {
    if (items == 0) return;
    if (!is_on_device(space_)) {
      launch_on_host(execution_, cumsum_operator.label, items, bytes, kernel);
    } else {
      if constexpr (has_device && is_device_number<T>)
        launch_on_device(execution_, cumsum_operator.label, items, kernel);
    }
  }

  const Execution& execution_;
  Temporaries& temporaries_;
  MemorySpace space_;
  ElementType sum_type_;
  std::vector<OwnedArray> kept_;
};

/// Describes the sums of all runs along `dim`, before and after they are exchanged: they are a tensor in
/// which one index stands for each run, and lies where the elements of the run lie.
class RunSums {
 public:
  RunSums(const DeviceMesh& mesh, const DTensorSpec& spec, std::size_t dim) : dim_(dim) {
    const auto& split = spec.split(dim);
    const auto rule = split.rule(0);
    const auto slice = split.is_slice() ? split.slice : Interval{0, split.extent};
    const auto whole = split.is_slice() ? split.whole : split.extent;
    auto shape = spec.shape();
    auto boundaries = spec.boundaries();
    boundaries.resize(shape.size());
    auto boundaries_after = boundaries;
    boundaries[dim].clear();
    boundaries_after[dim].clear();
    std::int64_t first_block = 0;
    auto sharding = Placement(Shard(static_cast<int>(dim)));
    if (rule == ShardingRule::cyclic) {
      const auto blocks_below = [&](std::int64_t end) {
        return end / split.block + (end % split.block != 0 ? 1 : 0);
      };
      sharding = Cyclic(static_cast<int>(dim), 1);
      first_block = slice.begin / split.block;
      shape[dim] = blocks_below(slice.end) - first_block;
      if (split.is_slice()) boundaries[dim] = {first_block, blocks_below(whole)};
    } else if (rule == ShardingRule::head_tail) {
      sharding = HeadTail(static_cast<int>(dim));
      shape[dim] = 2 * std::int64_t{split.parts()};
    } else {
      shape[dim] = split.parts();
    }
    set_specs(spec, sharding, shape, boundaries, boundaries_after);
    const auto& coordinate = *mesh.coordinate();
    const auto piece = spec.sections(coordinate).sections[dim];
    const auto mine = before_.sections(coordinate).sections[dim];
    map_ = IndexMap(mine);
    runs_.extent = runs_.first = piece.extent();
    runs_.count = mine.extent();
    if (runs_.count == 0 || detail::can_share_dim(rule)) return;
    const auto first = mine.global_index(0);
    const auto of_run =
        rule == ShardingRule::cyclic
            ? Interval{(first_block + first) * split.block, (first_block + first + 1) * split.block}
            : chunk({0, whole}, 2 * split.parts(), static_cast<int>(first));
    runs_.first =
        std::min(runs_.extent, std::max<std::int64_t>(0, intersect(of_run, slice).size()));
    runs_.block = rule == ShardingRule::cyclic ? split.block : runs_.extent - runs_.first;
  }

  const DTensorSpec& before() const { return before_; }
  const DTensorSpec& after() const { return after_; }
  /// Returns the runs of this rank.
  const Runs& runs() const { return runs_; }
  /// Returns the global numbers of the runs of this rank.
  const IndexMap& map() const { return map_; }
  /// Returns the number of runs of all ranks.
  std::int64_t all_runs() const { return after_.shape()[dim_]; }

 private:
  void set_specs(const DTensorSpec& spec, const Placement& sharding, const Extents& shape,
                 const Boundaries& boundaries, const Boundaries& boundaries_after) {
    std::vector<Placement> before, after;
    std::vector<int> positions, positions_after;
    for (std::size_t m = 0; m < spec.placements().size(); ++m) {
      const auto& placement = spec.placements()[m];
      const bool is_split = placement.is_shard(static_cast<int>(dim_));
      const int position = spec.placements().split_position(static_cast<int>(m));
      before.push_back(is_split ? sharding : placement);
      after.push_back(is_split ? Placement(Replicate()) : placement);
      positions.push_back(position);
      positions_after.push_back(is_split ? 0 : position);
    }
    before_ = make_spec(spec.layout(), Placements(before, positions), shape, boundaries);
    after_ = make_spec(spec.layout(), Placements(after, positions_after), shape, boundaries_after);
  }

  std::size_t dim_;
  DTensorSpec before_, after_;
  Runs runs_;
  IndexMap map_;
};

/// Returns numbers that lie as [run][line] as an array with the extents of the operand, but `runs` along
/// `dim`; lines are numbered by `dims`.
ArrayRef by_tensor_dims(const OwnedArray& numbers, const ArrayRef& operand, std::size_t dim,
                        const std::vector<std::size_t>& dims, std::int64_t runs) {
  auto result = operand;
  result.data = numbers.array.data;
  result.type = numbers.array.type;
  result.extents[dim] = runs;
  std::int64_t stride = 1;
  for (auto i = dims.size(); i-- > 0;) {
    result.strides[dims[i]] = stride;
    stride *= operand.extents[dims[i]];
  }
  result.strides[dim] = stride;
  return result;
}

/// Receives the sums of all runs into `all`; those of this rank's runs are `mine`.
void gather(const Execution& execution, const DeviceMesh& mesh, const RunSums& run_sums,
            const ArrayRef& operand, std::size_t dim, const std::vector<std::size_t>& dims,
            const OwnedArray& mine, const OwnedArray& all) {
  const std::vector<Redistributor> redistributors{
      cached_redistributor(mesh, run_sums.before(), run_sums.after(), mine.array.type, {})};
  const std::vector<Pieces> pieces{{by_tensor_dims(mine, operand, dim, dims, run_sums.runs().count),
                                    by_tensor_dims(all, operand, dim, dims, run_sums.all_runs())}};
  keeping(
      mesh.communicator(),
      [&] { run_together(execution, redistributors, pieces, cumsum_operator.label); },
      [&] { return std::make_shared<std::pair<OwnedArray, OwnedArray>>(mine, all); });
}

/// Names the type in which elements of type T are summed up. Integers wrap around as unsigned ones.
template <class T>
using summed_t = std::conditional_t<std::is_integral_v<T>, std::uint64_t,
                                    std::conditional_t<is_computed_as_float<T>, float, T>>;

template <class T>
void run_as(const Execution& execution, const DeviceMesh* mesh, const DTensorSpec* spec,
            const ArrayRef& operand, std::size_t dim, const ArrayRef& result) {
  using Acc = summed_t<T>;
  using Out = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  if constexpr (has_device && !is_device_number<T>)
    if (is_on_device(result.space))
      throw InvalidArgument("expected an element type other than long double on a device");
  Temporaries temporaries(execution, mesh);
  const auto sum_type = is_computed_as_float<T> ? element_type<float>() : result.type;
  Scan scan(execution, temporaries, result.space, sum_type);
  const auto dims = line_dims(operand, dim);
  auto lines = lines_of(operand, result, dim, dims);
  const bool is_wide = lines.loops.size > 0 && (operand.extents[dim] <= short_line ||
                                                std::abs(lines.from_strides[lines.loops.size - 1]) <
                                                    std::abs(lines.from_step));
  std::optional<RunSums> run_sums;
  std::function<void(const OwnedArray&)> to_starts;
  if (mesh != nullptr && spec->split(dim).parts() > 1) {
    run_sums.emplace(*mesh, *spec, dim);
    lines.runs = run_sums->runs();
    to_starts = [&](const OwnedArray& mine) {
      const auto runs = run_sums->all_runs();
      const auto all = scan.allocate(runs, lines.count);
      gather(execution, *mesh, *run_sums, operand, dim, dims, mine, all);
      scan.run<Acc, Acc, Acc, true>(
          lines_in_place(all.array.data, sizeof(Acc), lines.count, {runs, 1, runs}), true, {});
      scan.pick<Acc>(all, mine, lines.count, run_sums->map());
    };
  } else {
    lines.runs.extent = lines.runs.first = operand.extents[dim];
  }
  scan.run<T, Acc, Out, false>(lines, is_wide, to_starts);
  temporaries.finish();
  if (!is_on_device(result.space)) finish_host(execution);
}

}  // namespace

const OperatorInfo& cumsum_info() {
  return cumsum_operator;
}

void run_cumsum(const Execution& execution, const DeviceMesh* mesh, const DTensorSpec* spec,
                const ArrayRef& operand, std::int64_t dim, const ArrayRef& result) {
  // No rank has an element then, so that none waits for an exchange.
  if (product(spec == nullptr ? operand.extents : spec->shape()) == 0) return;
  with_number_type(operand.type.kind, [&]<class T>(std::type_identity<T>) {
    run_as<T>(execution, mesh, spec, operand, static_cast<std::size_t>(dim), result);
  });
}

}  // namespace tessera::detail
