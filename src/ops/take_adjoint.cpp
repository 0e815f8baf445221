// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/ops/detail/elementwise_kernel.hpp>
#include <tessera/ops/detail/take_adjoint.hpp>

#include "kernels/elementwise.hpp"
#include "kernels/number_types.hpp"
#include "ops/elementwise_function.hpp"
#include "ops/index_values.hpp"

namespace tessera::detail {
namespace {

Extents take_adjoint_shape_of_call(const OperatorCall& call) {
  return call.integers("table");
}

/// Returns the dim of the gradient dy in which dim `d` of the table lies. Expects another dim than
/// `dim`.
std::size_t gradient_dim(std::size_t d, std::size_t dim, std::size_t index_dims) {
  return d < dim ? d : d + index_dims - 1;
}

/// Lists the rules: what is split along another dim of the table stays split; where the indices are
/// split each rank adds what it has; and contributions stay contributions, as sums are linear.
std::vector<OperatorRule> take_adjoint_rules_of_call(const OperatorCall& call) {
  const auto dim = static_cast<std::size_t>(call.integers("dim").front());
  const auto index_dims = static_cast<std::size_t>(call.tensor_dims(1));
  std::vector<OperatorRule> rules;
  for (std::size_t d = 0; d < call.shape.size(); ++d)
    if (d != dim)
      rules.push_back({Shard(static_cast<int>(d)),
                       {Shard(static_cast<int>(gradient_dim(d, dim, index_dims))), Replicate()}});
  for (std::size_t d = 0; d < index_dims; ++d)
    rules.push_back({Partial(), {Shard(static_cast<int>(dim + d)), Shard(static_cast<int>(d))}});
  for (const auto op : {ReduceOp::sum, ReduceOp::avg})
    rules.push_back({Partial(op), {Partial(op), Replicate()}});
  rules.push_back({Replicate(), {Replicate(), Replicate()}});
  return rules;
}

constexpr OperatorInfo take_adjoint_operator{"take", "take_adjoint", "tessera::take_adjoint",
                                             take_adjoint_shape_of_call,
                                             take_adjoint_rules_of_call};

/// Finds the rows of this rank that indices name.
struct OwnRows {
  const std::byte* indices;  ///< elements are int64
  std::int64_t extent;       ///< global extent of the dim that is indexed
  IndexMap map;              ///< what this rank has of it

  /// Returns the local row that the index at `offset` bytes names; -1 if this rank lacks it.
  KOKKOS_FUNCTION std::int64_t find(std::int64_t offset) const {
    const auto index = *reinterpret_cast<const std::int64_t*>(indices + offset);
    return map.local_index(index < 0 ? index + extent : index);
  }
};

/// Describes one call. The sums, which become the result, may have a wider type than the gradient.
struct RowAddition {
  ArrayRef gradient;
  ArrayRef indices;
  ArrayRef sums;
  OwnRows rows;
  std::size_t dim;     ///< dim of the sums that is indexed
  std::int64_t parts;  ///< number of parts of an element: 2 of complex numbers

  std::int64_t row_stride() const { return sums.strides[dim] * sums.type.size; }
  bool is_of_indices(std::size_t d) const { return d >= dim && d < dim + indices.extents.size(); }
};

/// Adds rows on the host. One item is a part of each row; it goes through all indices in their
/// order, so that sums do not depend on the number of threads. Strides are in bytes.
template <class T, class Sum>
struct AddRowsOnHost {
  OwnRows rows;
  const std::byte* gradient;
  std::byte* sums;
  std::int64_t row_stride;
  Loops columns;                            ///< loops over the elements of a row
  std::array<LoopArray, 2> column_strides;  ///< strides of the sums and of the gradient
  Loops indices;
  std::array<LoopArray, 2> index_strides;  ///< strides of the gradient and of the indices

  void operator()(std::int64_t i) const {
    const auto column = columns.item(i);
    const auto* const from = gradient + columns.offset(column, column_strides[1]);
    auto* const to = sums + columns.offset(column, column_strides[0]);
    const int inner = indices.ndims - 1;
    auto at = indices.item(0);
    for (auto left = indices.items(); left > 0; --left, indices.advance(at)) {
      const auto* const first = from + indices.offset(at, index_strides[0]);
      const auto index = indices.offset(at, index_strides[1]);
      for (std::int64_t k = 0; k < at.length; ++k) {
        const auto row = rows.find(index + k * index_strides[1][inner]);
        if (row >= 0)
          add(first + k * index_strides[0][inner], to + row * row_stride, column.length);
      }
    }
  }

