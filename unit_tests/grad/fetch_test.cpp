// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Boxes of variables, and redistributions of variables to other meshes and in the background.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/fetch.hpp>
#include <tessera/grad/redistribute.hpp>
#include <tessera/grad/reductions.hpp>

#include "local_identity.hpp"

namespace tessera::test {
namespace {

using grad::Tape;

const Extents shape{7, 5};

/// Gives small integers, other ones for each salt.
struct Scattered {
  std::int64_t salt;

  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 2>& index) const {
    return static_cast<double>((index[0] * 31 + index[1] * 17 + salt * 7) % 19 - 9);
  }
};

DTensor<Matrix> tensor_of(const DeviceMesh& mesh, const Target& target, std::int64_t salt) {
  return from_function<Matrix>(mesh, target, shape, Scattered{salt});
}

/// Returns a tensor to which each rank contributes integers of its own.
DTensor<Matrix> partial_tensor(const DeviceMesh& mesh) {
  std::vector<Placement> placements(static_cast<std::size_t>(mesh.ndim()), Partial());
  return from_local(rank_integers(shape, 3), mesh, Placements(placements), shape);
}

/// Returns the distributions of tensors on a mesh that are tested.
std::vector<Target> tested_targets(const DeviceMesh& mesh) {
  if (mesh.ndim() == 1) return {Shard(0), Shard(1), Replicate(), Balanced(0), Cyclic(0, 2)};
  return {Placements{Shard(0), Shard(1)}, Placements{Replicate(), Shard(0)},
          Placements{Shard(0), Shard(0)}};
}

/// Calls function(mesh, target) for a line and a grid.
template <class Function>
void for_all_targets(const Function& function) {
  for (const auto& mesh : line_and_grid())
    for (const auto& target : tested_targets(mesh)) function(mesh, target);
}

/// Returns another box on each rank: overlapping ones, and none on one rank of three.
Box box_of_rank() {
  const int rank = world_rank();
  return rank % 3 == 1 ? Box() : Box{{rank % 3, 1}, {4, 3}};
}

/// Returns a patch of integers for a box.
Matrix patch_of(const Box& box) {
  return box.shape.empty() ? Matrix() : rank_integers(box.shape, 2);
}

/// Checks the identity of a function that makes local Views of a tensor. Returns the number of
/// exchanges of the backward pass.
template <class Function>
int expect_adjoint_of_fetch(const DTensor<Matrix>& x, const Function& function) {
  Tape tape;
  const auto variable = tape.watch(x);
  const auto result = function(variable);
  const auto y = rank_integers(detail::extents_of(result.detach()), 2);
  const Traffic traffic;
  tape.backward(result, y);
  const auto exchanges = traffic.exchanges();
  EXPECT_EQ(variable.grad().spec(), x.spec());
  EXPECT_EQ(sum_over_ranks(dot_of(result.detach(), y)), dot_of(x, variable.grad()));
  return exchanges;
}

/// Checks the identity of a function of a tensor and of patches, given the gradient of its result.
/// Returns the number of exchanges of the backward pass.
template <class Function>
int expect_adjoint_of_accumulate(const DTensor<Matrix>& x, const Matrix& patch,
                                 const DTensor<Matrix>& y, const Function& function) {
  Tape tape;
  const auto tensor = tape.watch(x);
  const auto added = tape.watch_local(patch);
  const auto result = function(tensor, added);
  const Traffic traffic;
  tape.backward(result, y);
  const auto exchanges = traffic.exchanges();
  EXPECT_EQ(detail::extents_of(added.grad()), detail::extents_of(patch));
  EXPECT_EQ(dot_of(result.detach(), y),
            dot_of(x, tensor.grad()) + sum_over_ranks(dot_of(patch, added.grad())));
  return exchanges;
}

TEST(GradFetch, adds_what_was_fetched_where_it_came_from) {
  for_all_targets([](const DeviceMesh& mesh, const Target& target) {
    const auto x = tensor_of(mesh, target, 1);
    const auto fetcher = make_fetch(x, box_of_rank());
    expect_adjoint_of_fetch(x, [&](const auto& v) { return grad::fetch(fetcher, v); });
    expect_adjoint_of_fetch(x, [&](const auto& v) { return grad::fetch(v, box_of_rank()); });
  });
}

TEST(GradFetch, boxes_that_wrap_around_add_what_they_cover_several_times) {
  for_all_targets([](const DeviceMesh& mesh, const Target& target) {
    const auto x = tensor_of(mesh, target, 1);
    const Box box{{-2 - world_rank(), 0}, {2 * shape[0], 2}};
    expect_adjoint_of_fetch(x,
                            [&](const auto& v) { return grad::fetch(v, box, {.periodic = {0}}); });
  });
}

TEST(GradFetch, takes_one_exchange_back_and_tells_no_boxes_again) {
  const Extents rows{2 * world_size(), 3};
  const auto x = iota<Matrix>(line(), Shard(0), rows);
  Tape tape;
  const auto variable = tape.watch(x);
  const auto y = grad::fetch(variable, Box{{0, 0}, rows});
  const auto dy = rank_integers(rows, 2);
  const Traffic traffic;
  tape.backward(y, dy);

  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(traffic.metadata(), 0);
}

TEST(GradFetch, gives_patches_in_views_of_a_type_of_choice) {
  const auto x = tensor_of(line(), Shard(0), 1);
  const auto fetcher = make_fetch<Matrix, LeftMatrix>(line(), x.spec(), box_of_rank());
  Tape tape;
  const auto variable = tape.watch(x);
  const auto y = grad::fetch<LeftMatrix>(fetcher, variable);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(y.detach())>, LeftMatrix>);
  const auto dy = rank_integers<LeftMatrix>(detail::extents_of(y.detach()), 2);
  tape.backward(y, dy);

