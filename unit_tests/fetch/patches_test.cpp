// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Random boxes of tensors under all sharding rules, beside a serial array that every rank has.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/generator.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

constexpr std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// What all ranks draw alike: a tensor, and a box of each rank.
struct Case {
  DeviceMesh mesh;
  Placements placements;
  Extents shape;
  std::vector<Box> boxes;
  std::vector<int> periodic;
  ReduceOp op;
};

Placement drawn_placement(Generator& generator, bool is_alone) {
  const int dim = draw(generator, 0, 1);
  switch (draw(generator, 0, is_alone ? 4 : 2)) {
    case 0:
      return Shard(dim);
    case 1:
      return Balanced(dim);
    case 2:
      return Replicate();
    case 3:
      return HeadTail(dim);
    default:
      return Cyclic(dim, draw(generator, 1, 4));
  }
}

Case drawn_case(Generator& generator, const std::vector<DeviceMesh>& meshes) {
  Case result;
  result.mesh = meshes[at(draw(generator, 0, static_cast<int>(meshes.size()) - 1))];
  std::vector<Placement> placements;
  for (int d = 0; d < result.mesh.ndim(); ++d)
    placements.push_back(drawn_placement(generator, result.mesh.ndim() == 1));
  result.placements = Placements(placements);
  result.shape = {draw(generator, 1, 13), draw(generator, 1, 9)};
  for (int d = 0; d < 2; ++d)
    if (draw(generator, 0, 1) == 1) result.periodic.push_back(d);
  for (int rank = 0; rank < result.mesh.size(); ++rank) {
    Box box{{0, 0}, {0, 0}};
    if (draw(generator, 0, 4) > 0)
      for (int d = 0; d < 2; ++d) {
        const bool wraps = std::ranges::find(result.periodic, d) != result.periodic.end();
        const auto extent = static_cast<int>(result.shape[at(d)]);
        const int first =
            wraps ? draw(generator, -2 * extent, 2 * extent) : draw(generator, 0, extent - 1);
        box.offset[at(d)] = first;
        box.shape[at(d)] =
            wraps ? draw(generator, 0, 2 * extent) : draw(generator, 0, extent - first);
      }
    result.boxes.push_back(box);
  }
  constexpr ReduceOp ops[] = {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::product};
  result.op = ops[draw(generator, 0, 3)];
  return result;
}

Extents wrapped(Extents index, const Extents& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    index[d] = (index[d] % shape[d] + shape[d]) % shape[d];
  return index;
}

/// The value of a patch at an index of its box.
double patch_value(int rank, const Extents& index) {
  return 0.3 * rank + 0.7 * static_cast<double>(index[0]) - 1.1 * static_cast<double>(index[1]);
}

double combined(ReduceOp op, double a, double b) {
  if (op == ReduceOp::sum) return a + b;
  if (op == ReduceOp::product) return a * b;
  return op == ReduceOp::max ? std::max(a, b) : std::min(a, b);
}

/// The whole tensor after all patches, in the promised order.
std::vector<double> expected_sums(const Case& drawn) {
  const GlobalIndex iota(drawn.shape);
  const auto strides = row_major_strides(drawn.shape);
  std::vector<double> all(static_cast<std::size_t>(product(drawn.shape)));
  const auto position = [&](const Extents& index) {
    return static_cast<std::size_t>(index[0] * strides[0] + index[1] * strides[1]);
  };
  for_each_index_in({{0, 0}, drawn.shape},
                    [&](const Extents& index) { all[position(index)] = iota(index); });
  for (int rank = 0; rank < std::ssize(drawn.boxes); ++rank)
    for_each_index_in(drawn.boxes[at(rank)], [&](const Extents& index) {
      auto& element = all[position(wrapped(index, drawn.shape))];
      element = combined(drawn.op, element, patch_value(rank, index));
    });
  return all;
}

template <class V>
void check(const Case& drawn) {
  const auto& mesh = drawn.mesh;
  const auto x = iota<V>(mesh, drawn.placements, drawn.shape);
  const auto& box = is_on(mesh) ? drawn.boxes[at(mesh.rank())] : drawn.boxes.front();
  const auto name = to_string(x.spec()) + ' ' + to_string(box);
  const FetchOptions options{.periodic = drawn.periodic};

  const auto patch = fetch(x, box, options);
  if (is_on(mesh)) {
    EXPECT_EQ(wrong_element(patch, box,
                            [&](const Extents& index) {
                              return GlobalIndex(drawn.shape)(wrapped(index, drawn.shape));
                            }),
              "")
        << name;
    change_on_host(patch, [&](const auto& host) {
      for_each_index_in(box, [&](const Extents& index) {
        element_of(host, box.offset, index) = patch_value(mesh.rank(), index);
      });
    });
  }
  accumulate(x, box, patch, drawn.op, options);
  const auto expected = expected_sums(drawn);
  const auto strides = row_major_strides(drawn.shape);
  EXPECT_EQ(wrong_piece(x,
                        [&](const Extents& index) {
                          return expected[static_cast<std::size_t>(index[0] * strides[0] +
                                                                   index[1] * strides[1])];
                        }),
            "")
      << name << ' ' << to_string(drawn.op);
}

template <class V>
class Patches : public testing::Test {};
using Views = testing::Types<Matrix, LeftMatrix>;
TYPED_TEST_SUITE(Patches, Views);

TYPED_TEST(Patches, of_random_boxes_give_the_bits_of_a_serial_array) {
  const int ranks = world_size();
  std::vector<std::vector<int>> shapes{{ranks}, {1, ranks}, {std::max(1, ranks - 1)}};
  if (ranks % 2 == 0) shapes.push_back({2, ranks / 2});
  const auto meshes = meshes_of(shapes);
  Generator generator(seed());
  for (int i = cases(300); i > 0; --i) check<TypeParam>(drawn_case(generator, meshes));
}

}  // namespace
