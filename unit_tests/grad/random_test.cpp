// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Gradients of operators drawn at random, whose operands, and the gradient that backward() starts
// with, are distributed at random. TESSERA_TEST_SEED and TESSERA_TEST_CASES repeat and extend it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include <mpi.h>

#include <gtest/gtest.h>

#include "gradient_check.hpp"

namespace tessera::test {
namespace {

/// Returns lines and grids of all ranks, and a line that leaves one out.
std::vector<DeviceMesh> all_meshes() {
  const int size = world_size();
  auto result = meshes_of({{size}, {1, size}, {size, 1}});
  if (size > 2) result.push_back(mesh_of({size - 1}));
  if (size == 4) result.push_back(mesh_of({2, 2}));
  return result;
}

class Sampler {
 public:
  explicit Sampler(Generator& generator) : generator_(generator), table_(all_gradients()) {}

  /// Runs an operator that is drawn on a mesh; returns what is wrong, or "".
  std::string run_case(const DeviceMesh& mesh) {
    const auto most = static_cast<int>(table_.size()) - 1;
    const auto& tested = table_[static_cast<std::size_t>(draw(generator_, 0, most))];
    const auto arrays = draw_arrays(tested);
    std::vector<DistributedArray> operands;
    for (std::size_t k = 0; k < arrays.size(); ++k)
      operands.push_back({arrays[k], draw_spec(mesh, arrays[k].shape, draw_op(tested, k))});
    const auto place = [&](const Extents& shape) { return draw_spec(mesh, shape, ReduceOp::sum); };
    GradientResult expected;
    try {
      expected = replicated_gradients_of(tested, mesh, arrays);
    } catch (const std::exception& error) {
      return text_of(tested, operands) + ": exception with replicated operands: " + error.what();
    }
    return wrong_gradient(tested, mesh, operands, place, expected);
  }

 private:
  std::int64_t draw_extent(bool takes_empty) {
    if (draw(generator_, 0, 9) == 0) return draw(generator_, takes_empty ? 0 : 1, 1);
    return draw(generator_, 2, 6);
  }

  /// Draws arrays of at most 59 elements, which are distinct.
  std::vector<FullArray> draw_arrays(const TestedGradient& tested) {
    std::vector<Extents> shapes;
    const auto is_large = [](const Extents& shape) { return product(shape) > 59; };
    do {
      LetterExtents extents;
      for (const char letter : {'i', 'j', 'k', 'l'})
        extents[letter] = draw_extent(tested.takes_empty);
      shapes.clear();
      for (const auto& letters : tested.shapes)
        shapes.push_back(shape_of_letters(letters, extents));
    } while (std::ranges::any_of(shapes, is_large));
    const int variant = draw(generator_, 0, 58);
    std::vector<FullArray> result;
    for (std::size_t k = 0; k < shapes.size(); ++k)
      result.push_back(operand_array(tested, k, shapes[k], variant));
    return result;
  }

  ReduceOp draw_op(const TestedGradient& tested, std::size_t operand) {
    constexpr std::array ops{ReduceOp::sum,     ReduceOp::sum, ReduceOp::sum,
                             ReduceOp::product, ReduceOp::max, ReduceOp::min};
    return ops[static_cast<std::size_t>(draw(generator_, 0, tested.are_complex[operand] ? 3 : 5))];
  }

  DTensorSpec draw_spec(const DeviceMesh& mesh, const Extents& shape, ReduceOp op) {
    const auto placements =
        random_placements(generator_, mesh.ndim(), static_cast<int>(shape.size()), op);
    return with_random_boundaries(generator_, DTensorSpec(mesh.layout(), placements, shape));
  }

  Generator& generator_;
  GradientTable table_;
};

TEST(GradientSample, operands_of_any_placements_give_the_gradients_of_replicated_ones) {
  Generator generator(seed() + static_cast<unsigned>(world_size()));
  Sampler sampler(generator);
  const auto meshes = all_meshes();
  // 2,000 on 1 to 4 ranks together: fewer where ranks share the cores of a small machine.
  const int usual =
      std::array{1000, 550, 250, 200}[static_cast<std::size_t>(std::clamp(world_size(), 1, 4) - 1)];
  const int count = cases(usual);
  for (int i = 0; i < count; ++i) {
    const auto text = sampler.run_case(meshes[static_cast<std::size_t>(i) % meshes.size()]);
    EXPECT_EQ(text, "") << "case " << i;
    const int failed = text.empty() ? 0 : 1;
    int any = 0;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any != 0) break;
  }
}

}  // namespace
}  // namespace tessera::test
