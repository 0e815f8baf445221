// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Random programs of collective calls on several meshes and tensors; in every third one, one rank
// does something else at one place. TESSERA_TEST_SEED repeats a run.
#include <iostream>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/gathered.hpp"
#include "../support/generator.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

/// A tensor of which each element is `factor` times its global index.
struct Known {
  DTensor<Matrix> tensor;
  double factor = 1;
};

/// What all ranks do next, the same everywhere.
struct Step {
  enum Kind {
    redistribution,
    into,
    full,
    gather,
    distribution,
    local,
    mapped,
    reduced,
    gathered,
    exchanged,
    scattered,
    broadcast_view,
    reduced_later,
    kinds
  };
  Kind kind;
  std::size_t mesh;
  std::size_t slot;
  Placements placements;
  Extents shape;
  int number;
};

/// What one rank does instead.
enum class Deviation {
  other_placements,
  other_call,
  other_shape,
  other_mesh,
  wrong_argument,
  throws,
  count
};

struct Outcome {
  std::string error;  ///< "" where all went well
  std::string wrong;  ///< the first wrong value
};

class Program {
 public:
  Program() {
    const int n = world_size();
    meshes_ = {mesh_of({n}), mesh_of({2, n / 2}), mesh_of({n / 2, 2}, {"a", "b"})};
    for (std::size_t m = 0; m < meshes_.size(); ++m)
      for (int slot = 0; slot < slots; ++slot)
        tensors_.push_back({iota<Matrix>(meshes_[m], all(m, Shard(0)), {12, 8 + slot}), 1});
  }

  std::size_t meshes() const { return meshes_.size(); }
  const DeviceMesh& mesh(std::size_t m) const { return meshes_[m]; }

  Step random_step(Generator& generator) const {
    Step step;
    step.kind = static_cast<Step::Kind>(draw(generator, 0, Step::kinds - 1));
    step.mesh = static_cast<std::size_t>(draw(generator, 0, static_cast<int>(meshes()) - 1));
    step.slot = step.mesh * slots + static_cast<std::size_t>(draw(generator, 0, slots - 1));
    std::vector<Placement> placements;
    for (int d = 0; d < meshes_[step.mesh].ndim(); ++d) {
      const int kind = draw(generator, 0, 3);
      placements.push_back(kind == 0 ? Placement(Replicate()) : Placement(Shard(kind % 2)));
    }
    step.placements = Placements(placements);
    step.shape = {draw(generator, 1, 20), draw(generator, 1, 9)};
    step.number = draw(generator, 0, world_size() - 1);
    return step;
  }

  /// One call, and no collective along one of several mesh dims: there the ranks of other lines
  /// take no part.
  Step random_step_of_a_whole_mesh(Generator& generator) const {
    for (;;) {
      const auto step = random_step(generator);
      if (step.kind < Step::reduced || (step.mesh == 0 && step.kind != Step::reduced_later))
        return step;
    }
  }

  /// One that no rank can complete without all others.
  Step random_step_that_needs_all(Generator& generator) const {
    for (;;) {
      const auto step = random_step(generator);
      if (step.mesh == 0 && step.kind >= Step::reduced && step.kind <= Step::scattered) return step;
    }
  }

  Outcome run(const Step& step, bool throws = false) {
    try {
      return {"", wrong_after(step, throws)};
    } catch (const std::exception& error) {
      return {error.what(), ""};
    }
  }

 private:
  static constexpr int slots = 2;

  Placements all(std::size_t m, Placement placement) const {
    return std::vector<Placement>(static_cast<std::size_t>(meshes_[m].ndim()), placement);
  }

