// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <tessera/tensor/detail/launch.hpp>

#include "kernels/copy_plan.hpp"
#include "kernels/non_temporal_copy.hpp"
#include "kernels/tuning.hpp"

namespace tessera::detail {
namespace {

void move_to_back(Extents& values, std::size_t dim) {
  std::rotate(values.begin() + dim, values.begin() + dim + 1, values.end());
}

std::size_t smallest_stride(const Extents& strides) {
  const auto* smallest =
      std::min_element(strides.begin(), strides.end(),
                       [](std::int64_t a, std::int64_t b) { return std::abs(a) < std::abs(b); });
  return static_cast<std::size_t>(smallest - strides.begin());
}

template <std::int64_t Bytes>
struct FixedMove {
  static constexpr std::int64_t bytes() { return Bytes; }
  void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, Bytes); }
};

struct AnyMove {
  std::int64_t run;
  std::int64_t bytes() const { return run; }
  void operator()(std::byte* to, const std::byte* from) const {
    std::memcpy(to, from, static_cast<std::size_t>(run));
  }
};

struct NonTemporalMove {
  std::int64_t run;
  std::int64_t ahead;
  std::int64_t bytes() const { return run; }
  void operator()(std::byte* to, const std::byte* from) const {
    non_temporal_copy(to, from, run, ahead);
  }
};

/// Describes the 2-D copy of one item: rows by columns of runs.
struct Copy2d {
  const std::byte* from;
  std::byte* to;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t from_row;
  std::int64_t from_column;
  std::int64_t to_row;
  std::int64_t to_column;
  std::int64_t columns_ahead;

  Copy2d part(std::int64_t row, std::int64_t column, std::int64_t edge) const {
    Copy2d result = *this;
    result.from += row * from_row + column * from_column;
    result.to += row * to_row + column * to_column;
    result.rows = std::min(edge, rows - row);
    result.columns = std::min(edge, columns - column);
    return result;
  }
};

/// Returns how many columns ahead runs are prefetched; `columns` means none. Runs of large copies
/// are prefetched if they are some cache lines long, but end before the processor has recognised a
/// stream in them.
std::int64_t columns_ahead(const CopyLoop& copy, std::int64_t columns) {
  const bool is_fetched = copy.run >= least_prefetched_run && copy.run <= most_prefetched_run &&
                          copy.bytes() >= least_prefetched_bytes;
  return is_fetched ? prefetch_distance / copy.run : columns;
}

void prefetch(const std::byte* run, std::int64_t bytes) {
  for (std::int64_t line = 0; line < bytes; line += cache_line) __builtin_prefetch(run + line);
}

/// Calls each(run) for columns first … last - 1 of a row, and prefetches the runs ahead.
template <class Each>
void read_row(const Copy2d& copy, std::int64_t row, std::int64_t first, std::int64_t last,
              std::int64_t run_bytes, Each each) {
  const auto* run = copy.from + row * copy.from_row + first * copy.from_column;
  for (auto column = first; column < last; ++column, run += copy.from_column) {
    if (column + copy.columns_ahead < copy.columns)
      prefetch(run + copy.columns_ahead * copy.from_column, run_bytes);
    each(run);
  }
}

template <class Move>
void copy_rows(const Copy2d& copy, Move move) {
  for (std::int64_t row = 0; row < copy.rows; ++row) {
    auto* to = copy.to + row * copy.to_row;
    read_row(copy, row, 0, copy.columns, move.bytes(), [&](const std::byte* run) {
      move(to, run);
      to += copy.to_column;
    });
  }
}

/// Copies runs that are too short for non-temporal stores one by one, but contiguous in the
/// destination: gathers them in a buffer, which is then written with non-temporal stores.
template <class Move>
void copy_gathered_rows(const Copy2d& copy, Move move) {
  alignas(cache_line) std::byte buffer[gathered_bytes];
  const auto most = gathered_bytes / move.bytes();
  for (std::int64_t row = 0; row < copy.rows; ++row)
    for (std::int64_t first = 0; first < copy.columns; first += most) {
      const auto last = std::min(first + most, copy.columns);
      auto* to = buffer;
      read_row(copy, row, first, last, move.bytes(), [&](const std::byte* run) {
        move(to, run);
        to += move.bytes();
      });
      non_temporal_copy(copy.to + row * copy.to_row + first * move.bytes(), buffer,
                        (last - first) * move.bytes(), 0);
    }
}

template <class Move>
inline void transpose_block(const Copy2d& block, std::int64_t rows, std::int64_t columns,
                            std::int64_t edge, Move move) {
  alignas(cache_line) std::byte buffer[cache_line * cache_line];
  const auto buffer_column = edge * move.bytes();
  for (std::int64_t column = 0; column < columns; ++column)
    for (std::int64_t row = 0; row < rows; ++row)
      move(buffer + column * buffer_column + row * move.bytes(),
           block.from + row * block.from_row + column * block.from_column);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      move(block.to + row * block.to_row + column * block.to_column,
           buffer + column * buffer_column + row * move.bytes());
}

/// Transposes one block. Full blocks have loops of constant lengths, which are unrolled.
template <class Move>
void transpose_block(const Copy2d& block, std::int64_t edge, Move move) {
  if (block.rows == edge && block.columns == edge)
    transpose_block(block, edge, edge, edge, move);
  else
    transpose_block(block, block.rows, block.columns, edge, move);
}

