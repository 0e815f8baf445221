// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Tensors and expectations that the tests of operators share.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/kokkos_events.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class T, class Layout = Kokkos::LayoutRight>
using MatrixOf = Kokkos::View<T**, Layout, TestSpace>;
template <class T>
using VectorOf = Kokkos::View<T*, Kokkos::LayoutRight, TestSpace>;
template <class T>
using ScalarOf = Kokkos::View<T, Kokkos::LayoutRight, TestSpace>;
using Complex = Kokkos::complex<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

inline DeviceMesh line() {
  return mesh_of({world_size()});
}

/// Returns a line of all ranks, and a grid of them if their number is even.
inline std::vector<DeviceMesh> line_and_grid() {
  std::vector<DeviceMesh> result{line()};
  if (world_size() % 2 == 0) result.push_back(mesh_of({2, world_size() / 2}));
  return result;
}

/// Returns the number of exchanges of what needs one where there are several ranks.
inline int one() {
  return world_size() > 1 ? 1 : 0;
}

/// Returns 1 + 2 + … + the number of ranks.
inline int triangle() {
  return world_size() * (world_size() + 1) / 2;
}

/// Returns a tensor on the line to which rank r contributes (r + 1) times the global index.
template <class V>
DTensor<V> contributions(ReduceOp op, const Extents& shape) {
  const auto mine = detail::allocate<V>(shape, "contributions");
  change_on_host(mine, [&](const auto& host) {
    const GlobalIndex index(shape, world_rank() + 1);
    for_each_index_in({Extents::filled(shape.size(), 0), shape}, [&](const Extents& at) {
      element_of(host, Extents::filled(shape.size(), 0), at) =
          static_cast<typename V::value_type>(index(at));
    });
  });
  return from_local(mine, line(), Partial(op), shape);
}

/// Gives elements of a list, row-major.
template <class T>
struct Listed {
  Kokkos::Array<T, 64> values{};
  std::int64_t columns = 1;

  template <std::size_t N>
  KOKKOS_FUNCTION T operator()(const Kokkos::Array<std::int64_t, N>& index) const {
    std::int64_t at = 0;
    if constexpr (N == 1) at = index[0];
    if constexpr (N == 2) at = index[0] * columns + index[1];
    return values[static_cast<std::size_t>(at)];
  }
};

/// Returns a tensor with these elements, row-major.
template <class V>
DTensor<V> listed(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                  const std::vector<typename V::value_type>& values) {
  Listed<typename V::value_type> list;
  list.columns = shape.size() < 2 ? 1 : shape[1];
  for (std::size_t i = 0; i < values.size(); ++i) list.values[i] = values[i];
  return from_function<V>(mesh, target, shape, list);
}

/// Returns the elements of a View, row-major.
template <class V>
auto elements_of(const V& view) {
  using T = std::remove_const_t<typename V::value_type>;
  std::vector<std::conditional_t<std::is_same_v<T, bool>, int, T>> result;
  const auto shape = detail::extents_of(view);
  const auto host = on_host(view);
  for_each_index_in({Extents::filled(shape.size(), 0), shape}, [&](const Extents& index) {
    result.push_back(element_of(host, Extents::filled(shape.size(), 0), index));
  });
  return result;
}

/// Returns all elements of a tensor, row-major. Collective.
template <class V>
auto all_elements(const DTensor<V>& tensor) {
  return elements_of(full_tensor(tensor));
}

/// Checks all elements of a tensor, row-major. Collective.
template <class V, class Matcher>
void expect_elements(const DTensor<V>& tensor, const Matcher& matcher,
                     const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const auto elements = all_elements(tensor);
  const testing::ScopedTrace trace(file, line, "called here");
  EXPECT_THAT(elements, matcher);
}

/// Returns the records of operators.
inline std::vector<CommRecord> operators_in(const CommDebugMode& mode) {
  std::vector<CommRecord> result;
  for (const auto& record : mode.records())
    if (record.kind == TraceKind::operation) result.push_back(record);
  return result;
}

/// Gives a + b c.
struct MultiplyAdd {
  KOKKOS_FUNCTION double operator()(double a, double b, double c) const { return a + b * c; }
};

/// Computes factor (a + b) of matrices, by rows or whole.
struct ScaledSum {
  static constexpr const char* name = "test_scaled_sum";
  double factor = 1;

  static Extents shape(const OperatorCall& call) { return call.operands[0].spec->shape(); }
  static std::vector<OperatorRule> rules(const OperatorCall&) {
    return {{Shard(0), {Shard(0), Shard(0)}}, {Replicate(), {Replicate(), Replicate()}}};
  }
  std::vector<OperatorAttribute> attributes() const { return {{"factor", factor}}; }
  Matrix local(const Matrix& a, const Matrix& b) const {
    return ops::multiply(ops::add(a, b), factor);
  }
};

}  // namespace tessera::test
