// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>

#include "nn/attention_arrays.hpp"
#include "nn/attention_kernel.hpp"

namespace tessera::detail {
namespace {

template <class T>
struct BeginAttention {
  RowsRef<T> result;
  T* maxima;
  T* sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto* const row = result.row(i);
    for (std::int64_t j = 0; j < result.columns; ++j) row[j * result.column_stride] = 0;
    maxima[i] = -Kokkos::Experimental::infinity_v<T>;
    sums[i] = 0;
  }
};

template <class T>
struct FinishAttention {
  RowsRef<T> result;
  T* maxima;
  T* sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (sums[i] == 0) return;
    auto* const row = result.row(i);
    const auto factor = 1 / sums[i];
    for (std::int64_t j = 0; j < result.columns; ++j) row[j * result.column_stride] *= factor;
    maxima[i] += Kokkos::log(sums[i]);
  }
};

template <class T>
struct BeginAdjointOfAttention {
  RowsRef<T> start, result, gradient;
  T* mean_changes;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto *const a = start.row(i), *const b = result.row(i);
    T sum = 0;
    for (std::int64_t j = 0; j < start.columns; ++j)
      sum += a[j * start.column_stride] * b[j * result.column_stride];
    mean_changes[i] = sum;
    auto* const row = gradient.row(i);
    for (std::int64_t j = 0; j < gradient.columns; ++j) row[j * gradient.column_stride] = 0;
  }
};

template <class T>
struct SetToZero {
  T* data;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { data[i] = 0; }
};

template <class T>
T* attention_numbers(const ArrayRef& array) {
  return reinterpret_cast<T*>(array.data);
}

std::int64_t bytes_of_attention_row(const ArrayRef& array) {
  return array.extents[3] * array.type.size;
}

}  // namespace

void begin_attention(const Execution& execution, const AttentionRows& rows) {
  with_attention_type(rows.result.type, [&]<class T>(std::type_identity<T>) {
    const BeginAttention<T> kernel{RowsRef<T>(rows.result), attention_numbers<T>(rows.maxima),
                                   attention_numbers<T>(rows.sums)};
    launch_rows(execution, rows.result.space, attention_label, rows.maxima.size(),
                bytes_of_attention_row(rows.result), kernel);
  });
}

void finish_attention(const Execution& execution, const AttentionRows& rows) {
  with_attention_type(rows.result.type, [&]<class T>(std::type_identity<T>) {
    const FinishAttention<T> kernel{RowsRef<T>(rows.result), attention_numbers<T>(rows.maxima),
                                    attention_numbers<T>(rows.sums)};
    launch_rows(execution, rows.result.space, attention_label, rows.maxima.size(),
                bytes_of_attention_row(rows.result), kernel);
  });
}

void begin_adjoint_of_attention(const Execution& execution, const AttentionAdjointRows& rows,
                                const ArrayRef& result) {
  with_attention_type(result.type, [&]<class T>(std::type_identity<T>) {
    const BeginAdjointOfAttention<T> kernel{RowsRef<T>(rows.start), RowsRef<T>(result),
                                            RowsRef<T>(rows.gradient),
                                            attention_numbers<T>(rows.mean_changes)};
    launch_rows(execution, result.space, attention_label, rows.mean_changes.size(),
                bytes_of_attention_row(result) + bytes_of_attention_row(rows.gradient), kernel);
  });
}

void set_to_zero(const Execution& execution, const ArrayRef& array) {
  with_attention_type(array.type, [&]<class T>(std::type_identity<T>) {
    launch_rows(execution, array.space, attention_label, array.size(), array.type.size,
                SetToZero<T>{attention_numbers<T>(array)});
  });
}

}  // namespace tessera::detail