/// Transposes in tall and narrow tiles, so that the source is read along rows in few long streams.
template <class Move>
void transpose_rows(const Copy2d& copy, Move move) {
  // std::max takes a copy of the constant: with a reference to it, g++ 12 does not see that `edge`
  // is constant, too.
  const auto edge = std::max(std::int64_t{least_block_edge}, cache_line / move.bytes());
  for (std::int64_t first = 0; first < copy.columns; first += 2 * edge) {
    const auto last = std::min(copy.columns, first + 2 * edge);
    for (std::int64_t column = first; column < last; column += edge)
      for (std::int64_t row = 0; row < copy.rows; row += edge)
        transpose_block(copy.part(row, column, edge), edge, move);
  }
}

/// Returns how far ahead the source is prefetched for non-temporal stores, bytes. Short runs are
/// prefetched as a whole before, see read_row(), and give 0.
std::int64_t bytes_ahead(const CopyPlan& plan) {
  constexpr std::int64_t page = 4096;
  if (plan.run <= most_prefetched_run) return 0;
  return plan.run <= page && plan.columns > 1 ? plan.source_column_stride : within_run;
}

enum class Path : std::uint8_t { rows, gathered_rows, transposed };

Path path_of(const CopyPlan& plan) {
  if (plan.is_transposing) return Path::transposed;
  const bool is_gathered = plan.stores == Stores::non_temporal &&
                           plan.run < least_non_temporal_run &&
                           plan.destination_column_stride == plan.run &&
                           plan.columns * plan.run >= least_non_temporal_run;
  return is_gathered ? Path::gathered_rows : Path::rows;
}

template <class Move>
void copy_items(const CopyPlan& plan, std::int64_t first, std::int64_t last, Move move) {
  const auto path = path_of(plan);
  const auto row_dim = plan.rows.ndims - 1;
  for (auto i = first; i < last; ++i) {
    const auto item = plan.rows.item(i);
    const Copy2d copy{plan.source + plan.rows.offset(item, plan.source_strides),
                      plan.destination + plan.rows.offset(item, plan.destination_strides),
                      item.length,
                      plan.columns,
                      plan.source_strides[row_dim],
                      plan.source_column_stride,
                      plan.destination_strides[row_dim],
                      plan.destination_column_stride,
                      plan.columns_ahead};
    if (path == Path::transposed)
      transpose_rows(copy, move);
    else if (path == Path::gathered_rows)
      copy_gathered_rows(copy, move);
    else
      copy_rows(copy, move);
  }
  if (plan.stores == Stores::non_temporal) fence_non_temporal_stores();
}

}  // namespace

CopyPlan make_copy_plan(const CopyLoop& copy) {
  CopyPlan plan;
  plan.source = copy.source;
  plan.destination = copy.destination;
  plan.run = copy.run;
  plan.stores = copy.stores;
  CopyLoop rows = copy;
  if (!rows.extents.empty()) {
    plan.columns = rows.extents.pop_back();
    plan.source_column_stride = rows.source_strides.pop_back();
    plan.destination_column_stride = rows.destination_strides.pop_back();
  }
  plan.columns_ahead = columns_ahead(copy, plan.columns);
  if (!rows.extents.empty()) {
    const auto dim = smallest_stride(rows.source_strides);
    plan.is_transposing = copy.run <= cache_line &&
                          std::abs(rows.source_strides[dim]) < std::abs(plan.source_column_stride);
    move_to_back(rows.extents, dim);
    move_to_back(rows.source_strides, dim);
    move_to_back(rows.destination_strides, dim);
  }
  const auto rows_per_item = std::max<std::int64_t>(1, bytes_per_item / (plan.columns * copy.run));
  plan.rows = make_loops(rows.extents, plan.is_transposing ? tile_rows : rows_per_item);
  plan.source_strides = loop_strides(rows.source_strides);
  plan.destination_strides = loop_strides(rows.destination_strides);
  return plan;
}

void run_copy_plan(const CopyPlan& plan, std::int64_t first, std::int64_t last) {
  const auto copy_by = [&](auto move) { copy_items(plan, first, last, move); };
  if (plan.stores == Stores::non_temporal && plan.run >= least_non_temporal_run)
    return copy_by(NonTemporalMove{plan.run, bytes_ahead(plan)});
  switch (plan.run) {
    case 1:
      return copy_by(FixedMove<1>());
    case 2:
      return copy_by(FixedMove<2>());
    case 4:
      return copy_by(FixedMove<4>());
    case 8:
      return copy_by(FixedMove<8>());
    case 12:
      return copy_by(FixedMove<12>());
    case 16:
      return copy_by(FixedMove<16>());
    case 24:
      return copy_by(FixedMove<24>());
    case 32:
      return copy_by(FixedMove<32>());
    default:
      return copy_by(AnyMove{plan.run});
  }
}

bool PreparedCopy::run(const Execution& execution, const std::byte* source, std::byte* destination,
                       Stores stores) {
  if (is_for_threads(execution, bytes_)) return false;
  finish_host(execution);
  plan_.source = source;
  plan_.destination = destination;
  plan_.stores = stores;
  run_copy_plan(plan_, 0, plan_.rows.items());
  return true;
}

}  // namespace tessera::detail