  EXPECT_EQ(sum_over_ranks(dot_of(y.detach(), dy)), dot_of(x, variable.grad()));
}

TEST(GradFetch, of_numbers_without_dims) {
  const auto x = full<ScalarOf<double>>(line(), Replicate(), {}, 5.0);
  Tape tape;
  const auto variable = tape.watch(x);
  const auto y = grad::fetch(variable, Box());
  tape.backward(ops::multiply(y, 3));

  EXPECT_EQ(on_host(variable.grad().to_local())(), 3 * world_size());
}

TEST(GradAccumulate, fetches_the_gradient_of_patches) {
  for_all_targets([](const DeviceMesh& mesh, const Target& target) {
    const auto x = tensor_of(mesh, target, 1);
    const auto patch = patch_of(box_of_rank());
    const auto fetcher = make_fetch(x, box_of_rank());
    const auto check = [&](const DTensor<Matrix>& y) {
      expect_adjoint_of_accumulate(x, patch, y, [&](const auto& tensor, const auto& added) {
        return grad::accumulate(fetcher, tensor, added);
      });
      expect_adjoint_of_accumulate(x, patch, y, [&](const auto& tensor, const auto& added) {
        return grad::accumulate(tensor, box_of_rank(), added);
      });
    };
    for (const auto& placed : tested_targets(mesh)) check(tensor_of(mesh, placed, 2));
    check(partial_tensor(mesh));
  });
}

TEST(GradAccumulate, leaves_the_tensor_as_it_is) {
  const auto x = tensor_of(line(), Shard(0), 1);
  const auto before = all_elements(x);
  Tape tape;
  const auto tensor = tape.watch(x);
  const auto y = grad::accumulate(tensor, box_of_rank(), patch_of(box_of_rank()));
  tape.backward(y, ones<Matrix>(line(), Shard(0), shape));

  expect_elements(x, testing::ElementsAreArray(before));
  expect_elements(tensor.grad(), testing::Each(1));
}

TEST(GradAccumulate, of_a_plain_tensor_gives_the_gradient_of_the_patch) {
  const auto x = tensor_of(line(), Shard(0), 1);
  Tape tape;
  const auto patch = tape.watch_local(patch_of(box_of_rank()));
  const auto y = grad::accumulate(x, box_of_rank(), patch);
  const auto dy = iota<Matrix>(line(), Shard(0), shape);
  tape.backward(y, dy);

  const auto expected = fetch(dy, box_of_rank());
  EXPECT_EQ(elements_of(patch.grad()), elements_of(expected));
}

TEST(GradAccumulate, takes_one_exchange_back_and_another_one_if_the_gradient_has_to_move) {
  const Extents rows{2 * world_size(), 2 * world_size()};
  const auto x = iota<Matrix>(line(), Shard(0), rows);
  const auto exchanges = [&](const Target& target) {
    return expect_adjoint_of_accumulate(x, rank_integers(rows, 1),
                                        iota<Matrix>(line(), target, rows),
                                        [&](const auto& tensor, const auto& added) {
                                          return grad::accumulate(tensor, Box{{0, 0}, rows}, added);
                                        });
  };
  EXPECT_EQ(exchanges(Shard(0)), one());
  EXPECT_EQ(exchanges(Shard(1)), 2 * one());
}

TEST(GradFetch, refuses_partial_tensors) {
  const auto x = partial_tensor(line());
  Tape tape;
  const auto variable = tape.watch(x);
  const auto text = invalid_argument_of([&] { grad::fetch(variable, box_of_rank()); });
  EXPECT_THAT(text, HasSubstr("fetch: expected a tensor without Partial"));
}

DeviceMesh line_of(const std::vector<int>& ranks) {
  std::string name = "ranks";
  for (const int rank : ranks) name += " " + std::to_string(rank);
  return kept_mesh(name, [&] {
    return DeviceMesh::from_ranks(MPI_COMM_WORLD, ranks, {static_cast<int>(ranks.size())});
  });
}

std::vector<int> reversed_ranks() {
  std::vector<int> ranks(static_cast<std::size_t>(world_size()));
  std::iota(ranks.rbegin(), ranks.rend(), 0);
  return ranks;
}

