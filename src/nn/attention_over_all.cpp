// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <Kokkos_Core.hpp>

#include <tessera/tensor/detail/owned_array.hpp>

#include "kernels/pack.hpp"
#include "nn/attention_arrays.hpp"
#include "nn/attention_kernels.hpp"
#include "ops/product.hpp"
#include "ops/softmax_function.hpp"

namespace tessera::detail {
namespace {

/// Says where the rows of a tile lie among the rows of all queries. An item is a row of the tile of some batch and
/// head.
struct TileRows {
  std::int64_t rows, all_rows, first;
  std::int64_t keys, first_key;
  const std::int64_t* counts;  ///< number of keys that each query sees; null if all see all

  KOKKOS_FUNCTION std::int64_t query(std::int64_t item) const { return first + item % rows; }
  KOKKOS_FUNCTION std::int64_t number(std::int64_t item) const {
    return item / rows * all_rows + query(item);
  }
  KOKKOS_FUNCTION std::int64_t visible(std::int64_t item) const {
    if (counts == nullptr) return keys;
    const auto seen = counts[query(item)] - first_key;
    return seen < keys ? seen : keys;
  }
};

/// Replaces the scores of a query by weights, and updates its maximum, its sum of weights and its result.
template <class T, class Space>
struct WeighRow {
  TileRows tile;
  T* scores;
  T* maxima;
  T* sums;
  RowsRef<T> result;
  T scale;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<Space>::member_type& team) const {
    const std::int64_t item = team.league_rank();
    const auto number = tile.number(item);
    const auto visible = tile.visible(item);
    T* const row = scores + item * tile.keys;
    T* const out = result.row(number);
    const T before = maxima[number];
    T here = -Kokkos::Experimental::infinity_v<T>;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, visible),
        [&](std::int64_t j, T& largest) {
          const T score = row[j] * scale;
          if (score > largest) largest = score;
        },
        Kokkos::Max<T>(here));
    const T after = before > here ? before : here;
    const T shift = shift_of(after);
    const T factor = Kokkos::exp(before - shift);
    T added = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, tile.keys),
        [&](std::int64_t j, T& sum) {
          row[j] = j < visible ? Kokkos::exp(row[j] * scale - shift) : T(0);
          sum += row[j];
        },
        added);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, result.columns),
                         [&](std::int64_t j) { out[j * result.column_stride] *= factor; });
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      maxima[number] = after;
      sums[number] = sums[number] * factor + added;
    });
  }
};

/// Turns the scores of a query into weights, and gradients of weights into those of products of queries and keys.
template <class T, class Space>
struct DifferentiateRow {
  TileRows tile;
  T* weights;
  T* changes;
  const T* log_sums;
  const T* mean_changes;
  T scale;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<Space>::member_type& team) const {
    const std::int64_t item = team.league_rank();
    const auto number = tile.number(item);
    const auto visible = tile.visible(item);
    T* const w = weights + item * tile.keys;
    T* const c = changes + item * tile.keys;
    const T log_sum = shift_of(log_sums[number]), mean = mean_changes[number];
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tile.keys), [&](std::int64_t j) {
      w[j] = j < visible ? Kokkos::exp(w[j] * scale - log_sum) : T(0);
      c[j] = w[j] * (c[j] - mean) * scale;
    });
  }
};

ArrayRef transposed_matrices(ArrayRef array) {
  std::swap(array.extents[2], array.extents[3]);
  std::swap(array.strides[2], array.strides[3]);
  return array;
}

/// Returns the edge of tiles whose scores for this number of batches and heads are within the limit.
std::int64_t rows_at_once(std::int64_t matrices) {
  auto rows = rows_at_once_of_all;
  while (rows > least_rows_at_once_of_all && matrices * rows * rows > most_scores_of_all) rows /= 2;
  return rows;
}

/// Holds the memory of a call: scores of tiles, and the numbers of visible keys where the kernels read them.
class TilesOfAll {
 public:
  TilesOfAll(const Execution& execution, const VisibleKeys& visible, const ArrayRef& queries,
             int tiles)
      : execution_(execution),
        visible_(visible),
        queries_(queries),
        at_once_(rows_at_once(matrices_of(queries))) {
    const auto rows = std::min(at_once_, visible.queries());
    const auto keys = std::min(at_once_, visible.keys());
    for (int i = 0; i < tiles; ++i)
      scores_[i] = allocate_array(queries.type, {matrices_of(queries) * rows * keys}, queries.space,
                                  attention_label);
    if (visible.counts().empty()) return;
    constexpr auto type = element_type<std::int64_t>();
    auto* const counts = const_cast<std::int64_t*>(visible.counts().data());
    const auto host = row_major(reinterpret_cast<std::byte*>(counts), type, {visible.queries()},
                                MemorySpace::host);
    counts_ = allocate_array(type, host.extents, queries.space, attention_label);
    copy(execution, host, counts_.array);
  }

