// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors in the memory of the default execution space, a device's where Kokkos was built for one,
// beside the same in host memory.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "comm/communicator_state.hpp"
#include "slow_kernels.hpp"

namespace tessera::test {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using DeviceLeft = Kokkos::View<double**, Kokkos::LayoutLeft, Exec>;
using DeviceRight = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;

/// "" where both hold the same bits.
template <class V, class W>
std::string difference(const DTensor<V>& tensor, const DTensor<W>& expected) {
  if (!(tensor.spec() == expected.spec()))
    return to_string(tensor.spec()) + " instead of " + to_string(expected.spec());
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected.to_local());
  const auto offset = expected.global_offset();
  return wrong_piece(tensor, [&](const Extents& index) { return element_of(host, offset, index); });
}

const std::vector<Extents> shapes = {{12, 9}, {3, 40}, {1, 5}};
const std::vector<Placement> placements = {
    Replicate(), Shard(0), Shard(1), Partial(), Partial(ReduceOp::avg), Partial(ReduceOp::max)};

/// Numbers of its own on each rank that reduces.
template <class V>
DTensor<V> numbers(const DeviceMesh& mesh, const Placement& placement, const Extents& shape) {
  if (!placement.is_partial()) return rand<V>(mesh, {placement}, shape, {.seed = 0});
  const Random random{.seed = static_cast<std::uint64_t>(mesh.rank() + 1)};
  const auto contribution = rand<V>(mesh, {Replicate()}, shape, random);
  return from_local(contribution.to_local(), mesh, {placement}, shape);
}

template <class V>
class Device : public testing::Test {};
using Views = testing::Types<DeviceLeft, DeviceRight>;
TYPED_TEST_SUITE(Device, Views);

TYPED_TEST(Device, transitions_give_the_bits_of_the_host) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}}))
    for (const auto& shape : shapes)
      for (const auto& from : placements)
        for (const auto& to : placements) {
          if (from.is_partial() && to.is_partial()) continue;
          const auto result = redistribute(numbers<TypeParam>(mesh, from, shape), {to});
          const auto expected = redistribute(numbers<HostMatrix>(mesh, from, shape), {to});
          EXPECT_EQ(difference(result, expected), "")
              << to_string(from) << " to " << to_string(to) << ' ' << to_string(shape);
        }
}

TYPED_TEST(Device, tensors_move_to_the_host_and_back_in_one_call) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}}))
    for (const auto& from : placements)
      for (const Placement& to : {Placement(Shard(1)), Placement(Replicate())}) {
        const Extents shape{12, 9};
        const auto there =
            redistribute<HostMatrix>(numbers<TypeParam>(mesh, from, shape), Placements{to});
        const auto back =
            redistribute<TypeParam>(numbers<HostMatrix>(mesh, from, shape), Placements{to});
        const auto expected = redistribute(numbers<HostMatrix>(mesh, from, shape), {to});
        EXPECT_EQ(difference(there, expected), "") << to_string(from) << " to " << to_string(to);
        EXPECT_EQ(difference(back, expected), "") << to_string(from) << " to " << to_string(to);
      }
}

TYPED_TEST(Device, large_blocks_travel_in_chunks) {
  // Longer than slots in device memory.
  for (const auto& mesh : meshes_of({{2}})) {
    const auto columns = iota<TypeParam>(mesh, {Shard(1)}, {2050, 4001});
    EXPECT_EQ(wrong_iota(redistribute(columns, {Replicate()})), "");
  }
  for (const auto& mesh : meshes_of({{2}, {3}})) {
    const Extents shape{1031, 1500};
    for (const auto& [from, to] : std::vector<std::pair<Placement, Placement>>{
             {Shard(0), Shard(1)}, {Partial(), Shard(1)}, {Partial(), Replicate()}})
      EXPECT_EQ(difference(redistribute(numbers<TypeParam>(mesh, from, shape), {to}),
                           redistribute(numbers<HostMatrix>(mesh, from, shape), {to})),
                "")
          << to_string(from) << " to " << to_string(to);
  }
}

