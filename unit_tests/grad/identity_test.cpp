// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// The functions that move variables are linear. Each one, A, is tested with its adjoint by the
// identity sum over ranks of <(A x)_r, y_r> = <x, Aᵀ y>, where each rank has a y_r of its own. All
// numbers are integers, so that both sides are exact.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include <gtest/gtest.h>

#include <tessera/grad/movement.hpp>
#include <tessera/grad/tape.hpp>
#include <tessera/tessera.hpp>

#include "../support/meshes.hpp"
#include "../support/random_case.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

using Options = grad::LocalOptions;

DeviceMesh all_ranks() {
  return mesh_of({world_size()});
}

const std::vector<Placement>& tested_placements() {
  static const std::vector<Placement> placements{
      Replicate(), Shard(0),    Shard(1), Partial(), Partial(ReduceOp::avg),
      Balanced(0), Cyclic(1, 1)};
  return placements;
}
const std::vector<Extents>& tested_shapes() {
  static const std::vector<Extents> shapes{{4, 8}, {5, 3}, {1, 7}};
  return shapes;
}

DTensorSpec spec_of(const Placement& placement, const Extents& shape) {
  return DTensorSpec(all_ranks().layout(), Placements{placement}, shape);
}

/// Returns a small integer for an element and a rank, times the number of ranks: averages stay
/// integers.
double integer_of(std::int64_t flat, int rank, int salt) {
  const auto mixed = (flat * 29 + rank * 17 + salt * 11) % 23 - 11;
  return static_cast<double>(mixed * world_size());
}

/// Returns a View of these extents whose integers depend on `number`, which is the rank or, where
/// all ranks have to have the same, 0.
Matrix integers(const Extents& shape, int number, int salt) {
  const auto view = detail::allocate<Matrix>(shape, "integers");
  change_on_host(view, [&](const auto& host) {
    std::int64_t flat = 0;
    for_each_index_in({Extents::filled(2, 0), shape}, [&](const Extents& index) {
      element_of(host, Extents::filled(2, 0), index) = integer_of(flat++, number, salt);
    });
  });
  return view;
}

/// Returns this rank's View of a tensor: contributions differ among ranks, replicas do not.
Matrix local_integers(const Placement& placement, const Extents& shape, int salt) {
  const auto piece = spec_of(placement, shape).sections(*all_ranks().coordinate()).shape();
  return integers(piece, placement.is_replicate() ? 0 : world_rank() + 1, salt);
}

/// Returns the scalar product of two Views.
template <class A, class B>
double dot_of(const A& a, const B& b) {
  EXPECT_EQ(detail::extents_of(a), detail::extents_of(b));
  if (detail::extents_of(a) != detail::extents_of(b)) return 0;
  const auto x = on_host(a);
  const auto y = on_host(b);
  double result = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i)
    for (std::size_t j = 0; j < x.extent(1); ++j) result += x(i, j) * y(i, j);
  return result;
}

double sum_over_ranks(double mine) {
  double result = 0;
  MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return result;
}

/// Holds one side of the identity in the space of results.
struct Cotangents {
  Matrix mine;
  double scale;  ///< factor of the sum over ranks: averages are divided by the number of ranks
  Options options;
};

/// Returns what ranks have as gradients of a local View under `placement`. They differ where the
/// View is one of the replicas, whose gradients are added, or a piece. The gradient of
/// contributions is the same on all ranks.
Cotangents cotangents_of(const Placement& placement, const Extents& local_shape) {
  if (placement.is_partial()) {
    const double ranks = placement.is_partial(ReduceOp::avg) ? world_size() : 1;
    return {integers(local_shape, 0, 2), 1 / ranks, {}};
  }
  Options options;
  if (placement.is_replicate()) options.grad_placements = Placements{Partial()};
  return {integers(local_shape, world_rank() + 1, 2), 1, options};
}

std::string text_of(const Placement& from, const Placement& to, const Extents& shape) {
  return to_string(from) + " to " + to_string(to) + ", shape " + to_string(shape) + ", rank " +
         std::to_string(world_rank());
}

/// Calls function(from, to, shape) for all pairs of placements.
template <class Function>
void for_all_pairs(const Function& function) {
  for (const auto& shape : tested_shapes())
    for (const auto& from : tested_placements())
      for (const auto& to : tested_placements()) function(from, to, shape);
}

