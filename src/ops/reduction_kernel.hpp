// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <tessera/error/error.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/loops.hpp>

#include "kernels/arithmetic.hpp"
#include "kernels/conversion.hpp"
#include "ops/temporaries.hpp"
#include "ops/tuning.hpp"

namespace tessera::detail {

/// Describes the loops of a reduction of one or two arrays; strides are in bytes.
struct ReductionLoops {
  MemorySpace space;
  std::byte* result;
  const std::byte* first;
  const std::byte* second = nullptr;            ///< null if there is one operand
  Extents kept = {};                            ///< extents of the loops over results
  std::array<Extents, 3> kept_strides = {};     ///< strides of result, first, second
  Extents reduced = {};                         ///< extents of the loops that a result sums up
  std::array<Extents, 2> reduced_strides = {};  ///< strides of first, second
  /// Tells whether the innermost loop over elements is one over results.
  bool is_inner_kept = false;
  double divisor = 1;
  Temporaries* temporaries = nullptr;  ///< memory for reduce_in_parts(), which expects it

  std::int64_t results() const { return product(kept); }
  std::int64_t elements() const { return product(reduced); }
};

/// Reduces on the host.
///
/// Work says what is computed: types T (elements) and Acc, lift(a), or lift(a, b), combine(Acc, Acc),
/// identity() and finish(Acc). One item is a part of what one result, or a row of results, sums up.
template <class Work>
struct HostReduction {
  using T = typename Work::T;
  using Second = typename Work::Second;
  using Acc = typename Work::Acc;
  using Out = typename Work::Out;

  Work work;
  const std::byte* first;
  const std::byte* second;
  std::byte* result;
  Loops kept;     ///< loops over results; rows of accumulated_row if they are accumulated together
  Loops reduced;  ///< loops over elements
  std::array<LoopArray, 3> kept_strides;
  std::array<LoopArray, 2> reduced_strides;
  std::int64_t parts;
  bool is_inner_kept;
  Acc* scratch;  ///< [part][item][width]; null if there is one part

  std::int64_t width() const { return is_inner_kept ? accumulated_row : 1; }

  void operator()(std::int64_t i) const {
    const auto items = kept.items();
    const auto part = i / items, item = i % items;
    const auto begin = part * reduced.items() / parts, end = (part + 1) * reduced.items() / parts;
    Acc row[accumulated_row];
    const auto place = kept.item(item);
    const auto length = is_inner_kept ? place.length : 1;
    const auto* const a = first + kept.offset(place, kept_strides[1]);
    const auto* const b =
        second == nullptr ? nullptr : second + kept.offset(place, kept_strides[2]);
    for (std::int64_t k = 0; k < length; ++k) row[k] = work.identity();
    if (begin < end)
      is_inner_kept ? sum_rows(a, b, begin, end, row, length) : sum_run(a, b, begin, end, row);
    if (parts == 1) return write(place, row, length);
    std::copy(row, row + length, scratch + (part * items + item) * width());
  }

  /// Combines the parts of an item.
  void complete(std::int64_t item) const {
    const auto place = kept.item(item);
    const auto length = is_inner_kept ? place.length : 1;
    Acc row[accumulated_row];
    for (std::int64_t k = 0; k < length; ++k) {
      row[k] = scratch[item * width() + k];
      for (std::int64_t part = 1; part < parts; ++part)
        row[k] = work.combine(row[k], scratch[(part * kept.items() + item) * width() + k]);
    }
    write(place, row, length);
  }

 private:
  void write(const Loops::Item& place, const Acc* row, std::int64_t length) const {
    auto* to = result + kept.offset(place, kept_strides[0]);
    const auto step = kept_strides[0][kept.ndims - 1];
    for (std::int64_t k = 0; k < length; ++k)
      *reinterpret_cast<Out*>(to + k * step) = work.finish(row[k]);
  }