TYPED_TEST(Device, collectives_give_the_bits_of_the_host) {
  const auto mesh = mesh_of({world_size()});
  const auto view = numbers<TypeParam>(mesh, Partial(), {12, 8 * world_size()}).to_local();
  const auto same = numbers<HostMatrix>(mesh, Partial(), {12, 8 * world_size()}).to_local();
  const auto expect_same = [](const auto& result, const auto& expected) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected);
    const auto shape = detail::extents_of(expected);
    const auto origin = Extents::filled(shape.size(), 0);
    EXPECT_EQ(wrong_view(result, shape,
                         [&](const Extents& index) { return element_of(host, origin, index); }),
              "");
  };
  expect_same(all_reduce(view, ReduceOp::sum, mesh, 0), all_reduce(same, ReduceOp::sum, mesh, 0));
  expect_same(reduce_scatter(view, ReduceOp::sum, 1, mesh, 0),
              reduce_scatter(same, ReduceOp::sum, 1, mesh, 0));
  expect_same(all_gather(view, 0, mesh, 0), all_gather(same, 0, mesh, 0));
  expect_same(all_to_all(view, 1, 0, mesh, 0), all_to_all(same, 1, 0, mesh, 0));
  expect_same(broadcast(view, 0, mesh, 0), broadcast(same, 0, mesh, 0));
}

TYPED_TEST(Device, random_numbers_are_those_of_the_host) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}})) {
    const Random random{.seed = 7, .stream = 3};
    const Placements rows{Shard(0)};
    EXPECT_EQ(difference(rand<TypeParam>(mesh, rows, {13, 5}, random),
                         rand<HostMatrix>(mesh, rows, {13, 5}, random)),
              "");
    const auto normal =
        redistribute<HostMatrix>(randn<TypeParam>(mesh, rows, {13, 5}, random), rows);
    const auto expected = randn<HostMatrix>(mesh, rows, {13, 5}, random);
    if (!is_on(mesh)) continue;
    for (std::size_t i = 0; i < expected.to_local().size(); ++i) {
      const double value = expected.to_local().data()[i];
      EXPECT_NEAR(normal.to_local().data()[i], value, 1e-14 * std::max(1.0, std::abs(value)));
    }
  }
}

/// Calls use(instance, tensor) while a kernel on the instance writes its column into each element.
/// The kernel is slow on one rank alone, another one each time: the others would find what that rank
/// has not written yet.
template <class View, class Use>
void use_while_it_is_filled(const Use& use) {
  const auto mesh = mesh_of({world_size()});
  const auto exec = Kokkos::Experimental::partition_space(Exec(), 1)[0];
  const auto source = zeros<View>(mesh, {Shard(0)}, Extents{world_size(), 1000});
  for (int repeat = 0; repeat < 8; ++repeat) {
    fill_slowly(exec, source.to_local(), repeat % mesh.size() == mesh.rank());
    use(exec, source);
  }
}

/// Else the other tests pass by another way.
TEST(DevicePath, slots_that_are_asked_for_are_there) {
  const char* const wanted = std::getenv("TESSERA_DEVICE_PATH");
  if (wanted == nullptr || !std::string(wanted).starts_with("ipc") || world_size() == 1)
    GTEST_SKIP() << "needs 2 ranks and TESSERA_DEVICE_PATH=ipc";
  const auto& state = mesh_of({world_size()}).communicator().state();
  EXPECT_EQ(state.device_path, detail::DevicePath::ipc);
}

TYPED_TEST(Device, kernels_that_still_run_are_awaited) {
  use_while_it_is_filled<TypeParam>([](const Exec&, const auto& source) {
    const auto full = redistribute(source, {Replicate()});

    EXPECT_EQ(wrong_piece(full, [](const Extents& index) { return index[1]; }), "");
  });
}

TYPED_TEST(Device, kernels_on_an_instance_are_awaited_and_ordered) {
  use_while_it_is_filled<TypeParam>([](const Exec& exec, const auto& source) {
    const auto full = redistribute(exec, source, {Replicate()});
    const auto twice = local_map(Twice{exec}, like_input(0), {Placements{Replicate()}})(full);
    exec.fence();

    EXPECT_EQ(wrong_piece(twice, [](const Extents& index) { return 2 * index[1]; }), "");
  });
}

}  // namespace
}  // namespace tessera::test