  /// Does the step; the first value that the serial oracle does not have.
  std::string wrong_after(const Step& step, bool throws) {
    const auto& mesh = meshes_[step.mesh];
    auto& known = tensors_[step.slot];
    const auto along = step.number % mesh.ndim();
    const auto& shape = known.tensor.shape();
    switch (step.kind) {
      case Step::redistribution:
        known.tensor = redistribute(known.tensor, step.placements);
        return wrong_iota(known.tensor, known.factor);
      case Step::into: {
        const auto to = zeros<Matrix>(mesh, step.placements, shape);
        redistribute_into(to, known.tensor);
        return wrong_iota(to, known.factor);
      }
      case Step::full:
        return wrong_view(full_tensor(known.tensor), shape, GlobalIndex(shape, known.factor));
      case Step::gather: {
        const auto full = gather_to(known.tensor, step.number);
        if (mesh.rank() != step.number) return "";
        return wrong_view(full, shape, GlobalIndex(shape, known.factor));
      }
      case Step::distribution:
        known = {distribute_tensor(iota_view<Matrix>(step.shape), mesh, step.placements,
                                   {.src_rank = step.number}),
                 1};
        return wrong_iota(known.tensor, 1);
      case Step::local:
        known.tensor = from_local(known.tensor.to_local(), mesh, known.tensor.placements());
        return wrong_iota(known.tensor, known.factor);
      case Step::mapped:
        return mapped(known, throws);
      case Step::reduced_later: {
        auto pending = all_reduce_async(own(mesh), ReduceOp::sum, mesh, along);
        const auto full = full_tensor(known.tensor);
        const auto wrong = wrong_sum(pending.wait(), mesh, along);
        return wrong.empty() ? wrong_view(full, shape, GlobalIndex(shape, known.factor)) : wrong;
      }
      case Step::reduced:
        return wrong_sum(all_reduce(own(mesh), ReduceOp::sum, mesh, along), mesh, along);
      default:
        return wrong_collective(step, mesh, along);
    }
  }

  std::string mapped(Known& known, bool throws) {
    const auto twice = [&](const Matrix& view) {
      if (throws) throw std::runtime_error("func failed");
      const Matrix result("twice", view.extent(0), view.extent(1));
      Kokkos::deep_copy(result, view);
      change_on_host(result, [](const auto& host) {
        for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] *= 2;
      });
      return result;
    };
    known.tensor = local_map(twice, like_input(0))(known.tensor);
    known.factor *= 2;
    if (known.factor > 1e6)
      known = {
          iota<Matrix>(known.tensor.device_mesh(), known.tensor.placements(), known.tensor.shape()),
          1};
    return wrong_iota(known.tensor, known.factor);
  }

  /// A View of mesh rank + 1 everywhere.
  static Matrix own(const DeviceMesh& mesh) {
    const Matrix view("own", 4, 8);
    Kokkos::deep_copy(view, mesh.rank() + 1);
    return view;
  }

  static std::string wrong_sum(const Matrix& sum, const DeviceMesh& mesh, int along) {
    const auto group = mesh.sub(along);
    double expected = 0;
    for (const int rank : group.layout().ranks()) expected += mesh.layout().position_of(rank) + 1;
    return wrong_view(sum, {4, 8}, [&](const Extents&) { return expected; });
  }

  static std::string wrong_collective(const Step& step, const DeviceMesh& mesh, int along) {
    const auto group = mesh.sub(along);
    const auto& ranks = group.layout().ranks();
    const auto value_of = [&](std::int64_t position) {
      return mesh.layout().position_of(ranks[static_cast<std::size_t>(position)]) + 1.0;
    };
    const auto n = static_cast<std::int64_t>(ranks.size());
    if (step.kind == Step::gathered)
      return wrong_view(all_gather(own(mesh), 0, mesh, along), {4 * n, 8},
                        [&](const Extents& index) { return value_of(index[0] / 4); });
    if (step.kind == Step::exchanged)
      return wrong_view(all_to_all(own(mesh), 1, 0, mesh, along), {4 * n, 8 / n},
                        [&](const Extents& index) { return value_of(index[0] / 4); });
    if (step.kind == Step::broadcast_view)
      return wrong_view(broadcast(own(mesh), step.number % static_cast<int>(n), mesh, along),
                        {4, 8}, [&](const Extents&) { return value_of(step.number % n); });
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, value_of(i));
    return wrong_view(reduce_scatter(own(mesh), ReduceOp::max, 1, mesh, along), {4, 8 / n},
                      [&](const Extents&) { return largest; });
  }

  std::vector<DeviceMesh> meshes_;
  std::vector<Known> tensors_;
};

Step deviated(const Step& step, Deviation deviation, const Program& program) {
  auto result = step;
  const auto uniform = [&](Placement placement) {
    return Placements(std::vector<Placement>(
        static_cast<std::size_t>(program.mesh(result.mesh).ndim()), placement));
  };
  switch (deviation) {
    case Deviation::other_placements:
      result.placements =
          uniform(step.placements[0].is_replicate() ? Placement(Shard(0)) : Placement(Replicate()));
      break;
    case Deviation::other_call:
      if (step.kind >= Step::reduced)
        result.kind =
            step.kind == Step::scattered ? Step::reduced : static_cast<Step::Kind>(step.kind + 1);
      else
        result.kind = step.kind + 1 < Step::reduced ? static_cast<Step::Kind>(step.kind + 1)
                                                    : Step::redistribution;
      break;
    case Deviation::other_shape:
      result.kind = Step::distribution;
      result.shape[0] += 1;
      break;
    case Deviation::other_mesh:
      result.kind = std::min(step.kind, Step::mapped);
      result.mesh = (step.mesh + 1) % program.meshes();
      result.slot = (step.slot + 2) % (2 * program.meshes());
      result.placements = uniform(Shard(0));
      break;
    case Deviation::wrong_argument:
      result.kind = Step::redistribution;
      result.placements = uniform(Shard(7));
      break;
    default:
      result.kind = Step::mapped;
  }
  return result;
}