  /// Returns the scores of a tile as an array in row-major order.
  ArrayRef scores(int number, const ScoreTile& tile) const {
    return row_major(
        scores_[number].array.data, queries_.type,
        {queries_.extents[0], queries_.extents[1], tile.queries.size(), tile.keys.size()},
        queries_.space);
  }
  TileRows rows(const ScoreTile& tile) const {
    return {tile.queries.size(),
            queries_.extents[2],
            tile.queries.begin,
            tile.keys.size(),
            tile.keys.begin,
            counts_.memory ? reinterpret_cast<const std::int64_t*>(counts_.array.data) : nullptr};
  }

  /// Calls run(tile) for all tiles, and between() between parts of them.
  template <class Run>
  void for_each(const AttentionSettings& settings, const Run& run) const {
    for_each_part(
        visible_.queries(), at_once_, settings.parts,
        [&](Interval part) {
          for (auto begin = part.begin; begin < part.end; begin += at_once_)
            visible_.for_each_tile({begin, std::min(begin + at_once_, part.end)}, at_once_, run);
        },
        settings.between);
    // The memory is freed.
    if (is_on_device(queries_.space))
      execution_.fence(attention_label);
    else
      finish_host(execution_);
  }

 private:
  const Execution& execution_;
  const VisibleKeys& visible_;
  const ArrayRef& queries_;
  std::int64_t at_once_;  ///< edge of tiles, rows
  OwnedArray scores_[2];
  OwnedArray counts_;
};

template <class Space, class Kernel>
void launch_teams(const Space& space, std::int64_t teams, const Kernel& kernel) {
  Kokkos::parallel_for(attention_label,
                       Kokkos::TeamPolicy<Space>(space, static_cast<int>(teams), Kokkos::AUTO),
                       kernel);
}

/// Calls function(instance, std::type_identity<Space>{}) with the instance that works on the memory.
template <class Function>
void with_instance(const Execution& execution, MemorySpace space, const Function& function) {
  if (!is_on_device(space)) return function(execution.instance<MemorySpace::host>());
  if constexpr (has_device) function(execution.instance<MemorySpace::device>());
}

template <class T>
T* elements_in(const ArrayRef& array) {
  return reinterpret_cast<T*>(array.data);
}

}  // namespace

void attend_over_all(const Execution& execution, const AttentionSettings& settings,
                     const AttentionRows& rows, const ArrayRef& keys, const ArrayRef& values,
                     const VisibleKeys& visible) {
  const TilesOfAll tiles(execution, visible, rows.queries, 1);
  tiles.for_each(settings, [&](const ScoreTile& tile) {
    const auto scores = tiles.scores(0, tile);
    multiply(execution, nullptr, rows_of_all(rows.queries, tile.queries),
             transposed_matrices(rows_of_all(keys, tile.keys)), false, scores);
    with_attention_type(scores.type, [&]<class T>(std::type_identity<T>) {
      with_instance(execution, scores.space, [&]<class Space>(const Space& space) {
        const WeighRow<T, Space> kernel{
            tiles.rows(tile),          elements_in<T>(scores),  elements_in<T>(rows.maxima),
            elements_in<T>(rows.sums), RowsRef<T>(rows.result), static_cast<T>(settings.scale)};
        launch_teams(space, matrices_of(scores) * tile.queries.size(), kernel);
      });
    });
    multiply(execution, nullptr, scores, rows_of_all(values, tile.keys), true,
             rows_of_all(rows.result, tile.queries));
  });
}

void attend_adjoint_over_all(const Execution& execution, const AttentionSettings& settings,
                             const AttentionAdjointRows& rows, const ArrayRef& keys,
                             const ArrayRef& values, const ArrayRef& key_gradient,
                             const ArrayRef& value_gradient, const VisibleKeys& visible) {
  const TilesOfAll tiles(execution, visible, rows.queries, 2);
  tiles.for_each(settings, [&](const ScoreTile& tile) {
    const auto weights = tiles.scores(0, tile), changes = tiles.scores(1, tile);
    const auto q = rows_of_all(rows.queries, tile.queries);
    const auto dy = rows_of_all(rows.start, tile.queries);
    const auto k = rows_of_all(keys, tile.keys);
    multiply(execution, nullptr, q, transposed_matrices(k), false, weights);
    multiply(execution, nullptr, dy, transposed_matrices(rows_of_all(values, tile.keys)), false,
             changes);
    with_attention_type(weights.type, [&]<class T>(std::type_identity<T>) {
      with_instance(execution, weights.space, [&]<class Space>(const Space& space) {
        const DifferentiateRow<T, Space> kernel{tiles.rows(tile),
                                                elements_in<T>(weights),
                                                elements_in<T>(changes),
                                                elements_in<const T>(rows.log_sums),
                                                elements_in<const T>(rows.mean_changes),
                                                static_cast<T>(settings.scale)};
        launch_teams(space, matrices_of(weights) * tile.queries.size(), kernel);
      });
    });
    multiply(execution, nullptr, transposed_matrices(weights), dy, true,
             rows_of_all(value_gradient, tile.keys));
    multiply(execution, nullptr, transposed_matrices(changes), q, true,
             rows_of_all(key_gradient, tile.keys));
    multiply(execution, nullptr, changes, k, true, rows_of_all(rows.gradient, tile.queries));
  });
}

}  // namespace tessera::detail
