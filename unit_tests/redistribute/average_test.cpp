// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/meshes.hpp"
#include "../support/same_number.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

/// Returns a finite number of any magnitude, the same on every rank for the same generator.
template <class T>
T random_finite(std::mt19937_64& generator) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(generator());
  } else {
    using Limits = std::numeric_limits<T>;
    const auto bits = static_cast<T>(generator() >> (64 - Limits::digits));
    const int exponent =
        std::uniform_int_distribution(Limits::min_exponent - 2 * Limits::digits,
                                      Limits::max_exponent - Limits::digits)(generator);
    const T value = std::ldexp(bits, exponent);
    return generator() % 2 == 0 ? value : -value;
  }
}

template <class T>
using Cube = Kokkos::View<T***, Kokkos::LayoutRight, TestSpace>;

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{T{0}, Limits::max(), Limits::lowest(), Limits::min(), T{1}, T{3}};
  if constexpr (std::is_floating_point_v<T>)
    values.insert(values.end(), {-T{0}, Limits::denorm_min(), T{0.1f}});
  return values;
}

/// Returns a tensor of random numbers, the same on every rank.
template <class T>
Cube<T> numbers(const Extents& shape) {
  std::mt19937_64 generator(1);
  const Cube<T> view("numbers", static_cast<std::size_t>(shape[0]),
                     static_cast<std::size_t>(shape[1]), static_cast<std::size_t>(shape[2]));
  const auto host = Kokkos::create_mirror_view(view);
  const auto special = special_values<T>();
  for (std::size_t i = 0; i < host.size(); ++i)
    host.data()[i] = i < special.size() ? special[i] : random_finite<T>(generator);
  Kokkos::deep_copy(view, host);
  return view;
}

template <class T>
class Average : public ::testing::Test {};

using Numbers = ::testing::Types<double, float, std::int8_t, std::uint8_t, std::int32_t,
                                 std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(Average, Numbers);

TYPED_TEST(Average, of_a_replicated_tensor_is_the_tensor) {
  const Placement avg = Partial(ReduceOp::avg);
  for (const auto& mesh : meshes_of({{2}, {3}, {4}, {2, 2}, {2, 3}})) {
    if (mesh.is_null()) continue;
    const Extents shape{5, 7, 9};
    const auto full = numbers<TypeParam>(shape);
    const auto n = static_cast<std::size_t>(mesh.ndim());
    const Placements all_avg(std::vector<Placement>(n, avg));
    const Placements replicated(std::vector<Placement>(n, Replicate()));
    for (const std::int64_t extra_memory : {0, 600}) {
      const RedistributeOptions options{.extra_memory = extra_memory};
      const auto source = from_local(full, mesh, replicated, shape);
      const auto partial = redistribute(source, all_avg, options);
      const auto back = redistribute(partial, replicated, options);

      if (!is_on(mesh)) continue;
      const auto values = on_host(back.to_local());
      const auto expected = on_host(full);
      int wrong = 0;
      for (std::size_t i = 0; i < expected.size(); ++i)
        wrong += !is_same(values.data()[i], expected.data()[i]);
      EXPECT_EQ(wrong, 0) << mesh.size() << " ranks, extra memory " << extra_memory;
    }
  }
}

template <class T>
T average_of_equal(T value, const DeviceMesh& mesh) {
  const Kokkos::View<T*, TestSpace> view("value", 1);
  Kokkos::deep_copy(view, value);
  const auto average = all_reduce(view, ReduceOp::avg, mesh, 0);
  return is_on(mesh) ? on_host(average)(0) : value;
}

TEST(AverageOf, numbers_whose_sum_is_too_large) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}})) {
    EXPECT_EQ(average_of_equal<std::int8_t>(100, mesh), 100);
    EXPECT_EQ(average_of_equal<std::uint8_t>(200, mesh), 200);
    EXPECT_EQ(average_of_equal(2'000'000'000, mesh), 2'000'000'000);
    EXPECT_EQ(average_of_equal<std::int64_t>(-9'000'000'000'000'000'000, mesh),
              -9'000'000'000'000'000'000);
    EXPECT_EQ(average_of_equal(3e38f, mesh), 3e38f);
    EXPECT_EQ(average_of_equal(1.7e308, mesh), 1.7e308);
  }
}

TEST(AverageOf, a_sharded_tensor_is_the_tensor_but_for_the_rounding_of_n_times_its_elements) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}})) {
    const Extents shape{5, 7, 9};
    const auto source = rand<Cube<double>>(mesh, {Shard(0)}, {5, 7, 9}, {.seed = 1});

    const auto partial = redistribute(source, Partial(ReduceOp::avg));
    const auto back = redistribute(partial, Shard(0));

    if (!is_on(mesh)) continue;
    const double unit = mesh.size() == 3 ? std::numeric_limits<double>::epsilon() : 0;
    const auto values = on_host(back.to_local());
    const auto expected = on_host(source.to_local());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(std::abs(values.data()[i] - expected.data()[i]), unit * expected.data()[i]);
  }
}

}  // namespace
}  // namespace tessera::test
