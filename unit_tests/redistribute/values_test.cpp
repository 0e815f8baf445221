// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What a redistribution does to View types, boundaries and bits.
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {

struct Particle {
  double position[3];
  int id;
};

}  // namespace tessera::test

namespace {

using namespace tessera;
using namespace tessera::test;

/// The fixed tree of the design, written once more.
template <class T, class Combine>
T tree(const std::vector<T>& contributions, std::size_t low, std::size_t high,
       const Combine& combine) {
  if (high - low == 1) return contributions[low];
  std::size_t half = 1;
  while (half * 2 < high - low) half *= 2;
  return combine(tree(contributions, low, low + half, combine),
                 tree(contributions, low + half, high, combine));
}

/// Contributions whose sum or product depends on the order in which they are combined.
template <class T>
T hostile_contribution(int rank, std::int64_t element) {
  if constexpr (requires(T value) { value.imag(); }) {
    using Real = typename T::value_type;
    return {hostile_contribution<Real>(rank, element),
            hostile_contribution<Real>(rank, element + 1)};
  } else {
    const auto large = T(1) / std::numeric_limits<T>::epsilon() * 4;
    if (element % 3 == 0) return T(0.1) * static_cast<T>(rank + 1);
    if (element % 3 == 1) return rank % 2 == 0 ? large : -large;
    return rank == 0 ? large : rank == 1 ? -large : T(0.3) * static_cast<T>(rank);
  }
}

template <class T>
bool are_same_bits(const T& a, const T& b) {
  if constexpr (requires { a.imag(); })
    return are_same_bits(a.real(), b.real()) && are_same_bits(a.imag(), b.imag());
  else
    return a == b && std::signbit(a) == std::signbit(b);
}

/// Devices have no arithmetic for long double.
template <class T>
using SpaceFor = std::conditional_t<std::is_same_v<T, long double>, Kokkos::HostSpace, TestSpace>;

template <class T, class Combine>
void expect_bits_of_tree(ReduceOp op, const Combine& combine) {
  using Values = Kokkos::View<T*, Kokkos::LayoutRight, SpaceFor<T>>;
  for (int ranks = 2; ranks <= world_size(); ++ranks) {
    const auto mesh = mesh_of({ranks});
    for (const std::int64_t size : {7, 5000}) {
      std::vector<T> expected;
      for (std::int64_t i = 0; i < size; ++i) {
        std::vector<T> contributions;
        for (int rank = 0; rank < ranks; ++rank)
          contributions.push_back(hostile_contribution<T>(rank, i));
        expected.push_back(tree(contributions, 0, contributions.size(), combine));
      }
      Values mine;
      if (is_on(mesh)) mine = Values("mine", size);
      change_on_host(mine, [&](const auto& host) {
        for (std::size_t i = 0; i < host.size(); ++i)
          host(i) = hostile_contribution<T>(mesh.rank(), static_cast<std::int64_t>(i));
      });
      const auto partial = from_local(mine, mesh, {Partial(op)}, {size});

      for (int repeat = 0; repeat < 3; ++repeat) {
        const auto reduced = on_host(redistribute(partial, {Replicate()}).to_local());
        const auto scattered = on_host(full_tensor(redistribute(partial, {Shard(0)})));
        int different = 0;
        for (std::size_t i = 0; i < reduced.size(); ++i) {
          different += !are_same_bits(reduced(i), expected[i]);
          different += !are_same_bits(scattered(i), expected[i]);
        }
        EXPECT_EQ(different, 0) << to_string(op) << " of " << to_string(element_type<T>()) << ", "
                                << ranks << " ranks, " << size << " elements";
      }
    }
  }
}

TEST(Reduction, has_the_bits_of_the_fixed_tree_on_every_rank_and_path) {
  expect_bits_of_tree<double>(ReduceOp::sum, std::plus());
  expect_bits_of_tree<float>(ReduceOp::sum, std::plus());
  expect_bits_of_tree<long double>(ReduceOp::sum, std::plus());
  expect_bits_of_tree<Kokkos::complex<double>>(ReduceOp::sum, std::plus());
  expect_bits_of_tree<Kokkos::complex<float>>(ReduceOp::sum, std::plus());
  expect_bits_of_tree<double>(ReduceOp::product, std::multiplies());
  expect_bits_of_tree<float>(ReduceOp::product, std::multiplies());
}

TEST(Bits, of_nans_and_signed_zeros_travel_unchanged) {
  using Bits = Kokkos::View<std::uint64_t*, Kokkos::LayoutRight, Kokkos::HostSpace>;
  const std::vector<std::uint64_t> patterns = {
      0x7ff8000000000001u, 0xfff8dead00000000u, 0x7ff0000000000001u, 0x8000000000000000u,
      0x0000000000000000u, 0x0000000000000001u, 0x7ff0000000000000u};
  for (const auto& mesh : meshes_of({{2}, {3}, {2, 2}})) {
    const Vector full("full", patterns.size());
    change_on_host(full, [&](const auto& host) {
      for (std::size_t i = 0; i < patterns.size(); ++i)
        host(i) = std::bit_cast<double>(patterns[i]);
    });
    const auto dims = static_cast<std::size_t>(mesh.ndim());
    const Placements all_shard = std::vector<Placement>(dims, Shard(0));
    const auto replicated = distribute_tensor(full, mesh);

    const auto gathered = on_host(full_tensor(redistribute(replicated, all_shard)));
    const auto on_last = on_host(gather_to(redistribute(replicated, all_shard), mesh.size() - 1));
    const auto through_max =
        redistribute(redistribute(replicated, all_shard),
                     Placements(std::vector<Placement>(dims, Partial(ReduceOp::max))));

    const Bits full_view(reinterpret_cast<std::uint64_t*>(gathered.data()), gathered.size());
    for (std::size_t i = 0; i < full_view.size(); ++i) EXPECT_EQ(full_view(i), patterns[i]);
    const Bits last(reinterpret_cast<std::uint64_t*>(on_last.data()), on_last.size());
    for (std::size_t i = 0; i < last.size(); ++i) EXPECT_EQ(last(i), patterns[i]);
    EXPECT_EQ(through_max.to_local().size(), gathered.size());
  }
}

TEST(Bits, of_infinite_complex_numbers_survive_a_product_with_the_identity) {
  using Numbers = Kokkos::View<Kokkos::complex<double>*, Kokkos::LayoutRight, TestSpace>;
  const auto mesh = mesh_of({world_size()});
  const double infinity = std::numeric_limits<double>::infinity();
  const Numbers full("full", 3);
  Kokkos::deep_copy(full, Kokkos::complex<double>(infinity, 0.0));

  const auto partial =
      redistribute(distribute_tensor(full, mesh, {Shard(0)}), {Partial(ReduceOp::product)});
  const auto full_view = on_host(full_tensor(partial));

  for (std::size_t i = 0; i < full_view.size(); ++i) {
    EXPECT_EQ(full_view(i).real(), infinity);
    EXPECT_EQ(full_view(i).imag(), 0.0);
  }
}

// Another split has the boundaries of the chunk rule, unless the target spec says others.
TEST(Boundaries, that_are_explicit_stay_where_the_split_stays) {
  const auto mesh = mesh_of({world_size()});
  const std::int64_t rows = mesh.rank() + 2;
  const Matrix piece("piece", static_cast<std::size_t>(rows), 5);
  auto offset = static_cast<std::int64_t>(0);
  std::int64_t total = 0;
  for (int rank = 0; rank < mesh.size(); ++rank) {
    if (rank < mesh.rank()) offset += rank + 2;
    total += rank + 2;
  }
  fill_iota(piece, {offset, 0}, {total, 5});
  const auto uneven = from_local(piece, mesh, {Shard(0)});
  Boundaries reversed{{0}, {}};
  for (int rank = mesh.size(); rank-- > 0;) reversed[0].push_back(reversed[0].back() + rank + 2);

  const auto same = redistribute(uneven, {Shard(0)});
  const auto columns = redistribute(uneven, {Shard(1)});
  const auto rows_again = redistribute(columns, {Shard(0)});
  const DTensorSpec given(mesh.layout(), {Shard(0)}, uneven.shape(), reversed);
  const auto as_given = redistribute(uneven, given);

  EXPECT_EQ(same.to_local().data(), piece.data());
  EXPECT_EQ(columns.spec(), DTensorSpec(mesh.layout(), {Shard(1)}, {total, 5}));
  EXPECT_EQ(rows_again.spec(), DTensorSpec(mesh.layout(), {Shard(0)}, {total, 5}));
  EXPECT_EQ(as_given.spec(), given);
  EXPECT_EQ(as_given.local_shape()[0], mesh.size() - mesh.rank() + 1);
  EXPECT_EQ(wrong_iota(columns), "");
  EXPECT_EQ(wrong_iota(rows_again), "");
  EXPECT_EQ(wrong_iota(as_given), "");
}

template <class Expected, class V>
void expect_result(const DTensor<V>& source) {
  static_assert(std::is_same_v<decltype(redistribute(source, {Shard(1)})), DTensor<Expected>>);
  const Traffic traffic;
  const auto moved = redistribute(source, {Shard(1)});
  const auto back = redistribute(moved, {Shard(0)});
  const auto kept = redistribute<Expected>(source, source.spec());
  EXPECT_EQ(traffic.exchanges(), source.device_mesh().size() > 1 ? 2 : 0);
  EXPECT_EQ(wrong_iota(moved), "");
  EXPECT_EQ(wrong_iota(back), "");
  EXPECT_EQ(wrong_iota(kept), "");
  EXPECT_EQ(kept.to_local().data() == source.to_local().data(), (std::is_same_v<Expected, V>));
}

/// iota of shape (6, 4) by rows, in the memory of `view`.
template <class V, class Writable>
DTensor<V> by_rows(const DeviceMesh& mesh, const Writable& view, const V& given) {
  const DTensorSpec spec(mesh.layout(), {Shard(0)}, {6, 4});
  if (is_on(mesh)) fill_iota(view, spec.global_offset(mesh.rank()), {6, 4});
  return from_local(given, mesh, {Shard(0)}, {6, 4});
}

// Results of strided, const and unmanaged sources are contiguous, writable and managed.
TEST(ResultType, follows_the_source_where_it_can_be_allocated) {
  using namespace Kokkos;
  using Strided = View<double**, LayoutStride, TestSpace>;
  using Constant = View<const double**, LayoutLeft, TestSpace>;
  using Unmanaged = View<double**, LayoutRight, TestSpace, MemoryTraits<Kokkos::Unmanaged>>;
  const auto mesh = mesh_of({world_size()});
  const auto rows = static_cast<std::size_t>(
      DTensorSpec(mesh.layout(), {Shard(0)}, {6, 4}).local_shape(mesh.rank())[0]);
  const Matrix right("right", rows, 4);
  const LeftMatrix left("left", rows, 4);
  const LeftMatrix constant("constant", rows, 4);
  const Matrix large("large", rows + 2, 9);
  const Strided inside = subview(large, std::pair(std::size_t{1}, rows + 1), std::pair(3, 7));
  const Unmanaged unmanaged(right.data(), rows, 4);

  expect_result<Matrix>(by_rows(mesh, right, right));
  expect_result<LeftMatrix>(by_rows(mesh, left, left));
  expect_result<View<double**, LayoutRight, Strided::device_type>>(by_rows(mesh, inside, inside));
  expect_result<View<double**, LayoutLeft, Constant::device_type>>(
      by_rows(mesh, constant, Constant(constant)));
  expect_result<View<double**, LayoutRight, Unmanaged::device_type>>(
      by_rows(mesh, right, unmanaged));
}

TEST(ResultType, keeps_static_extents_and_refuses_targets_that_cut_them) {
  using Triples = Kokkos::View<double* [3], Kokkos::LayoutRight, TestSpace>;
  const auto mesh = mesh_of({world_size()});
  const auto triples = iota<Triples>(mesh, {Shard(0)}, {7, 3});

  const auto gathered = redistribute(triples, {Replicate()});
  const auto loose = redistribute<Matrix>(triples, {Shard(1)});

  static_assert(std::is_same_v<decltype(gathered), const DTensor<Triples>>);
  EXPECT_EQ(wrong_iota(gathered), "");
  EXPECT_EQ(wrong_iota(loose), "");
  if (mesh.size() > 1) {
    EXPECT_THROW(redistribute(triples, {Shard(1)}), InvalidArgument);
  }
}

TEST(ElementTypes, structs_move) {
  using Particles = Kokkos::View<Particle*, Kokkos::LayoutRight, TestSpace>;
  const auto mesh = mesh_of({world_size()});
  const Particles all("all", 11);
  change_on_host(all, [](const auto& host) {
    for (int i = 0; i < 11; ++i) host(i) = {{1.0 * i, 2.0 * i, 3.0 * i}, i};
  });

  const auto mine = distribute_tensor(all, mesh, {Shard(0)});
  const auto full_view = on_host(full_tensor(mine));

  for (int i = 0; i < 11; ++i) {
    EXPECT_EQ(full_view(i).id, i);
    EXPECT_EQ(full_view(i).position[2], 3.0 * i);
  }
  EXPECT_THROW(redistribute(mine, {Partial()}), InvalidArgument);
}

TEST(ExecutionSpace, given_first_orders_the_work_on_that_instance) {
  const Kokkos::DefaultExecutionSpace instance;
  const auto mesh = mesh_of({world_size()});
  const auto rows = iota<Matrix>(mesh, {Shard(0)}, {6, 4});

  const auto columns = redistribute(instance, rows, {Shard(1)});
  const auto full_view = full_tensor(instance, columns);
  redistribute_into(instance, rows, columns);
  const auto copied = clone(instance, rows);
  instance.fence();

  EXPECT_EQ(wrong_iota(columns), "");
  EXPECT_EQ(wrong_view(full_view, {6, 4}, GlobalIndex({6, 4})), "");
  EXPECT_EQ(wrong_iota(copied), "");
}

TEST(Redistributor, runs_a_plan_bound_to_a_mesh_as_often_as_wanted) {
  const auto mesh = mesh_of({world_size()});
  const auto rows = iota<Matrix>(mesh, {Shard(0)}, {6, 4});
  const auto columns = empty<LeftMatrix>(mesh, {Shard(1)}, {6, 4});
  const auto plan = make_plan(rows.spec(), columns.spec(), element_type<double>());
  const auto redistributor = plan.bind(mesh);

  for (int repeat = 0; repeat < 3; ++repeat)
    redistributor.execute(rows.to_local(), columns.to_local());

  EXPECT_EQ(wrong_iota(columns), "");
  EXPECT_THROW(plan.bind(mesh_of({1, world_size()})), MeshMismatch);
}

}  // namespace
