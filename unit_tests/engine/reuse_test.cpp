// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory and fences of repeated executions, as Kokkos' tools interface sees them.
#include <gmock/gmock.h>

#include <tessera/plan/plan.hpp>
#include <tessera/redistribute/calibrate.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/tensor/factories.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/errors.hpp"
#include "../support/kokkos_events.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "engine/run.hpp"
#include "engine/short_exchange.hpp"
#include "plan/movement.hpp"

namespace tessera::test {
namespace {

struct Transition {
  Placement from;
  Placement to;
};

/// In host memory: a device is also fenced before other ranks go on.
TEST(Reuse, second_execution_allocates_nothing_and_fences_once) {
  const auto mesh = mesh_of({world_size()});
  for (const auto& [from, to] : std::vector<Transition>{{Shard(0), Shard(1)},
                                                        {Shard(0), Replicate()},
                                                        {Partial(), Shard(1)},
                                                        {Partial(), Replicate()}}) {
    const DTensorSpec source(mesh.layout(), {from}, {300, 200});
    const DTensorSpec target(mesh.layout(), {to}, {300, 200});
    const auto redistributor = make_plan(source, target, element_type<double>()).bind(mesh);
    const auto a = detail::allocate<HostMatrix>(source.local_shape(mesh.rank()), "a");
    const auto b = detail::allocate<HostMatrix>(target.local_shape(mesh.rank()), "b");
    Kokkos::deep_copy(a, 1);
    redistributor.execute(a, b);

    const RecordedEvents seen;
    redistributor.execute(a, b);

    EXPECT_THAT(seen->copies, testing::IsEmpty()) << to_string(from) << " -> " << to_string(to);
    EXPECT_THAT(seen->allocations, testing::IsEmpty())
        << to_string(from) << " -> " << to_string(to);
    EXPECT_EQ(seen->fences.size(), 1u) << to_string(from) << " -> " << to_string(to);
  }
}

/// A View of this shape at an address, and every second time with strides, that no other has.
Kokkos::View<double**, Kokkos::LayoutStride, TestSpace> piece_of(const Extents& shape, int number) {
  const auto extra = number % 2;
  const Matrix whole("piece", shape[0] + extra, shape[1] + extra);
  return Kokkos::subview(whole, std::pair<std::int64_t, std::int64_t>(0, shape[0]),
                         std::pair<std::int64_t, std::int64_t>(extra, shape[1] + extra));
}

TEST(Reuse, executions_may_differ_in_their_memory) {
  const auto mesh = mesh_of({world_size()});
  for (const Extents& shape : {Extents{30, 21}, Extents{600, 410}})
    for (const auto& [from, to] : std::vector<Transition>{{Shard(0), Shard(1)},
                                                          {Shard(1), Replicate()},
                                                          {Partial(), Shard(1)},
                                                          {Partial(), Replicate()}}) {
      const DTensorSpec source(mesh.layout(), {from}, shape);
      const DTensorSpec target(mesh.layout(), {to}, shape);
      const auto plan = make_plan(source, target, element_type<double>());
      const auto redistributor = plan.bind(mesh);
      for (int number = 0; number < 6; ++number) {
        const auto a = piece_of(source.local_shape(mesh.rank()), number / 2);
        const auto b = piece_of(target.local_shape(mesh.rank()), number / 3);
        const auto expected = piece_of(target.local_shape(mesh.rank()), 0);
        change_on_host(a, [&](const auto& host) {
          const auto first = number * 1'000'000 + mesh.rank() * 500'000;
          for (std::size_t i = 0; i < host.extent(0); ++i)
            for (std::size_t j = 0; j < host.extent(1); ++j)
              host(i, j) = static_cast<double>(first + 500 * i + j);
        });

        redistributor.execute(a, b);

        plan.bind(mesh).execute(a, expected);
        const auto result = on_host(b);
        const auto right = on_host(expected);
        bool is_equal = true;
        for (std::size_t i = 0; i < result.extent(0); ++i)
          for (std::size_t j = 0; j < result.extent(1); ++j)
            is_equal = is_equal && result(i, j) == right(i, j);
        EXPECT_TRUE(is_equal) << to_string(plan) << ", execution " << number;
      }
    }
}

/// Two rows or columns for the first rank, the rest for the others.
Boundaries first_part_of_two(std::size_t dim, std::int64_t extent, int parts) {
  Boundaries boundaries(2);
  boundaries[dim] = {0, 2};
  for (int part = 1; part < parts; ++part)
    boundaries[dim].push_back(2 + (extent - 2) * part / (parts - 1));
  return boundaries;
}

TEST(Reuse, executions_may_move_little_on_one_rank_and_much_on_another) {
  const int n = world_size();
  if (n == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = mesh_of({n});
  const Extents shape{800, 700};
  const DTensorSpec by_rows(mesh.layout(), {Shard(0)}, shape, first_part_of_two(0, shape[0], n));
  const DTensorSpec by_columns(mesh.layout(), {Shard(1)}, shape, first_part_of_two(1, shape[1], n));
  const auto rows = detail::allocate<Matrix>(by_rows.local_shape(mesh.rank()), "rows");
  fill_iota(rows, by_rows.global_offset(mesh.rank()), shape);
  const auto source = from_local(rows, mesh, {Shard(0)});

  for (int turn = 0; turn < 3; ++turn) {
    const auto turned = redistribute(source, by_columns);
    const auto back = redistribute(turned, by_rows);

    EXPECT_EQ(wrong_iota(turned), "");
    EXPECT_EQ(wrong_iota(back), "");
  }
}

TEST(Reuse, executions_may_reduce_little_on_one_rank_and_much_on_another) {
  const int n = world_size();
  if (n == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = mesh_of({n});
  // Terms of just less than 1 MiB: from 4 ranks on, the first rank alone has less than 4 MiB.
  const Extents shape{200 * (n - 1) + 2, 200 * (n - 1) + 50};
  const auto ones = full<Matrix>(mesh, {Replicate()}, shape, 1.0).to_local();
  const auto terms = from_local(ones, mesh, {Partial()}, shape);
  for (const std::size_t dim : {0, 1}) {
    const DTensorSpec uneven(mesh.layout(), {Shard(static_cast<int>(dim))}, shape,
                             first_part_of_two(dim, shape[dim], n));

    for (int turn = 0; turn < 3; ++turn) {
      const auto sum = redistribute(terms, uneven);

      EXPECT_EQ(wrong_piece(sum, [&](const Extents&) { return n; }), "") << "dim " << dim;
    }
  }
}

TEST(Reuse, what_moves_little_in_messages_or_not_at_all_takes_the_short_way) {
  const auto mesh = mesh_of({world_size()});
  const auto serves = [&](const Placement& from, const Placement& to, const Extents& shape) {
    const DTensorSpec source(mesh.layout(), {from}, shape);
    const DTensorSpec target(mesh.layout(), {to}, shape);
    const auto redistributor = make_plan(source, target, element_type<double>()).bind(mesh);
    const auto steps = redistributor.plan().steps(mesh.rank());
    return detail::ShortExchange::may_serve(detail::PlanAccess::movement(redistributor.plan()),
                                            steps,
                                            detail::RedistributorAccess::group(redistributor));
  };
  const auto group = mesh.group();
  const DTensorSpec any(mesh.layout(), {Shard(0)}, {60, 50});
  const auto plan = make_plan(any, any, element_type<double>());
  const auto peers = detail::peers_of(group, detail::PlanAccess::movement(plan));
  const bool is_direct = peers.staging != detail::Staging::all_memory;
  bool are_others_remote = is_direct;
  for (int rank = 0; rank < mesh.size(); ++rank)
    are_others_remote = are_others_remote && (rank == mesh.rank() || peers.lane(rank) < 0);

  for (const auto& [from, to] : std::vector<Transition>{{Shard(0), Shard(1)},
                                                        {Shard(1), Replicate()},
                                                        {Partial(), Shard(1)},
                                                        {Partial(), Replicate()}}) {
    EXPECT_EQ(serves(from, to, {60, 50}), are_others_remote) << to_string(from) << to_string(to);
    EXPECT_FALSE(serves(from, to, {6000, 5000})) << to_string(from) << to_string(to);
  }
  EXPECT_EQ(serves(Partial(), Shard(1), {401, 511}), are_others_remote) << "in several chunks";
  EXPECT_EQ(serves(Replicate(), Shard(0), {60, 50}), is_direct) << "nothing travels";
}

/// rank + 1 times a number of its own for each element, summed over ranks.
double sum_of_terms(int ranks, std::int64_t row, std::int64_t column) {
  return 0.5 * ranks * (ranks + 1) * static_cast<double>(1000 * row + column);
}

template <class Source, class Target>
void expect_sums(const DeviceMesh& mesh, const Extents& shape, WireOrder order) {
  const Source mine("mine", static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1]));
  change_on_host(mine, [&](const auto& host) {
    for (std::size_t i = 0; i < host.extent(0); ++i)
      for (std::size_t j = 0; j < host.extent(1); ++j)
        host(i, j) = (mesh.rank() + 1) * static_cast<double>(1000 * i + j);
  });
  for (const Placement to : {Placement(Shard(0)), Placement(Shard(1)), Placement(Replicate())}) {
    const DTensorSpec source(mesh.layout(), {Partial()}, shape);
    const DTensorSpec target(mesh.layout(), {to}, shape);
    detail::PlanSettings settings;
    settings.wire_order = order;
    const auto redistributor =
        detail::plan_on_one_mesh(source, target, element_type<double>(), settings).bind(mesh);
    const auto offset = target.global_offset(mesh.rank());
    for (int turn = 0; turn < 3; ++turn) {
      const auto sum = detail::allocate<Target>(target.local_shape(mesh.rank()), "sum");
      redistributor.execute(mine, sum);

      const auto host = on_host(sum);
      int wrong = 0;
      for (std::size_t i = 0; i < host.extent(0); ++i)
        for (std::size_t j = 0; j < host.extent(1); ++j)
          wrong += host(i, j) != sum_of_terms(mesh.size(), offset[0] + static_cast<std::int64_t>(i),
                                              offset[1] + static_cast<std::int64_t>(j));
      EXPECT_EQ(wrong, 0) << to_string(shape) << " to " << to_string(to) << ", turn " << turn;
    }
  }
}

TEST(Reuse, executions_may_reduce_little_of_any_layout) {
  const auto mesh = mesh_of({world_size()});
  // Of the last ones, terms travel in several chunks.
  for (const Extents& shape : {Extents{31, 22}, Extents{90, 64}, Extents{4000, 1},
                               Extents{401, 511}, Extents{700, 500}, Extents{3, 90000}})
    for (const auto order : {WireOrder::last_dim_fastest, WireOrder::first_dim_fastest}) {
      expect_sums<Matrix, Matrix>(mesh, shape, order);
      expect_sums<LeftMatrix, LeftMatrix>(mesh, shape, order);
      expect_sums<LeftMatrix, Matrix>(mesh, shape, order);
    }
}

TEST(Reuse, executions_in_place_and_elsewhere_take_turns) {
  const auto mesh = mesh_of({world_size()});
  const auto source = [&] {
    const auto ones = full<Matrix>(mesh, {Replicate()}, {40, 30}, 1.0).to_local();
    return from_local(ones, mesh, {Partial()}, Extents{40, 30});
  };
  for (int turn = 0; turn < 4; ++turn) {
    const auto kept = source();

    const auto elsewhere = redistribute(kept, {Replicate()});
    const auto in_place = redistribute(source(), {Replicate()}, {.donate_source = true});

    EXPECT_EQ(on_host(kept.to_local())(39, 29), 1.0);
    EXPECT_EQ(on_host(elsewhere.to_local())(39, 29), world_size());
    EXPECT_EQ(on_host(in_place.to_local())(39, 29), world_size());
  }
}

TEST(Reuse, result_that_nobody_holds_is_given_out_again) {
  const int n = world_size();
  if (n == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {8 * n, 4 * n});
  const auto* const first = redistribute(source, {Shard(1)}).to_local().data();

  const RecordedEvents seen;
  const auto again = redistribute(source, {Shard(1)});
  EXPECT_THAT(seen->allocations, testing::IsEmpty());
  const auto other = redistribute(source, {Shard(1)});

  EXPECT_EQ(again.to_local().data(), first);
  EXPECT_NE(other.to_local().data(), first);
}

TEST(Reuse, view_of_a_result_keeps_its_memory) {
  const int n = world_size();
  if (n == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {8 * n, 4 * n});
  const auto row = Kokkos::subview(redistribute(source, {Shard(1)}).to_local(), 1, Kokkos::ALL);

  const auto next = redistribute(source, {Shard(1)});

  EXPECT_NE(next.to_local().data() + row.extent(0), row.data());
}

TEST(Reuse, can_be_turned_off_and_ends_with_the_mesh) {
  const int n = world_size();
  if (n == 1) GTEST_SKIP() << "needs 2 ranks";
  auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  auto source = iota<Matrix>(mesh, {Shard(0)}, {8 * n, 4 * n});
  set_recycling(mesh, 0);
  redistribute(source, {Shard(1)});
  {
    const RecordedEvents seen;
    redistribute(source, {Shard(1)});
    EXPECT_EQ(seen->allocations.size(), 1u);
  }
  set_recycling(mesh, 1 << 20);
  const auto view = redistribute(source, {Shard(1)}).to_local();
  EXPECT_EQ(view.use_count(), 2);
  source = {};
  mesh = {};
  EXPECT_EQ(view.use_count(), 1);
}

TEST(Reuse, with_an_instance_results_are_fresh) {
  const int n = world_size();
  if (n == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {8 * n, 4 * n});
  const Kokkos::DefaultExecutionSpace exec;
  redistribute(exec, source, {Shard(1)});

  const RecordedEvents seen;
  redistribute(exec, source, {Shard(1)});

  EXPECT_EQ(seen->allocations.size(), 1u);
}

TEST(Calibrate, gives_every_rank_the_same_model_and_later_plans_are_made_by_it) {
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);

  const auto model = calibrate(mesh);

  EXPECT_GT(model.seconds_per_message, 0);
  EXPECT_GT(model.seconds_per_byte, 0);
  EXPECT_GT(model.seconds_per_reduced_byte, 0);
  for (const auto& other : all_gather_value(mesh.group(), model, TraceKind::metadata, "test"))
    EXPECT_EQ(other, model);
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {30, 40});
  EXPECT_EQ(redistribute(source, {Shard(1)}).shape(), source.shape());
}

TEST(Calibrate, beside_another_call_is_an_error_on_every_rank) {
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  if (mesh.size() == 1) return;
  const auto source = iota<Matrix>(mesh, {Shard(0)}, {30, 40});

  const auto message = message_of<Error>([&] {
    if (mesh.rank() == 0) return void(calibrate(mesh));
    redistribute(source, {Shard(1)});
  });
  const auto model = calibrate(mesh);

  EXPECT_THAT(message, testing::HasSubstr("calibrate"));
  for (const auto& other : all_gather_value(mesh.group(), model, TraceKind::metadata, "test"))
    EXPECT_EQ(other, model);
}

}  // namespace
}  // namespace tessera::test
