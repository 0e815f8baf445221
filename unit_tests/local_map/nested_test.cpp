// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// A local_map inside a local_map, on other meshes of the same ranks: one rank throws somewhere.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/generator.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

using Line = Kokkos::View<double*, TestSpace>;

/// A nest of local_maps, drawn at random alike on every rank, with a place at which one rank throws.
class Nest {
 public:
  Nest(Generator& generator, const DeviceMesh& grid)
      : meshes_{grid, grid["a"], grid["b"]},
        depth_(draw(generator, 1, 4)),
        thrower_(draw(generator, 0, grid.size() - 1)),
        text_("thrown by nest " + std::to_string(draw(generator, 0, 1'000'000))) {
    for (int level = 0; level <= depth_; ++level) {
      mesh_of_level_.push_back(level == 0 ? 0 : draw(generator, 0, 2));
      for (auto* const reductions : {&before_, &after_})
        reductions->push_back(draw(generator, 0, 3));
    }
    places_ = draw(generator, 0, 2 * depth_ + 1);
  }

  const std::string& text() const { return text_; }

  void run() const { run(0); }

 private:
  static constexpr int none = 3;

  void run(int level) const {
    pass(2 * level);
    reduce(before_[static_cast<std::size_t>(level)]);
    if (level < depth_) {
      const auto& mesh = mesh_at(mesh_of_level_[static_cast<std::size_t>(level)]);
      const auto inner = [&](const Line& view) {
        run(level + 1);
        return view;
      };
      const Placements replicated(
          std::vector<Placement>(static_cast<std::size_t>(mesh.ndim()), Replicate()));
      local_map(mesh, inner, replicated)(Line("view", 3));
    }
    reduce(after_[static_cast<std::size_t>(level)]);
    pass(2 * level + 1);
  }

  void pass(int place) const {
    if (place == places_ && meshes_[0].rank() == thrower_) throw std::runtime_error(text_);
  }

  void reduce(int mesh) const {
    if (mesh == none) return;
    const auto& on = mesh_at(mesh);
    all_reduce(Line("numbers", 5), ReduceOp::sum, on, 0);
  }

  const DeviceMesh& mesh_at(int index) const { return meshes_[static_cast<std::size_t>(index)]; }

  std::vector<DeviceMesh> meshes_;
  int depth_;
  int thrower_;
  int places_;
  std::string text_;
  std::vector<int> mesh_of_level_;
  std::vector<int> before_;
  std::vector<int> after_;
};

TEST(NestedLocalMap, throws_on_every_rank_what_one_rank_throws) {
  if (world_size() != 4 && world_size() != 6) GTEST_SKIP() << "needs 4 or 6 ranks";
  const auto grid = init_device_mesh(MPI_COMM_WORLD, {2, world_size() / 2}, {"a", "b"});
  Generator generator(seed());
  const int nests = cases(60);
  for (int i = 0; i < nests; ++i) {
    const Nest nest(generator, grid);

    const auto text = message_of<Error>([&] {
      local_map(grid,
                [&](const Line& view) {
                  nest.run();
                  // Nobody can leave this call without the one that throws.
                  return all_reduce(view, ReduceOp::sum, grid, {"a", "b"});
                },
                {Replicate(), Replicate()})(Line("view", 3));
    });

    ASSERT_THAT(text, HasSubstr(nest.text())) << "nest " << i;
  }
  EXPECT_TRUE(is_iota(redistribute(iota<Matrix>(grid, {Shard(0), Shard(1)}, {6, 5}))));
}

}  // namespace
}  // namespace tessera::test