TEST(GradAcross, a_gradient_goes_back_to_the_mesh_of_the_variable) {
  const auto reversed = line_of(reversed_ranks());
  for (const Target& from : {Target(Shard(0)), Target(Replicate()), Target(Cyclic(1, 1))}) {
    const auto x = tensor_of(line(), from, 1), dy = tensor_of(reversed, Shard(1), 2);
    Tape tape;
    const auto variable = tape.watch(x);
    const auto y = redistribute(variable, reversed, Shard(0));
    tape.backward(y, dy);

    EXPECT_EQ(variable.grad().spec(), x.spec());
    EXPECT_EQ(dot_of(y.detach(), dy), dot_of(x, variable.grad()));
  }
}

TEST(GradAcross, the_gradient_of_contributions_is_replicated) {
  const auto x = partial_tensor(line());
  const auto reversed = line_of(reversed_ranks());
  Tape tape;
  const auto variable = tape.watch(x);
  const auto y = redistribute(variable, reversed, Shard(0));
  tape.backward(ops::sum(ops::multiply(y, 2)));

  EXPECT_EQ(variable.grad().placements(), Placements{Replicate()});
  expect_elements(variable.grad(), testing::Each(2));
}

TEST(GradAcross, ranks_of_one_mesh_alone_take_part) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto first = line_of({0}), last = line_of({world_size() - 1});
  if (!is_on(first) && !is_on(last)) return;
  const auto rows = world_rank() == 0 ? rank_integers(shape, 1) : Matrix();
  const auto x = from_local(rows, first, Shard(0));
  Tape tape;
  const auto variable = tape.watch(x);
  const auto y = redistribute(ops::multiply(variable, 2), last, Shard(1));
  tape.backward(ops::multiply(y, 3), ones<Matrix>(last, Shard(1), shape));

  EXPECT_EQ(variable.grad().device_mesh(), first);
  const auto& gradient = variable.grad().to_local();
  EXPECT_EQ(gradient.size(), is_on(first) ? 35U : 0U);
  for (const auto element : elements_of(gradient)) EXPECT_EQ(element, 6);
}

TEST(GradAcross, ranks_of_one_mesh_alone_learn_boundaries) {
  if (world_size() != 4) GTEST_SKIP() << "needs 4 ranks";
  const auto from = line_of({0, 1}), to = line_of({2, 3});
  const auto rows = is_on(from) ? rank_integers({world_rank() == 0 ? 6 : 1, 5}, 1) : Matrix();
  const auto x = from_local(rows, from, Shard(0));
  Tape tape;
  const auto variable = tape.watch(x);
  const auto y = redistribute(variable, to, Shard(1));
  tape.backward(y, ones<Matrix>(to, Shard(1), shape));

  const auto& gradient = variable.grad().to_local();
  EXPECT_EQ(gradient.size(), rows.size());
  if (is_on(from)) {
    EXPECT_EQ(variable.grad().spec(), x.spec());
    EXPECT_THAT(elements_of(gradient), testing::Each(1));
  }
}

TEST(GradAsync, a_redistribution_in_the_background_is_recorded_when_it_is_complete) {
  const auto x = tensor_of(line(), Shard(0), 1), dy = tensor_of(line(), Shard(1), 2);
  const auto reversed = line_of(reversed_ranks());
  Tape tape;
  const auto variable = tape.watch(x);
  auto pending = redistribute_async(variable, Shard(1));
  while (!pending.test()) {
  }
  const auto y = pending.wait();
  const Traffic traffic;
  tape.backward(y, dy);
  EXPECT_EQ(traffic.exchanges(), one());
  EXPECT_EQ(dot_of(y.detach(), dy), dot_of(x, variable.grad()));

  tape.zero_grad();
  const auto z = redistribute_async(variable, reversed, Shard(1)).wait();
  const auto dz = tensor_of(reversed, Shard(0), 3);
  tape.backward(z, dz);
  EXPECT_EQ(dot_of(z.detach(), dz), dot_of(x, variable.grad()));
}

TEST(GradAsync, a_redistribution_that_converts_gives_back_the_element_type) {
  const auto x = tensor_of(line(), Shard(0), 1);
  Tape tape;
  const auto variable = tape.watch(x);
  const auto y = redistribute_async<MatrixOf<float>>(variable).wait();
  tape.backward(y, ones<MatrixOf<float>>(line(), Replicate(), shape));
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(variable.grad())>, DTensor<Matrix::const_type>>);
  expect_elements(variable.grad(), testing::Each(1));
}

TEST(GradAsync, a_result_after_a_backward_pass_is_an_error) {
  Tape tape;
  const auto variable = tape.watch(tensor_of(line(), Shard(0), 1));
  const auto x = ops::multiply(variable, 2);
  auto pending = redistribute_async(x, Shard(1));
  tape.backward(ops::sum(x));
  EXPECT_THAT(invalid_argument_of([&] { pending.wait(); }),
              HasSubstr("expected a value that was computed since the last backward()"));
}

}  // namespace
}  // namespace tessera::test