  Acc lifted(const std::byte* a, const std::byte* b) const {
    if constexpr (Work::has_second)
      return work.lift(*reinterpret_cast<const T*>(a), *reinterpret_cast<const Second*>(b));
    else
      return work.lift(*reinterpret_cast<const T*>(a));
  }

  /// Adds rows of elements to a row of results.
  void sum_rows(const std::byte* a, const std::byte* b, std::int64_t begin, std::int64_t end,
                Acc* row, std::int64_t length) const {
    const auto step_a = kept_strides[1][kept.ndims - 1], step_b = kept_strides[2][kept.ndims - 1];
    auto at = reduced.item(begin);
    for (auto i = begin; i < end; ++i, reduced.advance(at)) {
      const auto* from = a + reduced.offset(at, reduced_strides[0]);
      const auto* other = Work::has_second ? b + reduced.offset(at, reduced_strides[1]) : nullptr;
      if (!Work::has_second && step_a == std::int64_t{sizeof(T)}) {
        const auto* const values = reinterpret_cast<const T*>(from);
        if constexpr (!Work::has_second)
          for (std::int64_t k = 0; k < length; ++k)
            row[k] = work.combine(row[k], work.lift(values[k]));
      } else {
        for (std::int64_t k = 0; k < length; ++k)
          row[k] = work.combine(row[k], lifted(from + k * step_a, other + k * step_b));
      }
    }
  }

  /// Sums up runs of elements to one result.
  void sum_run(const std::byte* a, const std::byte* b, std::int64_t begin, std::int64_t end,
               Acc* sum) const {
    const auto step_a = reduced_strides[0][reduced.ndims - 1];
    const auto step_b = reduced_strides[1][reduced.ndims - 1];
    Acc sums[accumulators];
    for (auto& each : sums) each = work.identity();
    auto at = reduced.item(begin);
    for (auto i = begin; i < end; ++i, reduced.advance(at)) {
      const auto* from = a + reduced.offset(at, reduced_strides[0]);
      const auto* other = Work::has_second ? b + reduced.offset(at, reduced_strides[1]) : nullptr;
      if (step_a == std::int64_t{sizeof(T)} &&
          (!Work::has_second || step_b == std::int64_t{sizeof(Second)}))
        sum_dense(reinterpret_cast<const T*>(from), reinterpret_cast<const Second*>(other),
                  at.length, sums);
      else
        for (std::int64_t k = 0; k < at.length; ++k)
          sums[k % accumulators] =
              work.combine(sums[k % accumulators], lifted(from + k * step_a, other + k * step_b));
    }
    for (int width = accumulators / 2; width > 0; width /= 2)
      for (int k = 0; k < width; ++k) sums[k] = work.combine(sums[k], sums[k + width]);
    sum[0] = sums[0];
  }

  void sum_dense(const T* a, const Second* b, std::int64_t length, Acc* sums) const {
    const auto lifted_at = [&](std::int64_t k) {
      if constexpr (Work::has_second)
        return work.lift(a[k], b[k]);
      else
        return work.lift(a[k]);
    };
    Acc mine[accumulators];
    std::copy(sums, sums + accumulators, mine);
    std::int64_t i = 0;
    for (; i + accumulators <= length; i += accumulators)
      for (int k = 0; k < accumulators; ++k) mine[k] = work.combine(mine[k], lifted_at(i + k));
    for (; i < length; ++i)
      mine[i % accumulators] = work.combine(mine[i % accumulators], lifted_at(i));
    std::copy(mine, mine + accumulators, sums);
  }
};

/// Reduces on a device: first parts of results, [part][result], then the parts.
template <class Work>
struct DeviceReduction {
  using T = typename Work::T;
  using Second = typename Work::Second;
  using Acc = typename Work::Acc;

  Work work;
  const std::byte* first;
  const std::byte* second;
  std::byte* result;
  DeviceLoops kept;
  DeviceLoops reduced;
  Kokkos::Array<LoopArray, 3> kept_strides;
  Kokkos::Array<LoopArray, 2> reduced_strides;
  std::int64_t results;
  std::int64_t elements;
  std::int64_t parts;
  bool is_inner_kept;
  Acc* scratch;