/// Returns the sum over ranks of <result, cotangent>, and runs the backward pass.
double result_side(grad::Tape& tape, const grad::LocalVariable<Matrix>& result,
                   const Cotangents& cotangents) {
  const double mine = dot_of(result.detach(), cotangents.mine);
  tape.backward(result, cotangents.mine);
  const double all = sum_over_ranks(mine);
  return cotangents.scale == 1 ? all : all / world_size();
}

/// Returns <value, gradient> of a watched tensor.
double tensor_side(const grad::Variable<Matrix>& x) {
  return dot_of(full_tensor(x.detach()), full_tensor(x.grad()));
}

TEST(AdjointIdentity, of_redistribute_and_to_local) {
  for_all_pairs([](const Placement& from, const Placement& to, const Extents& shape) {
    grad::Tape tape;
    const auto x = tape.watch(from_local(local_integers(from, shape, 1), all_ranks(),
                                         Target(spec_of(from, shape)), shape));
    const auto moved = grad::redistribute(x, Target(spec_of(to, shape)));
    const auto cotangents = cotangents_of(to, detail::extents_of(moved.detach().to_local()));
    const auto local = grad::to_local(moved, cotangents.options);
    const double left = result_side(tape, local, cotangents), right = tensor_side(x);
    EXPECT_EQ(left, right) << "to_local of redistribute from " << text_of(from, to, shape);
    EXPECT_EQ(x.grad().spec(), detail::like_spec(x.spec())) << text_of(from, to, shape);
  });
}

TEST(AdjointIdentity, of_to_local_alone) {
  for (const auto& shape : tested_shapes())
    for (const auto& placement : tested_placements()) {
      grad::Tape tape;
      const auto x = tape.watch(from_local(local_integers(placement, shape, 1), all_ranks(),
                                           Target(spec_of(placement, shape)), shape));
      const auto cotangents = cotangents_of(placement, detail::extents_of(x.detach().to_local()));
      const auto local = grad::to_local(x, cotangents.options);
      const double left = result_side(tape, local, cotangents), right = tensor_side(x);
      EXPECT_EQ(left, right) << "to_local of " << text_of(placement, placement, shape);
    }
}

TEST(AdjointIdentity, of_full_tensor) {
  for (const auto& shape : tested_shapes())
    for (const auto& from : tested_placements()) {
      grad::Tape tape;
      const auto x = tape.watch(from_local(local_integers(from, shape, 1), all_ranks(),
                                           Target(spec_of(from, shape)), shape));
      const auto cotangents = cotangents_of(Replicate(), shape);
      const auto full = grad::full_tensor(x, cotangents.options);
      const double left = result_side(tape, full, cotangents), right = tensor_side(x);
      EXPECT_EQ(left, right) << "full_tensor of " << text_of(from, Replicate(), shape);
    }
}

TEST(AdjointIdentity, of_full_tensor_with_one_gradient_for_all_ranks) {
  for (const auto& shape : tested_shapes())
    for (const auto& from : tested_placements()) {
      grad::Tape tape;
      const auto x = tape.watch(from_local(local_integers(from, shape, 1), all_ranks(),
                                           Target(spec_of(from, shape)), shape));
      const auto full = grad::full_tensor(x);
      const auto same = integers(shape, 0, 2);
      const double left = dot_of(full.detach(), same);
      tape.backward(full, same);
      EXPECT_EQ(left, tensor_side(x)) << "full_tensor of " << text_of(from, Replicate(), shape);
    }
}

/// Returns the side of the identity in the space of the local Views that from_local() took: a sum
/// over ranks, or, of replicas whose gradients are whole, that of this rank.
double local_side(const grad::LocalVariable<Matrix>& local, bool is_whole) {
  const double mine = dot_of(local.detach(), local.grad());
  const double all = sum_over_ranks(mine);
  return is_whole ? mine : all;
}

void expect_identity_of_from_local(const Placement& from, const Placement& to, const Extents& shape,
                                   bool takes_partial) {
  grad::Tape tape;
  const auto local = tape.watch_local(local_integers(from, shape, 1));
  Options options;
  if (takes_partial) options.grad_placements = Placements{Partial()};
  const auto x = grad::from_local(local, all_ranks(), Target(spec_of(from, shape)), shape, options);
  const auto moved = grad::redistribute(x, Target(spec_of(to, shape)));
  const auto cotangents = cotangents_of(to, detail::extents_of(moved.detach().to_local()));
  const auto result = grad::to_local(moved, cotangents.options);
  const double left = result_side(tape, result, cotangents);
  const double right = local_side(local, from.is_replicate() && !takes_partial);
  EXPECT_EQ(left, right) << "to_local of redistribute of from_local, " << text_of(from, to, shape)
                         << (takes_partial ? ", grad_placements P(sum)" : "");
}

