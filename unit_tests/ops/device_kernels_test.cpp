// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of reductions on devices, called one index after another on the host.
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "ops/arg_kernel.hpp"
#include "ops/reduction_work.hpp"

namespace tessera::test {
namespace {

using namespace tessera::detail;

/// A matrix in either order of which one dim, or both, are reduced.
struct Case {
  std::int64_t rows, columns;
  bool is_left;
  bool reduces_rows, reduces_columns;  ///< whether dim 0 and dim 1 are reduced

  std::int64_t extent(int d) const { return d == 0 ? rows : columns; }
  std::int64_t stride(int d) const {
    if (is_left) return d == 0 ? 1 : rows;
    return d == 0 ? columns : 1;
  }
  bool is_reduced(int d) const { return d == 0 ? reduces_rows : reduces_columns; }
  std::int64_t count(bool reduced) const {
    std::int64_t result = 1;
    for (int d : {0, 1})
      if (is_reduced(d) == reduced) result *= extent(d);
    return result;
  }
  /// Tells whether the dim whose elements are neighbours stays.
  bool is_inner_kept() const { return !is_reduced(is_left ? 0 : 1); }
};

std::vector<Case> cases() {
  std::vector<Case> result;
  using Pair = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [rows, columns] :
       {Pair{1, 1}, {3, 5}, {7, 1000}, {1000, 7}, {300, 400}, {1, 200000}, {5000, 200}})
    for (const bool is_left : {false, true})
      for (const auto& [first, second] : {std::pair{true, false}, {false, true}, {true, true}})
        result.push_back({rows, columns, is_left, first, second});
  return result;
}

double element(std::int64_t at) {
  return static_cast<double>(at * 7919 % 1009 - 300);
}

std::vector<double> elements_of(const Case& c) {
  std::vector<double> result(static_cast<std::size_t>(c.rows * c.columns));
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.columns; ++j)
      result[static_cast<std::size_t>(i * c.stride(0) + j * c.stride(1))] =
          element(i * c.columns + j);
  return result;
}

/// Calls visit(result, position among the reduced elements, element) for all elements, row-major.
template <class Visit>
void for_each_element(const Case& c, const Visit& visit) {
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.columns; ++j) {
      std::int64_t result = 0, position = 0;
      for (const auto& [d, index] : {std::pair{0, i}, {1, j}}) {
        auto& flat = c.is_reduced(d) ? position : result;
        flat = flat * c.extent(d) + index;
      }
      visit(static_cast<std::size_t>(result), position, element(i * c.columns + j));
    }
}

template <ReductionOp op>
std::vector<double> reduced(const Case& c, std::vector<double>& elements) {
  std::vector<double> result(static_cast<std::size_t>(c.count(false)), -1);
  const Execution execution;
  Temporaries temporaries(execution, nullptr);
  ReductionLoops loops{MemorySpace::host, reinterpret_cast<std::byte*>(result.data()),
                       reinterpret_cast<const std::byte*>(elements.data())};
  loops.temporaries = &temporaries;
  loops.is_inner_kept = c.is_inner_kept();
  constexpr std::int64_t size = sizeof(double);
  for (int d : {0, 1}) {
    auto& extents = c.is_reduced(d) ? loops.reduced : loops.kept;
    extents.push_back(c.extent(d));
    if (c.is_reduced(d)) {
      loops.reduced_strides[0].push_back(c.stride(d) * size);
      loops.reduced_strides[1].push_back(0);
    } else {
      loops.kept_strides[0].push_back(size);  // one dim at most is kept
      loops.kept_strides[1].push_back(c.stride(d) * size);
      loops.kept_strides[2].push_back(0);
    }
  }
  reduce_in_parts(loops, ReductionWork<op, double>{}, [](std::int64_t items, const auto& kernel) {
    for (auto i = items; i-- > 0;) kernel(i);
  });
  return result;
}

TEST(DeviceReductions, give_what_loops_give) {
  for (const auto& c : cases()) {
    auto elements = elements_of(c);
    std::vector<double> sums(static_cast<std::size_t>(c.count(false))), most(sums.size(), -1e9);
    for_each_element(c, [&](std::size_t result, std::int64_t, double value) {
      sums[result] += value;
      most[result] = std::max(most[result], value);
    });
    const auto sum = reduced<ReductionOp::sum>(c, elements);
    const auto max = reduced<ReductionOp::max>(c, elements);

    EXPECT_TRUE(sum == sums) << c.rows << " × " << c.columns << c.is_left << c.reduces_rows;
    EXPECT_TRUE(max == most) << c.rows << " × " << c.columns << c.is_left << c.reduces_rows;
  }
}

/// Returns the positions of the largest elements, by kernels of a device with so many parts.
std::vector<std::int64_t> largest(const Case& c, std::vector<double>& elements,
                                  std::int64_t parts) {
  ArgLoops loops{reinterpret_cast<const std::byte*>(elements.data()), {}, {}, {}, {}, {}};
  loops.is_inner_kept = c.is_inner_kept();
  for (int d : {0, 1}) {
    auto& into = c.is_reduced(d) ? loops.reduced : loops.kept;
    auto& strides = c.is_reduced(d) ? loops.reduced_strides : loops.kept_strides;
    if (c.is_reduced(d)) {
      loops.reduced_dims.add(c.extent(d));
      loops.maps[into.size] = IndexMap(Sections(Interval{0, c.extent(d)}));
      loops.global_strides[into.size] = d == 0 && c.reduces_columns ? c.columns : 1;
    }
    strides[into.size] = c.stride(d) * std::int64_t{sizeof(double)};
    into.add(c.extent(d));
  }
  loops.results = c.count(false);
  loops.elements = c.count(true);
  const auto room = static_cast<std::size_t>(parts * loops.results);
  std::vector<double> values(room), fewer_values(room);
  std::vector<std::int64_t> positions(room), fewer_positions(room);
  const ArgKernel<true, double> kernel{loops, parts, true, values.data(), positions.data()};
  for (auto i = parts * loops.results; i-- > 0;) kernel(i);
  const FoundParts<double> all{values.data(), positions.data(), parts, loops.results};
  const auto some = std::max<std::int64_t>(1, parts / 3);
  const FoundParts<double> fewer{fewer_values.data(), fewer_positions.data(), some, loops.results};
  const ArgFewerParts<true, double> combine{all, fewer};
  for (auto i = some * loops.results; i-- > 0;) combine(i);

  std::vector<std::int64_t> result(static_cast<std::size_t>(loops.results), -1);
  const ArgCombine<true, double> write{fewer, reinterpret_cast<std::byte*>(result.data()),
                                       loops.kept, LoopArray{sizeof(std::int64_t)}};
  for (auto i = loops.results; i-- > 0;) write(i);
  return result;
}

TEST(DeviceReductions, find_the_first_position) {
  for (const auto& c : cases()) {
    auto elements = elements_of(c);
    std::vector<std::int64_t> expected(static_cast<std::size_t>(c.count(false)));
    std::vector<double> most(expected.size(), -1e9);
    for_each_element(c, [&](std::size_t result, std::int64_t position, double value) {
      if (value <= most[result]) return;
      most[result] = value;
      expected[result] = position;
    });
    for (const std::int64_t parts : {1, 4, 32})
      EXPECT_TRUE(largest(c, elements, parts) == expected)
          << c.rows << " × " << c.columns << c.is_left << c.reduces_rows << ", parts " << parts;
  }
}

}  // namespace
}  // namespace tessera::test