  /// Sums up one part of one result: elements part, part + parts, …. Neighbouring threads read neighbouring
  /// elements.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto part = is_inner_kept ? i / results : i % parts;
    const auto at = is_inner_kept ? i % results : i / parts;
    std::int64_t a = 0, b = 0;
    kept.at(at, [&](int d, std::int64_t index) {
      a += index * kept_strides[1][d];
      b += index * kept_strides[2][d];
    });
    const auto element = [&](std::int64_t e) {
      std::int64_t to_a = a, to_b = b;
      reduced.at(e, [&](int d, std::int64_t index) {
        to_a += index * reduced_strides[0][d];
        to_b += index * reduced_strides[1][d];
      });
      return lifted(to_a, to_b);
    };
    Acc sum = work.identity();
    auto e = part;
    // Several reads are under way at a time.
    for (; e + (reads_at_once - 1) * parts < elements; e += reads_at_once * parts) {
      Acc next[reads_at_once];
      for (int k = 0; k < reads_at_once; ++k) next[k] = element(e + k * parts);
      for (int k = 0; k < reads_at_once; ++k) sum = work.combine(sum, next[k]);
    }
    for (; e < elements; e += parts) sum = work.combine(sum, element(e));
    scratch[part * results + at] = sum;
  }

  KOKKOS_FUNCTION void complete(std::int64_t at) const {
    Acc sum = scratch[at];
    for (std::int64_t part = 1; part < parts; ++part)
      sum = work.combine(sum, scratch[part * results + at]);
    std::int64_t to = 0;
    kept.at(at, [&](int d, std::int64_t index) { to += index * kept_strides[0][d]; });
    *reinterpret_cast<typename Work::Out*>(result + to) = work.finish(sum);
  }

 private:
  KOKKOS_FUNCTION Acc lifted(std::int64_t a, std::int64_t b) const {
    if constexpr (Work::has_second)
      return work.lift(*reinterpret_cast<const T*>(first + a),
                       *reinterpret_cast<const Second*>(second + b));
    else
      return work.lift(*reinterpret_cast<const T*>(first + a));
  }
};

/// Combines parts of results to fewer parts, [part][result]; one thread for each.
template <class Work>
struct CombineDeviceParts {
  using Acc = typename Work::Acc;

  Work work;
  const Acc* from;
  Acc* to;
  std::int64_t results;
  std::int64_t parts;  ///< number of parts in `from`
  std::int64_t fewer;  ///< number of parts in `to`

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto at = i % results;
    Acc sum = from[i];
    for (auto part = i / results + fewer; part < parts; part += fewer)
      sum = work.combine(sum, from[part * results + at]);
    to[i] = sum;
  }
};

/// Combines the parts of a DeviceReduction.
template <class Work>
struct CompleteDeviceReduction {
  DeviceReduction<Work> reduction;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { reduction.complete(i); }
};

template <class Work>
void reduce_on_host(const Execution& execution, const char* label, const ReductionLoops& loops,
                    const Work& work) {
  using Acc = typename Work::Acc;
  const auto chunk = loops.is_inner_kept ? 1 : least_reduced_part;
  HostReduction<Work> kernel{
      work,
      loops.first,
      loops.second,
      loops.result,
      make_loops(loops.kept, loops.is_inner_kept ? accumulated_row : 1),
      make_loops(loops.reduced, chunk),
      {loop_strides(loops.kept_strides[0]), loop_strides(loops.kept_strides[1]),
       loop_strides(loops.kept_strides[2])},
      {loop_strides(loops.reduced_strides[0]), loop_strides(loops.reduced_strides[1])},
      1,
      loops.is_inner_kept,
      nullptr};
  const auto bytes = loops.results() * loops.elements() * std::int64_t{sizeof(typename Work::T)};
  const auto items = kernel.kept.items();
  std::vector<Acc> scratch;
  if (is_for_threads(execution, bytes)) {
    const std::int64_t threads = execution.instance<MemorySpace::host>().concurrency();
    const auto most = std::min(kernel.reduced.items(), loops.elements() / least_reduced_part);
    if (items < 4 * threads) kernel.parts = std::max<std::int64_t>(1, std::min(threads, most));
    if (kernel.parts > 1)
      scratch.resize(static_cast<std::size_t>(kernel.parts * items * kernel.width()));
    kernel.scratch = scratch.data();
  }
  launch_on_host(execution, label, items * kernel.parts, bytes, kernel);
  if (kernel.parts == 1) return;
  finish_host(execution);
  for (std::int64_t item = 0; item < items; ++item) kernel.complete(item);
}