 private:
  void add(const std::byte* from, std::byte* to, std::int64_t length) const {
    const int inner = columns.ndims - 1;
    const auto from_step = column_strides[1][inner], to_step = column_strides[0][inner];
    if (from_step == std::int64_t{sizeof(T)} && to_step == std::int64_t{sizeof(Sum)})
      return add_dense(reinterpret_cast<const T*>(from), reinterpret_cast<Sum*>(to), length);
    for (std::int64_t k = 0; k < length; ++k)
      *reinterpret_cast<Sum*>(to + k * to_step) +=
          static_cast<Sum>(*reinterpret_cast<const T*>(from + k * from_step));
  }

  static void add_dense(const T* from, Sum* to, std::int64_t length) {
    TESSERA_INDEPENDENT_ITERATIONS
    for (std::int64_t k = 0; k < length; ++k) to[k] += static_cast<Sum>(from[k]);
  }
};

/// Adds one element of the gradient on a device. Strides are in bytes.
template <class T, class Sum>
struct AddElementOnDevice {
  DeviceLoops loops;
  OwnRows rows;
  const std::byte* gradient;
  std::byte* sums;
  std::int64_t row_stride;
  std::int64_t parts;
  LoopArray gradient_strides;
  LoopArray sum_strides;    ///< 0 along the dims of the indices
  LoopArray index_strides;  ///< 0 along the other dims

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t in_gradient = 0, in_sums = 0, in_indices = 0;
    loops.at(i, [&](int d, std::int64_t index) {
      in_gradient += index * gradient_strides[d];
      in_sums += index * sum_strides[d];
      in_indices += index * index_strides[d];
    });
    const auto row = rows.find(in_indices);
    if (row < 0) return;
    const auto* const from = reinterpret_cast<const T*>(gradient + in_gradient);
    auto* const to = reinterpret_cast<Sum*>(sums + in_sums + row * row_stride);
    for (std::int64_t p = 0; p < parts; ++p) Kokkos::atomic_add(to + p, static_cast<Sum>(from[p]));
  }
};

/// Returns how many elements of a row the host adds at a time: one where those of a column are
/// nearer in memory, else as many as give each thread a part.
std::int64_t columns_at_a_time(const Execution& execution, const RowAddition& call,
                               const Extents& columns, const Extents& strides) {
  if (columns.empty()) return 1;
  const auto last = columns.size() - 1;
  if (call.row_stride() < strides[last]) return 1;
  const bool is_shared = is_for_threads(execution, call.gradient.bytes());
  const std::int64_t threads =
      is_shared ? execution.instance<MemorySpace::host>().concurrency() : 1;
  constexpr std::int64_t least = 8;  // a cache line of doubles
  return std::max(least, (columns[last] + threads - 1) / threads);
}

template <class T, class Sum>
void add_rows_on_host(const Execution& execution, const RowAddition& call) {
  const auto& [gradient, indices, sums, rows, dim, parts] = call;
  Extents columns;
  std::array<Extents, 2> column_strides;
  for (std::size_t d = 0; d < sums.extents.size(); ++d) {
    if (d == dim) continue;
    const auto from = gradient_dim(d, dim, indices.extents.size());
    columns.push_back(sums.extents[d]);
    column_strides[0].push_back(sums.strides[d] * sums.type.size);
    column_strides[1].push_back(gradient.strides[from] * gradient.type.size);
  }
  columns.push_back(parts);
  column_strides[0].push_back(sizeof(Sum));
  column_strides[1].push_back(sizeof(T));
  simplify(columns, column_strides);

  auto all_indices = indices.extents;
  std::array<Extents, 2> index_strides;
  for (std::size_t d = 0; d < all_indices.size(); ++d) {
    index_strides[0].push_back(gradient.strides[dim + d] * gradient.type.size);
    index_strides[1].push_back(indices.strides[d] * indices.type.size);
  }
  join_dims(all_indices, index_strides);
  const auto longest = all_indices.empty() ? 1 : all_indices[all_indices.size() - 1];

  const AddRowsOnHost<T, Sum> kernel{
      rows,
      gradient.data,
      sums.data,
      call.row_stride(),
      make_loops(columns, columns_at_a_time(execution, call, columns, column_strides[0])),
      {loop_strides(column_strides[0]), loop_strides(column_strides[1])},
      make_loops(all_indices, longest),
      {loop_strides(index_strides[0]), loop_strides(index_strides[1])}};
  launch_on_host(execution, take_adjoint_operator.label, kernel.columns.items(), gradient.bytes(),
                 kernel);
}

template <class T, class Sum>
void add_rows_on_device(const Execution& execution, const RowAddition& call) {
  const auto& [gradient, indices, sums, rows, dim, parts] = call;
  auto extents = gradient.extents;
  std::array<Extents, 3> strides;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const bool is_index = call.is_of_indices(d);
    const auto in_sums = d < dim ? d : d + 1 - indices.extents.size();
    strides[0].push_back(gradient.strides[d] * gradient.type.size);
    strides[1].push_back(is_index ? 0 : sums.strides[in_sums] * sums.type.size);
    strides[2].push_back(is_index ? indices.strides[d - dim] * indices.type.size : 0);
  }
  simplify(extents, strides);
  launch_on_device(execution, take_adjoint_operator.label, gradient.size(),
                   AddElementOnDevice<T, Sum>{DeviceLoops(extents), rows, gradient.data, sums.data,
                                              call.row_stride(), parts, loop_strides(strides[0]),
                                              loop_strides(strides[1]), loop_strides(strides[2])});
}