TEST(AdjointIdentity, of_from_local_and_redistribute) {
  for_all_pairs([](const Placement& from, const Placement& to, const Extents& shape) {
    expect_identity_of_from_local(from, to, shape, false);
  });
}

TEST(AdjointIdentity, of_from_local_of_replicas_that_have_parts_of_the_gradient) {
  for (const auto& shape : tested_shapes())
    for (const auto& to : tested_placements())
      expect_identity_of_from_local(Replicate(), to, shape, true);
}

TEST(AdjointIdentity, of_from_local_alone) {
  for (const auto& shape : tested_shapes())
    for (const auto& from : tested_placements()) {
      grad::Tape tape;
      const auto local = tape.watch_local(local_integers(from, shape, 1));
      const auto x = grad::from_local(local, all_ranks(), Target(spec_of(from, shape)), shape);
      const auto y = from_local(local_integers(Partial(), shape, 3), all_ranks(), Partial(), shape);
      const double left = dot_of(full_tensor(x.detach()), full_tensor(y));
      tape.backward(x, y);
      EXPECT_EQ(left, local_side(local, from.is_replicate()))
          << "from_local of " << text_of(from, from, shape);
    }
}

/// Returns the placements with Partial for Replicate.
Placements with_contributions(const Placements& placements) {
  std::vector<Placement> result;
  std::vector<int> positions;
  for (std::size_t m = 0; m < placements.size(); ++m) {
    const auto& placement = placements[m];
    result.push_back(placement.is_replicate() ? Placement(Partial()) : placement);
    positions.push_back(placement.is_shard() ? placements.split_position(static_cast<int>(m)) : 0);
  }
  return {result, positions};
}

/// Draws moves of tensors on meshes of two dims. TESSERA_TEST_SEED and TESSERA_TEST_CASES repeat
/// and extend it.
class Moves {
 public:
  DTensorSpec draw_spec(const DeviceMesh& mesh, const Extents& shape, std::optional<ReduceOp> op) {
    const auto placements = random_placements(generator_, 2, 2, op);
    return with_random_boundaries(generator_, DTensorSpec(mesh.layout(), placements, shape));
  }

  void expect_identity(const DeviceMesh& mesh) {
    const Extents shape{draw(generator_, 0, 7), draw(generator_, 1, 7)};
    const auto from = draw_spec(mesh, shape, ReduceOp::sum), to = draw_spec(mesh, shape, {});
    grad::Tape tape;
    const auto coordinate = *mesh.coordinate();
    int number = 0;  // the same for replicas
    for (std::size_t m = 0; m < 2; ++m)
      if (!from.placements()[m].is_replicate()) number = 5 * number + coordinate[m] + 1;
    const auto x = tape.watch(from_local(integers(from.sections(coordinate).shape(), number, 1),
                                         mesh, Target(from), shape));
    const auto local = grad::to_local(grad::redistribute(x, Target(to)),
                                      {.grad_placements = with_contributions(to.placements())});
    const auto cotangent = integers(detail::extents_of(local.detach()), world_rank() + 1, 2);
    const double left = sum_over_ranks(dot_of(local.detach(), cotangent));
    tape.backward(local, cotangent);
    EXPECT_EQ(left, tensor_side(x)) << to_string(from) << " to " << to_string(to);
  }

 private:
  Generator generator_{seed() + static_cast<unsigned>(world_size())};
};

TEST(AdjointIdentity, of_redistributions_on_meshes_of_two_dims) {
  const int size = world_size();
  auto meshes = meshes_of({{1, size}, {size, 1}});
  if (size == 4) meshes.push_back(mesh_of({2, 2}));
  Moves moves;
  const int count = cases(500);
  for (int i = 0; i < count && !HasFailure(); ++i)
    moves.expect_identity(meshes[static_cast<std::size_t>(i) % meshes.size()]);
}

}  // namespace
}  // namespace tessera::test
