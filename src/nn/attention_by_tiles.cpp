// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <tessera/tensor/detail/owned_array.hpp>

#include "nn/attention_arrays.hpp"
#include "nn/attention_kernels.hpp"
#include "ops/blas.hpp"
#include "ops/softmax_function.hpp"

namespace tessera::detail {
namespace {

/// Computes c = a b, or c = c + a b.
void multiply_tile(ElementType type, const MatrixRef& a, const MatrixRef& b, bool adds,
                   const MatrixRef& c) {
  if (c.rows == 0 || c.columns == 0) return;
  if (a.columns > 0) return multiply_by_blas(type, a, b, adds, c);
  if (adds) return;
  for (std::int64_t i = 0; i < c.rows; ++i)
    std::fill_n(c.data + i * c.row_stride * type.size, c.columns * type.size, std::byte{});
}

/// Replaces the scores of one query by weights, and updates its maximum and its sum of weights. Returns the
/// factor that the weights of the keys before get. Keys from `visible` on are not seen.
template <class T>
T weigh_scores(T* scores, std::int64_t visible, std::int64_t keys, T scale, T& maximum, T& sum) {
  constexpr int lanes = 4;
  T largest[lanes] = {maximum, maximum, maximum, maximum};
  std::int64_t j = 0;
  for (; j + lanes <= visible; j += lanes)
    for (int l = 0; l < lanes; ++l) largest[l] = std::max(largest[l], scores[j + l] * scale);
  for (; j < visible; ++j) largest[0] = std::max(largest[0], scores[j] * scale);
  const T after = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
  const T shift = shift_of(after);
  const T factor = std::exp(maximum - shift);
  T added = 0;
  for (j = 0; j < visible; ++j) {
    scores[j] = std::exp(scores[j] * scale - shift);
    added += scores[j];
  }
  std::fill(scores + visible, scores + keys, T(0));
  maximum = after;
  sum = sum * factor + added;
  return factor;
}

/// Returns the number of threads that share out the work.
std::int64_t threads_for_tiles(const Execution& execution) {
  if (!is_for_threads(execution, serial_bytes)) return 1;
  return execution.instance<MemorySpace::host>().concurrency();
}

/// Runs items `worker`, `worker` + `workers`, …, with memory of its own.
template <class Run>
struct TileWorker {
  const Run& run;
  std::byte* memory;
  std::int64_t bytes;  ///< memory of each worker
  std::int64_t items, workers;

  void operator()(std::int64_t worker) const {
    for (auto item = worker; item < items; item += workers) run(item, memory + worker * bytes);
  }
};

/// Calls run(item, memory) for all items, by all threads. Each thread has memory for `elements` elements.
template <class Run>
void run_tiles(const Execution& execution, ElementType type, std::int64_t items,
               std::int64_t elements, const Run& run) {
  const auto workers = std::min(items, threads_for_tiles(execution));
  const auto memory =
      allocate_array(type, {workers * elements}, MemorySpace::host, attention_label);
  launch_on_host(execution, attention_label, workers, serial_bytes,
                 TileWorker<Run>{run, memory.array.data, elements * type.size, items, workers});
  finish_host(execution);  // the memory is freed
}

/// Returns in how many parts the queries are computed: at most `wanted`, and so few that each part has a tile for
/// every thread.
std::int64_t parts_for_threads(const Execution& execution, std::int64_t tiles,
                               std::int64_t wanted) {
  return std::clamp(tiles / threads_for_tiles(execution), std::int64_t{1}, wanted);
}

/// Returns the scores of a tile as a matrix in row-major order.
MatrixRef scores_in(std::byte* memory, const ScoreTile& tile) {
  return {memory, tile.queries.size(), tile.keys.size(), tile.keys.size(), 1};
}

/// Returns the number of keys of the tile that a query sees.
std::int64_t seen_of_tile(const VisibleKeys& visible, const ScoreTile& tile, std::int64_t query) {
  const auto& counts = visible.counts();
  if (counts.empty()) return tile.keys.size();
  return std::min(counts[static_cast<std::size_t>(query)] - tile.keys.begin, tile.keys.size());
}

/// Computes attention of some queries of a batch and a head.
template <class T>
struct AttentionOfTile {
  const AttentionSettings& settings;
  const AttentionRows& rows;
  const ArrayRef &keys, &values;
  const VisibleKeys& visible;

