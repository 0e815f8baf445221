// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <tessera/redistribute/detail/copy_loop.hpp>
#include <tessera/tensor/detail/launch.hpp>

namespace tessera::detail {
namespace {

constexpr std::int64_t tile = 32;
constexpr std::int64_t longest_tiled_run = 64;

/// The two innermost loops as planes; the outer one of them (rows) is chunked by `outer`.
struct Planes {
  CopyLoop copy;
  Loops outer;
  LoopArray source_strides;
  LoopArray destination_strides;
  std::int64_t columns = 1;
  std::int64_t column_tile = 1;
  std::int64_t source_column_stride = 0;
  std::int64_t destination_column_stride = 0;
};

void rotate_to_last(Extents& values, std::size_t dim) {
  std::rotate(values.begin() + dim, values.begin() + dim + 1, values.end());
}

/// The dim along which the source is walked best, if that is not the innermost one; else the last.
std::size_t row_dim(const CopyLoop& copy, std::int64_t source_column_stride) {
  std::size_t best = copy.extents.size() - 1;
  std::int64_t smallest = std::abs(source_column_stride);
  for (std::size_t d = 0; d < copy.extents.size(); ++d) {
    if (std::abs(copy.source_strides[d]) >= smallest) continue;
    best = d;
    smallest = std::abs(copy.source_strides[d]);
  }
  return best;
}

std::int64_t pop_back(Extents& values) {
  const auto last = values[values.size() - 1];
  values = Extents(std::span(values.begin(), values.size() - 1));
  return last;
}

Planes planes(const CopyLoop& copy) {
  Planes result{.copy = copy, .outer = {}, .source_strides = {}, .destination_strides = {}};
  auto& rest = result.copy;
  bool is_transposing = false;
  if (!rest.extents.empty()) {
    result.columns = pop_back(rest.extents);
    result.source_column_stride = pop_back(rest.source_strides);
    result.destination_column_stride = pop_back(rest.destination_strides);
  }
  if (!rest.extents.empty()) {
    const auto dim = row_dim(rest, result.source_column_stride);
    is_transposing = copy.run <= longest_tiled_run &&
                     std::abs(rest.source_strides[dim]) < std::abs(result.source_column_stride);
    rotate_to_last(rest.extents, dim);
    rotate_to_last(rest.source_strides, dim);
    rotate_to_last(rest.destination_strides, dim);
  }
  result.column_tile = is_transposing ? tile : result.columns;
  result.outer = make_loops(
      rest.extents, is_transposing
                        ? tile
                        : std::max<std::int64_t>(1, serial_bytes / (result.columns * copy.run)));
  result.source_strides = loop_strides(rest.source_strides);
  result.destination_strides = loop_strides(rest.destination_strides);
  return result;
}

template <std::size_t Bytes>
struct MoveFixed {
  void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, Bytes); }
};

struct MoveAny {
  std::size_t bytes;
  void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, bytes); }
};

template <class Move>
void copy_items(const Planes& planes, std::int64_t first, std::int64_t last, Move move) {
  const int row_dim = planes.outer.ndims - 1;
  const auto to_row_stride = planes.destination_strides[row_dim];
  const auto from_row_stride = planes.source_strides[row_dim];
  for (auto i = first; i < last; ++i) {
    const auto item = planes.outer.item(i);
    auto* to = planes.copy.destination + planes.outer.offset(item, planes.destination_strides);
    const auto* from = planes.copy.source + planes.outer.offset(item, planes.source_strides);
    for (std::int64_t begin = 0; begin < planes.columns; begin += planes.column_tile) {
      const auto end = std::min(planes.columns, begin + planes.column_tile);
      for (std::int64_t row = 0; row < item.length; ++row)
        for (auto column = begin; column < end; ++column)
          move(to + row * to_row_stride + column * planes.destination_column_stride,
               from + row * from_row_stride + column * planes.source_column_stride);
    }
  }
}

void copy_items(const Planes& planes, std::int64_t first, std::int64_t last) {
  switch (planes.copy.run) {
    case 1:
      return copy_items(planes, first, last, MoveFixed<1>{});
    case 2:
      return copy_items(planes, first, last, MoveFixed<2>{});
    case 4:
      return copy_items(planes, first, last, MoveFixed<4>{});
    case 8:
      return copy_items(planes, first, last, MoveFixed<8>{});
    case 12:
      return copy_items(planes, first, last, MoveFixed<12>{});
    case 16:
      return copy_items(planes, first, last, MoveFixed<16>{});
    case 24:
      return copy_items(planes, first, last, MoveFixed<24>{});
    case 32:
      return copy_items(planes, first, last, MoveFixed<32>{});
    default:
      return copy_items(planes, first, last, MoveAny{static_cast<std::size_t>(planes.copy.run)});
  }
}

struct Task {
  std::size_t planes;
  std::int64_t first;
  std::int64_t last;
};

struct Work {
  std::vector<Planes> planes;
  std::vector<Task> tasks;
};

void add_tasks(Work& work, const CopyLoop& loop, std::int64_t bytes_per_task) {
  work.planes.push_back(planes(loop));
  const auto items = work.planes.back().outer.items();
  const auto tasks = std::clamp<std::int64_t>(loop.bytes() / bytes_per_task, 1, items);
  for (std::int64_t t = 0; t < tasks; ++t)
    work.tasks.push_back({work.planes.size() - 1, items * t / tasks, items * (t + 1) / tasks});
}

/// Long runs in few rows are cut, so that every thread gets a part.
void add_loop(Work& work, const CopyLoop& loop, std::int64_t bytes_per_task) {
  const auto piece = std::max((bytes_per_task + 63) / 64 * 64, serial_bytes);
  for (std::int64_t begin = 0; begin < loop.run; begin += piece) {
    CopyLoop part = loop;
    part.source += begin;
    part.destination += begin;
    part.run = std::min(piece, loop.run - begin);
    add_tasks(work, part, bytes_per_task);
  }
}

/// The work is shared with the kernel, which may outlive the call in an asynchronous host backend.
struct HostCopy {
  std::shared_ptr<const Work> work;

  void operator()(std::int64_t i) const {
    const auto& task = work->tasks[static_cast<std::size_t>(i)];
    copy_items(work->planes[task.planes], task.first, task.last);
  }
};

}  // namespace

void copy_on_host(const Execution& execution, std::span<const CopyLoop> loops) {
  std::int64_t bytes = 0;
  for (const auto& loop : loops) bytes += loop.bytes();
  const auto instance = host_instance(execution);
  if (bytes < serial_bytes) {
    instance.fence("tessera::detail::copy: before work on the calling thread");
    for (const auto& loop : loops) {
      const auto all = planes(loop);
      copy_items(all, 0, all.outer.items());
    }
    return;
  }
  const auto threads = static_cast<std::int64_t>(instance.concurrency());
  const auto bytes_per_task = std::max(serial_bytes, threads == 1 ? bytes : bytes / (4 * threads));
  auto work = std::make_shared<Work>();
  for (const auto& loop : loops) add_loop(*work, loop, bytes_per_task);
  using Policy =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>,
                          Kokkos::Schedule<Kokkos::Dynamic>>;
  Kokkos::parallel_for("tessera::detail::copy",
                       Policy(instance, 0, static_cast<std::int64_t>(work->tasks.size())),
                       HostCopy{work});
}

}  // namespace tessera::detail
