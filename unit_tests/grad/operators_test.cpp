// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Gradients of all operators: of replicated operands they are central differences, and under any
// other placements they are those of replicated operands.
#include <complex>
#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gradient_check.hpp"

namespace tessera::test {
namespace {

const LetterExtents some_extents{{'i', 3}, {'j', 4}, {'k', 2}, {'l', 2}};

std::vector<FullArray> arrays_of(const TestedGradient& tested) {
  std::vector<FullArray> result;
  for (std::size_t k = 0; k < tested.operands(); ++k)
    result.push_back(operand_array(tested, k, shape_of_letters(tested.shapes[k], some_extents)));
  return result;
}

DeviceMesh line_of_all() {
  return mesh_of({world_size()});
}

/// Returns the central difference along `direction` of one element.
double slope_of(const TestedGradient& tested, std::vector<FullArray> arrays, std::size_t operand,
                std::size_t element, std::complex<double> direction) {
  const auto mesh = line_of_all();
  auto& value = arrays[operand].values[element];
  const auto middle = value;
  value = middle + tested.step * direction;
  const double above = value_of_replicated(tested, mesh, arrays);
  value = middle - tested.step * direction;
  const double below = value_of_replicated(tested, mesh, arrays);
  return (above - below) / (2 * tested.step);
}

/// Returns the central differences with respect to an operand, as a gradient.
FullArray slopes_of(const TestedGradient& tested, const std::vector<FullArray>& arrays,
                    std::size_t operand) {
  FullArray result{arrays[operand].shape, {}};
  for (std::size_t i = 0; i < arrays[operand].values.size(); ++i) {
    const double real = slope_of(tested, arrays, operand, i, 1);
    const bool is_complex = tested.are_complex[operand];
    result.values.emplace_back(real, is_complex ? slope_of(tested, arrays, operand, i, {0, 1}) : 0);
  }
  return result;
}

void expect_slopes(const TestedGradient& tested) {
  const auto arrays = arrays_of(tested);
  const auto got = replicated_gradients_of(tested, line_of_all(), arrays);
  EXPECT_EQ(got.fault, "") << tested.name;
  for (std::size_t k = 0; k < tested.operands(); ++k)
    EXPECT_EQ(difference(got.gradients[k], slopes_of(tested, arrays, k), tested.slope_tolerance),
              "")
        << tested.name << ", operand " << k << ", beside central differences";
}

void expect_slopes(const GradientTable& table) {
  // Nothing travels here: more ranks only do the same.
  if (world_size() > 2) GTEST_SKIP() << "runs on 1 and 2 ranks";
  for (const auto& tested : table) {
    try {
      expect_slopes(tested);
    } catch (const std::exception& error) {
      ADD_FAILURE() << tested.name << ": exception: " << error.what();
    }
  }
}

/// Returns the placements that all pairs are made of.
std::vector<Placement> common_placements(std::size_t rank) {
  std::vector<Placement> result{Replicate()};
  for (std::size_t d = 0; d < rank; ++d) result.emplace_back(Shard(static_cast<int>(d)));
  result.emplace_back(Partial());
  result.emplace_back(Partial(ReduceOp::avg));
  return result;
}

/// Returns placements by other rules.
std::vector<Placement> other_placements(std::size_t rank) {
  if (rank == 0) return {};
  const int last = static_cast<int>(rank) - 1;
  return {Balanced(0), Cyclic(last, 1), HeadTail(last)};
}

/// Returns the placements of the operands of each call.
std::vector<std::vector<Placement>> placements_of_calls(const TestedGradient& tested) {
  std::vector<std::vector<Placement>> result;
  const auto first = common_placements(tested.rank(0)), others = other_placements(tested.rank(0));
  if (tested.operands() == 1) {
    for (const auto& placement : first) result.push_back({placement});
    for (const auto& placement : others) result.push_back({placement});
    return result;
  }
  const auto second = common_placements(tested.rank(1));
  for (const auto& a : first)
    for (const auto& b : second) result.push_back({a, b});
  const auto other_second = other_placements(tested.rank(1));
  for (std::size_t i = 0; i < others.size(); ++i)
    result.push_back({others[i], other_second.empty() ? Placement() : other_second[i]});
  if (!others.empty()) result.push_back({others[1], second[0]});
  return result;
}

/// Returns the placement of the gradient that call number `number` starts with.
Placement start_placement(std::size_t number, std::size_t rank) {
  const auto all = common_placements(rank);
  return all[number % all.size()];
}

/// Checks an operator under all placements on a line.
class PlacementCheck {
 public:
  explicit PlacementCheck(const TestedGradient& tested)
      : tested_(tested), arrays_(arrays_of(tested)) {}

  void run() {
    expected_ = replicated_gradients_of(tested_, mesh_, arrays_);
    for (const auto& placements : placements_of_calls(tested_)) run(placements);
    EXPECT_EQ(failed_, 0) << "of " << calls_ << " calls; the first one is\n" << first_failure_;
  }

 private:
  void run(const std::vector<Placement>& placements) {
    std::vector<DistributedArray> operands;
    for (std::size_t k = 0; k < arrays_.size(); ++k)
      operands.push_back({arrays_[k], spec_of(arrays_[k].shape, placements[k])});
    const auto number = calls_++;
    const auto place = [&](const Extents& shape) {
      return spec_of(shape, start_placement(number, shape.size()));
    };
    const auto text = wrong_gradient(tested_, mesh_, operands, place, expected_);
    if (!text.empty() && failed_++ == 0) first_failure_ = text;
  }

  DTensorSpec spec_of(const Extents& shape, const Placement& placement) const {
    return DTensorSpec(mesh_.layout(), Placements{placement}, shape);
  }

  const TestedGradient& tested_;
  DeviceMesh mesh_ = line_of_all();
  std::vector<FullArray> arrays_;
  GradientResult expected_;
  std::size_t calls_ = 0;
  int failed_ = 0;
  std::string first_failure_;
};

void expect_under_all_placements(const GradientTable& table) {
  for (const auto& tested : table) {
    try {
      PlacementCheck(tested).run();
    } catch (const std::exception& error) {
      ADD_FAILURE() << tested.name << ", replicated: exception: " << error.what();
    }
  }
}

TEST(OperatorSlopes, of_elementwise_operators) {
  expect_slopes(elementwise_gradients());
}
TEST(OperatorSlopes, of_reductions) {
  expect_slopes(reduction_gradients());
}
TEST(OperatorSlopes, of_linear_algebra) {
  expect_slopes(matrix_gradients());
}
TEST(OperatorSlopes, of_complex_numbers) {
  expect_slopes(complex_gradients());
}
TEST(OperatorSlopes, of_other_layouts_and_of_float) {
  expect_slopes(other_type_gradients());
}

TEST(OperatorGradients, of_elementwise_operators_under_all_placements) {
  expect_under_all_placements(elementwise_gradients());
}
TEST(OperatorGradients, of_reductions_under_all_placements) {
  expect_under_all_placements(reduction_gradients());
}
TEST(OperatorGradients, of_linear_algebra_under_all_placements) {
  expect_under_all_placements(matrix_gradients());
}
TEST(OperatorGradients, of_complex_numbers_under_all_placements) {
  expect_under_all_placements(complex_gradients());
}
TEST(OperatorGradients, of_other_layouts_and_of_float_under_all_placements) {
  expect_under_all_placements(other_type_gradients());
}

}  // namespace
}  // namespace tessera::test