  void run(std::int64_t matrix, Interval queries, std::byte* memory) const {
    visible.for_each_tile(queries, settings.keys_at_once, [&](const ScoreTile& tile) {
      const auto type = rows.queries.type;
      const auto scores = scores_in(memory, tile);
      multiply_tile(type, rows_of_matrix(rows.queries, matrix, tile.queries),
                    rows_of_matrix(keys, matrix, tile.keys).transposed(), false, scores);
      const auto result = rows_of_matrix(rows.result, matrix, tile.queries);
      for (std::int64_t i = 0; i < scores.rows; ++i) weigh(matrix, tile, i, scores, result);
      multiply_tile(type, scores, rows_of_matrix(values, matrix, tile.keys), true, result);
    });
  }

 private:
  void weigh(std::int64_t matrix, const ScoreTile& tile, std::int64_t i, const MatrixRef& scores,
             const MatrixRef& result) const {
    const auto query = tile.queries.begin + i;
    const auto number = matrix * rows.queries.extents[2] + query;
    const T factor =
        weigh_scores(reinterpret_cast<T*>(scores.data) + i * scores.row_stride,
                     seen_of_tile(visible, tile, query), scores.columns,
                     static_cast<T>(settings.scale), reinterpret_cast<T*>(rows.maxima.data)[number],
                     reinterpret_cast<T*>(rows.sums.data)[number]);
    if (factor == 1) return;
    auto* const row = reinterpret_cast<T*>(result.data) + i * result.row_stride;
    for (std::int64_t j = 0; j < result.columns; ++j) row[j * result.column_stride] *= factor;
  }
};

/// Says which gradients a pass over tiles computes.
struct AdjointPass {
  bool of_queries;
  bool of_keys;  ///< and of the values
};

/// Computes gradients of tiles of a batch and a head.
template <class T>
struct AdjointOfTile {
  const AttentionSettings& settings;
  const AttentionAdjointRows& rows;
  const ArrayRef &keys, &values, &key_gradient, &value_gradient;
  const VisibleKeys& visible;

  void run(std::int64_t matrix, const ScoreTile& tile, AdjointPass pass, std::byte* memory) const {
    const auto type = rows.queries.type;
    const auto weights = scores_in(memory, tile);
    const auto changes =
        scores_in(memory + tile.queries.size() * tile.keys.size() * type.size, tile);
    const auto q = rows_of_matrix(rows.queries, matrix, tile.queries);
    const auto dy = rows_of_matrix(rows.start, matrix, tile.queries);
    const auto k = rows_of_matrix(keys, matrix, tile.keys);
    multiply_tile(type, q, k.transposed(), false, weights);
    multiply_tile(type, dy, rows_of_matrix(values, matrix, tile.keys).transposed(), false, changes);
    for (std::int64_t i = 0; i < weights.rows; ++i)
      differentiate(matrix, tile, i, weights, changes);
    if (pass.of_keys) {
      multiply_tile(type, weights.transposed(), dy, true,
                    rows_of_matrix(value_gradient, matrix, tile.keys));
      multiply_tile(type, changes.transposed(), q, true,
                    rows_of_matrix(key_gradient, matrix, tile.keys));
    }
    if (pass.of_queries)
      multiply_tile(type, changes, k, true, rows_of_matrix(rows.gradient, matrix, tile.queries));
  }