/// Whether all ranks threw or none, where the ranks compare every call; else whether those that
/// threw threw the same.
void expect_alike(const Outcome& mine, bool is_strict, bool is_users) {
  const auto all = gathered(mesh_of({world_size()}).group(), mine.error);
  const std::set<std::string> different(all.begin(), all.end());
  const bool has_silent = different.contains("");
  EXPECT_TRUE(!is_strict || !has_silent || different.size() == 1) << testing::PrintToString(all);
  EXPECT_LE(different.size(), (has_silent ? 2U : 1U) + (is_users ? 1U : 0U))
      << testing::PrintToString(all);
}

/// Where only new calls are compared, one that the others wait for.
Deviation random_deviation(Generator& generator, Agreement level) {
  if (level == Agreement::always)
    return static_cast<Deviation>(draw(generator, 0, static_cast<int>(Deviation::count) - 1));
  constexpr Deviation noticed[] = {Deviation::other_call, Deviation::other_shape,
                                   Deviation::wrong_argument};
  return noticed[draw(generator, 0, 2)];
}

void run_programs(Agreement level, int programs) {
  constexpr int steps = 50;
  const auto world = mesh_of({world_size()});
  const auto before = agreement(world);
  set_agreement(world, {.level = level, .timeout = before.timeout, .patience = before.patience});
  if (world_rank() == 0) std::cout << "seed " << seed() << "\n";
  int thrown = 0;
  for (int number = 0; number < programs; ++number) {
    Generator generator(seed() + static_cast<unsigned>(number));
    Program program;
    const bool deviates = number % 3 == 2;
    const int place = draw(generator, 0, steps - 1);
    const int rank = draw(generator, 0, world_size() - 1);
    const auto deviation = random_deviation(generator, level);
    for (int i = 0; i < (deviates ? place : steps); ++i) {
      const auto outcome = program.run(program.random_step(generator));
      ASSERT_EQ(outcome.error, "") << "program " << number << ", step " << i;
      ASSERT_EQ(outcome.wrong, "") << "program " << number << ", step " << i;
    }
    if (!deviates) continue;
    const auto step = level == Agreement::always ? program.random_step_of_a_whole_mesh(generator)
                                                 : program.random_step_that_needs_all(generator);
    const bool is_mine = world_rank() == rank;
    const auto outcome = program.run(is_mine ? deviated(step, deviation, program) : step,
                                     is_mine && deviation == Deviation::throws);
    if (!outcome.error.empty()) ++thrown;
    SCOPED_TRACE("program " + std::to_string(number) + ", step of kind " +
                 std::to_string(step.kind) + ", deviation " +
                 std::to_string(static_cast<int>(deviation)) + " on rank " + std::to_string(rank));
    // A func that throws where nobody needs its rank leaves the others nothing to notice.
    const bool is_users = deviation == Deviation::throws;
    expect_alike(outcome, level == Agreement::always && !is_users, is_users);
    const auto rows = iota<Matrix>(world, {Shard(0)}, {16, 16});
    EXPECT_EQ(wrong_iota(redistribute(rows, {Shard(1)})), "");
  }
  set_agreement(world, before);
  if (world_rank() == 0) std::cout << thrown << " programs ended with an exception\n";
  EXPECT_GT(thrown, programs / 6);
}

TEST(RandomPrograms, throw_on_all_ranks_or_none_where_every_call_is_compared) {
  if (world_size() % 4 != 0) GTEST_SKIP() << "needs 4 or 8 ranks";
  run_programs(Agreement::always, 500);
}

TEST(RandomPrograms, throw_the_same_where_only_new_calls_are_compared) {
  if (world_size() % 4 != 0) GTEST_SKIP() << "needs 4 or 8 ranks";
  run_programs(Agreement::plan, 500);
}

}  // namespace
}  // namespace tessera::test
