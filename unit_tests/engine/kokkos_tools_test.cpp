// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// What the tools of Kokkos see: labels, allocations, fences and regions of a redistribution.
#include <string_view>

#include <gmock/gmock.h>

#include <tessera/tensor/clone.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

namespace tools = Kokkos::Tools::Experimental;

struct Seen {
  std::vector<std::string> kernels, allocations, fences, regions;
};
Seen seen;  // the callbacks are plain functions

/// Records what Kokkos reports while it lives.
class Listening {
 public:
  Listening() : before_(tools::get_callbacks()) {
    seen = {};
    const auto kernel = [](const char* name, std::uint32_t, std::uint64_t*) {
      seen.kernels.emplace_back(name);
    };
    tools::set_begin_parallel_for_callback(kernel);
    tools::set_begin_parallel_reduce_callback(kernel);
    tools::set_begin_fence_callback([](const char* name, std::uint32_t, std::uint64_t*) {
      // Kokkos itself fences where tools listen, and before it frees memory.
      if (!std::string_view(name).starts_with("Kokkos::")) seen.fences.emplace_back(name);
    });
    tools::set_allocate_data_callback([](const Kokkos::Tools::SpaceHandle, const char* name,
                                         const void*,
                                         std::uint64_t) { seen.allocations.emplace_back(name); });
    tools::set_push_region_callback([](const char* name) { seen.regions.emplace_back(name); });
    tools::set_pop_region_callback([] {});
  }
  ~Listening() { tools::set_callbacks(before_); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  tools::EventSet before_;
};

auto each_is_ours() {
  return testing::Each(testing::StartsWith("tessera::"));
}

TEST(KokkosTools, see_labels_of_the_library_only) {
  const auto mesh = mesh_of({world_size()});
  const Listening listening;
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {40 * world_size(), 96});
  redistribute(redistribute(source, {Shard(1)}), {Replicate()});
  redistribute(from_local(source.to_local(), mesh, {Partial()}), {Shard(0)});
  full_tensor(clone(source));
  full<Matrix>(mesh, {Replicate()}, {64, 96}, 2.0);
  zeros<Matrix>(mesh, {Replicate()}, {64, 96});

  EXPECT_THAT(seen.kernels, each_is_ours());
  EXPECT_THAT(seen.allocations, each_is_ours());
  EXPECT_THAT(seen.fences, each_is_ours());
  EXPECT_THAT(seen.regions, each_is_ours());
  EXPECT_FALSE(seen.kernels.empty());
  EXPECT_FALSE(seen.allocations.empty());
}

TEST(KokkosTools, see_one_fence_and_no_allocation_in_the_second_execution) {
  const auto mesh = mesh_of({world_size()});
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {40 * world_size(), 96});
  const auto target = empty<Matrix>(mesh, {Shard(1)}, source.shape());
  redistribute_into(target, source);
  const Listening listening;
  redistribute_into(target, source);

  EXPECT_THAT(seen.allocations, testing::IsEmpty());
  EXPECT_THAT(seen.fences,
              testing::ElementsAre("tessera::redistribute: before reading the source"));
  EXPECT_THAT(seen.regions, testing::ElementsAre("tessera::redistribute"));
}

}  // namespace
}  // namespace tessera::test