 private:
  /// Turns scores into weights, and gradients of weights into those of products of queries and keys.
  void differentiate(std::int64_t matrix, const ScoreTile& tile, std::int64_t i,
                     const MatrixRef& weights, const MatrixRef& changes) const {
    const auto query = tile.queries.begin + i;
    const auto number = matrix * rows.queries.extents[2] + query;
    const auto visible_keys = seen_of_tile(visible, tile, query);
    const T log_sum = shift_of(reinterpret_cast<const T*>(rows.log_sums.data)[number]);
    const T mean = reinterpret_cast<const T*>(rows.mean_changes.data)[number];
    const auto scale = static_cast<T>(settings.scale);
    auto* const w = reinterpret_cast<T*>(weights.data) + i * weights.row_stride;
    auto* const c = reinterpret_cast<T*>(changes.data) + i * changes.row_stride;
    for (std::int64_t j = 0; j < visible_keys; ++j) w[j] = std::exp(w[j] * scale - log_sum);
    for (std::int64_t j = 0; j < visible_keys; ++j) c[j] = w[j] * (c[j] - mean) * scale;
    std::fill(w + visible_keys, w + weights.columns, T(0));
    std::fill(c + visible_keys, c + weights.columns, T(0));
  }
};

Interval tile_at(std::int64_t number, std::int64_t at_once, Interval whole) {
  return intersect({whole.begin + number * at_once, whole.begin + (number + 1) * at_once}, whole);
}

std::int64_t count_of_tiles(Interval whole, std::int64_t at_once) {
  return (whole.size() + at_once - 1) / at_once;
}

/// Adds the gradients for some queries: of all in one pass with a thread for each batch and head, or, where
/// these are fewer than the threads, in two passes, with a thread for each tile of keys, then of queries.
template <class T>
void add_gradients(const Execution& execution, const AttentionSettings& settings,
                   const AdjointOfTile<T>& tiles, Interval queries) {
  const auto& array = tiles.rows.queries;
  const auto count = matrices_of(array);
  const auto elements = 2 * settings.queries_at_once * settings.keys_at_once;
  const auto parts_of_queries = count_of_tiles(queries, settings.queries_at_once);
  const auto all_keys = Interval{0, tiles.visible.keys()};
  const auto parts_of_keys = count_of_tiles(all_keys, settings.keys_at_once);
  const auto run = [&](std::int64_t matrix, std::int64_t part, Interval of_keys, AdjointPass pass,
                       std::byte* memory) {
    const auto tile = tiles.visible.tile(tile_at(part, settings.queries_at_once, queries), of_keys);
    if (!tile.is_empty()) tiles.run(matrix, tile, pass, memory);
  };
  const auto keys_at = [&](std::int64_t part) {
    return tile_at(part, settings.keys_at_once, all_keys);
  };
  if (count >= threads_for_tiles(execution)) {
    run_tiles(execution, array.type, count, elements, [&](std::int64_t item, std::byte* memory) {
      for (std::int64_t i = 0; i < parts_of_queries; ++i)
        for (std::int64_t j = 0; j < parts_of_keys; ++j)
          run(item, i, keys_at(j), {true, true}, memory);
    });
    return;
  }
  run_tiles(execution, array.type, count * parts_of_keys, elements,
            [&](std::int64_t item, std::byte* memory) {
              for (std::int64_t i = 0; i < parts_of_queries; ++i)
                run(item / parts_of_keys, i, keys_at(item % parts_of_keys), {false, true}, memory);
            });
  run_tiles(
      execution, array.type, count * parts_of_queries, elements,
      [&](std::int64_t item, std::byte* memory) {
        for (std::int64_t j = 0; j < parts_of_keys; ++j)
          run(item / parts_of_queries, item % parts_of_queries, keys_at(j), {true, false}, memory);
      });
}

}  // namespace

void attend_by_tiles(const Execution& execution, const AttentionSettings& settings,
                     const AttentionRows& rows, const ArrayRef& keys, const ArrayRef& values,
                     const VisibleKeys& visible) {
  const BlasThreads one_each(execution, 1);
  finish_host(execution);
  const auto at_once = settings.queries_at_once;
  with_attention_type(rows.queries.type, [&]<class T>(std::type_identity<T>) {
    const AttentionOfTile<T> tiles{settings, rows, keys, values, visible};
    const auto run_part = [&](Interval part) {
      const auto count = count_of_tiles(part, at_once);
      run_tiles(execution, rows.queries.type, matrices_of(rows.queries) * count,
                at_once * settings.keys_at_once, [&](std::int64_t item, std::byte* memory) {
                  tiles.run(item / count, tile_at(item % count, at_once, part), memory);
                });
    };
    const auto tiles_of_all =
        matrices_of(rows.queries) * count_of_tiles({0, visible.queries()}, at_once);
    const auto parts = parts_for_threads(execution, tiles_of_all, settings.parts);
    for_each_part(visible.queries(), at_once, parts, run_part, settings.between);
  });
}

void attend_adjoint_by_tiles(const Execution& execution, const AttentionSettings& settings,
                             const AttentionAdjointRows& rows, const ArrayRef& keys,
                             const ArrayRef& values, const ArrayRef& key_gradient,
                             const ArrayRef& value_gradient, const VisibleKeys& visible) {
  const BlasThreads one_each(execution, 1);
  finish_host(execution);
  with_attention_type(rows.queries.type, [&]<class T>(std::type_identity<T>) {
    const AdjointOfTile<T> tiles{settings,     rows,           keys,   values,
                                 key_gradient, value_gradient, visible};
    const auto tiles_of_all = matrices_of(rows.queries) *
                              count_of_tiles({0, visible.queries()}, settings.queries_at_once);
    const auto parts = parts_for_threads(execution, tiles_of_all, settings.parts);
    for_each_part(
        visible.queries(), settings.queries_at_once, parts,
        [&](Interval part) { add_gradients(execution, settings, tiles, part); }, settings.between);
  });
}

}  // namespace tessera::detail