/// Sets the sums to 0, and adds the elements.
template <class T, class Sum>
void add_rows(const Execution& execution, const RowAddition& call) {
  const auto& sums = call.sums;
  const auto numbers =
      row_major(sums.data, element_type<Sum>(), {sums.size() * call.parts}, sums.space);
  for_each_element(execution, take_adjoint_operator.label, numbers, Assign<Sum>{Sum(0)});
  if (call.gradient.size() == 0) return;
  if (!is_on_device(sums.space))
    add_rows_on_host<T, Sum>(execution, call);
  else if constexpr (has_device && is_device_number<T>)
    add_rows_on_device<T, Sum>(execution, call);
}

/// Returns the kind of the parts of a number.
ElementKind part_kind(ElementKind kind) {
  if (kind == ElementKind::complex64) return ElementKind::float32;
  if (kind == ElementKind::complex128) return ElementKind::float64;
  return kind == ElementKind::complex_long_double ? ElementKind::long_double : kind;
}

}  // namespace

const OperatorInfo& take_adjoint_info() {
  return take_adjoint_operator;
}

void run_take_adjoint(const Execution& execution, const DeviceMesh* mesh, const ArrayRef& gradient,
                      const ArrayRef& indices, const Sections& rows, std::int64_t extent,
                      std::int64_t dim, const ArrayRef& result) {
  if (result.size() == 0) return;
  const auto* const label = take_adjoint_operator.label;
  const auto kind = result.type.kind;
  Temporaries temporaries(execution, mesh);
  const auto values = index_values(execution, temporaries, indices, label);
  RowAddition call{gradient,
                   values.array,
                   result,
                   {values.array.data, extent, IndexMap(rows)},
                   static_cast<std::size_t>(dim),
                   is_complex(kind) ? 2 : 1};
  with_floating_type(part_kind(kind), [&]<class T>(std::type_identity<T>) {
    if constexpr (is_computed_as_float<T>) {
      const auto wide =
          temporaries.allocate(element_type<float>(), result.extents, result.space, label);
      call.sums = wide.array;
      add_rows<T, float>(execution, call);
      copy(execution, wide.array, result);
    } else {
      add_rows<T, T>(execution, call);
    }
  });
  finish_host(execution);
  temporaries.finish();
}

DTensorSpec with_own_rows(const DTensorSpec& sums, const DTensorSpec& table, std::int64_t dim) {
  std::vector<Placement> placements(sums.placements().begin(), sums.placements().end());
  auto positions = sums.placements().split_positions();
  for (std::size_t m = 0; m < placements.size(); ++m) {
    const auto& wanted = table.placements()[m];
    if (!wanted.is_shard(static_cast<int>(dim))) continue;
    if (!placements[m].is_replicate()) return sums;
    placements[m] = wanted;
    positions[m] = table.placements().split_position(static_cast<int>(m));
  }
  auto boundaries = sums.boundaries();
  if (!table.boundaries().empty()) {
    const auto at = static_cast<std::size_t>(dim);
    boundaries.resize(sums.shape().size());
    boundaries[at] = table.boundaries()[at];
  }
  return make_spec(sums.layout(), Placements(placements, positions), sums.shape(), boundaries);
}

}  // namespace tessera::detail