/// Returns the number of threads of a device that share the elements of a result. What the parts take is at
/// most a sixteenth of the operand, unless there are fewer than most_device_parts.
template <class T, class Acc>
std::int64_t device_parts(std::int64_t results, std::int64_t elements, bool is_inner_kept) {
  const auto wanted = most_device_parts / std::max<std::int64_t>(1, results);
  // The 32 threads of a warp read neighbouring elements of one row.
  const auto least = is_inner_kept ? 1
                                   : std::min<std::int64_t>(32, elements * std::int64_t{sizeof(T)} /
                                                                    std::int64_t{16 * sizeof(Acc)});
  return std::max<std::int64_t>(1, std::min(elements, std::max(wanted, least)));
}

/// Reduces by kernels in which each thread has one part of a result, or one result. launch(items, kernel)
/// calls the kernel for [0, items).
template <class Work, class Launch>
void reduce_in_parts(const ReductionLoops& loops, const Work& work, const Launch& launch) {
  using Acc = typename Work::Acc;
  const auto results = loops.results(), elements = loops.elements();
  auto parts = device_parts<typename Work::T, Acc>(results, elements, loops.is_inner_kept);
  // A thread combines few parts, so that none has them all: two arrays take turns.
  const auto bytes = std::int64_t{sizeof(Acc)};
  // nvcc 13 takes the braces away where they stand in the call.
  const Extents size{(parts + parts / parts_per_thread) * results * bytes};
  const auto scratch = loops.temporaries->allocate(element_type<std::byte>(), size, loops.space,
                                                   "tessera::ops reduced parts");
  auto* from = reinterpret_cast<Acc*>(scratch.array.data);
  auto* to = from + parts * results;
  DeviceReduction<Work> kernel{work,
                               loops.first,
                               loops.second,
                               loops.result,
                               DeviceLoops(loops.kept),
                               elements == 0 ? DeviceLoops() : DeviceLoops(loops.reduced),
                               {},
                               {},
                               results,
                               elements,
                               parts,
                               loops.is_inner_kept,
                               from};
  for (std::size_t k = 0; k < 3; ++k) kernel.kept_strides[k] = loop_strides(loops.kept_strides[k]);
  for (std::size_t k = 0; k < 2; ++k)
    kernel.reduced_strides[k] = loop_strides(loops.reduced_strides[k]);
  launch(results * parts, kernel);
  for (; parts > parts_per_thread; std::swap(from, to)) {
    const auto fewer = parts / parts_per_thread;
    launch(results * fewer, CombineDeviceParts<Work>{work, from, to, results, parts, fewer});
    parts = fewer;
  }
  kernel.scratch = from;
  kernel.parts = parts;
  launch(results, CompleteDeviceReduction<Work>{kernel});
}

/// Runs a reduction. Expects at least one result.
template <class Work>
void run_reduction_kernel(const Execution& execution, const char* label,
                          const ReductionLoops& loops, const Work& work) {
  if (!is_on_device(loops.space))
    reduce_on_host(execution, label, loops, work);
  else if constexpr (has_device && is_device_number<typename Work::T>)
    reduce_in_parts(loops, work, [&](std::int64_t items, const auto& kernel) {
      launch_on_device(execution, label, items, kernel);
    });
  else
    throw InvalidArgument("expected an element type other than long double on a device");
}

}  // namespace tessera::detail
