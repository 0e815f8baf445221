// SPDX-FileCopyrightText: 2026 Tessera authors SPDX-License-Identifier: Apache-2.0 The functional
// collectives with variables: each is tested with its adjoint by an identity in integers.
#include <cstdint>
#include <vector>

#include <tessera/grad/collectives.hpp>
#include <tessera/grad/elementwise.hpp>

#include "local_identity.hpp"

namespace tessera::test {
namespace {

using grad::Tape;

/// Returns the mesh dims along which collectives of this mesh are tested.
std::vector<MeshDims> tested_dims(const DeviceMesh& mesh) {
  if (mesh.ndim() == 1) return {MeshDims(0)};
  return {MeshDims(0), MeshDims(1), MeshDims{0, 1}, MeshDims{1, 0}};
}

/// Calls function(mesh, mesh_dims) for a line and a grid of all ranks.
template <class Function>
void for_all_lines(const Function& function) {
  for (const auto& mesh : line_and_grid())
    for (const auto& dims : tested_dims(mesh)) function(mesh, dims);
}

/// Returns an extent that differs among ranks, and is 0 on some.
std::int64_t uneven() {
  return (world_rank() + 1) % 3;
}

TEST(GradCollectives, all_reduce_gives_back_an_all_reduce) {
  for (const auto op : {ReduceOp::sum, ReduceOp::avg}) {
    for_all_lines([&](const DeviceMesh& mesh, const MeshDims& dims) {
      for (const auto& shape : {Extents{4, 6}, Extents{1, 1}, Extents{0, 3}})
        expect_adjoint(rank_integers(shape, 1),
                       [&](const auto& x) { return grad::all_reduce(x, op, mesh, dims); });
    });
    const auto exchanges = expect_adjoint(rank_integers({4, 6}, 1), [&](const auto& x) {
      return grad::all_reduce(x, op, line(), 0);
    });
    EXPECT_EQ(exchanges, one());
  }
}

TEST(GradCollectives, all_reduce_of_a_number) {
  expect_adjoint(rank_integers<ScalarOf<double>>({}, 1),
                 [](const auto& x) { return grad::all_reduce(x, ReduceOp::sum, line(), 0); });
}

TEST(GradCollectives, all_gather_gives_back_a_reduce_scatter) {
  for_all_lines([](const DeviceMesh& mesh, const MeshDims& dims) {
    for (const int dim : {0, 1, -1})
      for (const auto& shape : {Extents{2, 3}, Extents{1, 1}, Extents{0, 2}})
        expect_adjoint(rank_integers(shape, 1),
                       [&](const auto& x) { return grad::all_gather(x, dim, mesh, dims); });
  });
  const auto exchanges = expect_adjoint(
      rank_integers({2, 3}, 1), [](const auto& x) { return grad::all_gather(x, 0, line(), 0); });
  EXPECT_EQ(exchanges, one());
}

TEST(GradCollectives, all_gather_of_uneven_pieces_gives_back_pieces_of_their_extents) {
  for_all_lines([](const DeviceMesh& mesh, const MeshDims& dims) {
    expect_adjoint(rank_integers({uneven(), 3}, 1),
                   [&](const auto& x) { return grad::all_gather(x, 0, mesh, dims); });
    expect_adjoint(rank_integers({3, uneven()}, 1),
                   [&](const auto& x) { return grad::all_gather(x, 1, mesh, dims); });
  });
  const auto exchanges =
      expect_adjoint(rank_integers({2 * world_rank() + 1, 3}, 1),
                     [](const auto& x) { return grad::all_gather(x, 0, line(), 0); });
  EXPECT_EQ(exchanges, one());
}

TEST(GradCollectives, all_gather_of_a_view_without_extents) {
  const auto mine = world_rank() == 0 ? rank_integers({2, 3}, 1) : Matrix();
  expect_adjoint(mine, [](const auto& x) { return grad::all_gather(x, 0, line(), 0); });
}

TEST(GradCollectives, reduce_scatter_gives_back_an_all_gather) {
  for (const auto op : {ReduceOp::sum, ReduceOp::avg}) {
    for_all_lines([&](const DeviceMesh& mesh, const MeshDims& dims) {
      for (const std::int64_t rows : {8, 9, 10, 1, 0}) {
        expect_adjoint(rank_integers({rows, 3}, 1),
                       [&](const auto& x) { return grad::reduce_scatter(x, op, 0, mesh, dims); });
        expect_adjoint(rank_integers({3, rows}, 1),
                       [&](const auto& x) { return grad::reduce_scatter(x, op, -1, mesh, dims); });
      }
    });
    const auto exchanges = expect_adjoint(rank_integers({9, 3}, 1), [&](const auto& x) {
      return grad::reduce_scatter(x, op, 0, line(), 0);
    });
    EXPECT_EQ(exchanges, one());
  }
}

TEST(GradCollectives, all_to_all_gives_back_an_all_to_all_with_the_dims_exchanged) {
  for_all_lines([](const DeviceMesh& mesh, const MeshDims& dims) {
    for (const std::int64_t split : {8, 9, 10, 1, 0}) {
      expect_adjoint(rank_integers({uneven(), split}, 1),
                     [&](const auto& x) { return grad::all_to_all(x, 1, 0, mesh, dims); });
      expect_adjoint(rank_integers({split, uneven()}, 1),
                     [&](const auto& x) { return grad::all_to_all(x, 0, 1, mesh, dims); });
    }
  });
  const auto exchanges = expect_adjoint(
      rank_integers({2, 8}, 1), [](const auto& x) { return grad::all_to_all(x, 1, 0, line(), 0); });
  EXPECT_EQ(exchanges, one());
}

TEST(GradCollectives, all_to_all_along_one_dim_gives_back_the_chunks) {
  for_all_lines([](const DeviceMesh& mesh, const MeshDims& dims) {
    for (const std::int64_t rows : {12, 9, 5, 1, 0}) {
      expect_adjoint(rank_integers({rows, 2}, 1),
                     [&](const auto& x) { return grad::all_to_all(x, 0, 0, mesh, dims); });
      expect_adjoint(rank_integers({2, rows}, 1),
                     [&](const auto& x) { return grad::all_to_all(x, 1, -1, mesh, dims); });
      expect_adjoint(rank_integers<LeftMatrix>({rows, 2}, 1),
                     [&](const auto& x) { return grad::all_to_all(x, 0, 0, mesh, dims); });
    }
  });
}

TEST(GradCollectives, broadcast_gives_back_the_sum_to_the_root) {
  for_all_lines([](const DeviceMesh& mesh, const MeshDims& dims) {
    const auto last = detail::line(mesh, dims).size() - 1;
    for (const int root : {0, last}) {
      expect_adjoint(rank_integers({4, 3}, 1),
                     [&](const auto& x) { return grad::broadcast(x, root, mesh, dims); });
      expect_adjoint(rank_integers<ScalarOf<double>>({}, 1),
                     [&](const auto& x) { return grad::broadcast(x, root, mesh, dims); });
    }
  });
  const auto exchanges = expect_adjoint(
      rank_integers({4, 3}, 1), [](const auto& x) { return grad::broadcast(x, 0, line(), 0); });
  EXPECT_EQ(exchanges, one());
}

TEST(GradCollectives, broadcast_gives_zeros_for_views_of_any_extents_that_are_not_read) {
  const bool is_root = world_rank() == 0;
  const auto mine = is_root ? rank_integers({4, 3}, 1) : rank_integers({world_rank(), 2}, 1);
  Tape tape;
  const auto x = tape.watch_local(mine);
  const auto y = grad::broadcast(x, 0, line(), 0);
  const auto dy = detail::allocate<Matrix>({4, 3}, "dy");
  Kokkos::deep_copy(dy, 1);
  tape.backward(y, dy);

  EXPECT_EQ(detail::extents_of(x.grad()), detail::extents_of(mine));
  EXPECT_THAT(elements_of(x.grad()), testing::Each(is_root ? world_size() : 0));
}

TEST(GradCollectives, shift_gives_back_a_shift_the_other_way) {
  for (const auto& mesh : line_and_grid())
    for (int dim = 0; dim < mesh.ndim(); ++dim)
      for (const bool periodic : {false, true})
        for (const int distance : {1, -1, 2, 0}) {
          const Shift options{.periodic = periodic};
          const auto shifted = [&](const auto& x) {
            return grad::shift(x, distance, mesh, dim, options);
          };
          const auto exchanges = expect_adjoint(rank_integers({world_rank() + 1, 4}, 1), shifted);
          expect_adjoint(rank_integers({uneven(), 4}, 1), shifted);
          EXPECT_LE(exchanges, 1);
        }
}

TEST(GradCollectives, shift_gives_zeros_where_nothing_was_sent) {
  Tape tape;
  const auto x = tape.watch_local(rank_integers({2, 4}, 1));
  const auto y = grad::shift(x, 1, line(), 0);
  const auto dy = detail::allocate<Matrix>(detail::extents_of(y.detach()), "dy");
  Kokkos::deep_copy(dy, 1);
  tape.backward(y, dy);

  const bool is_last = world_rank() == world_size() - 1;
  EXPECT_EQ(dy.size(), world_rank() == 0 ? 0U : 8U);
  EXPECT_THAT(elements_of(x.grad()), testing::Each(is_last ? 0 : 1));
}

TEST(GradCollectives, of_left_views_and_subviews) {
  const auto whole = rank_integers<LeftMatrix>({6, 5}, 1);
  const auto part = Kokkos::subview(whole, std::pair(1, 5), std::pair(0, 3));
  Tape tape;
  const auto x = tape.watch_local(part);
  const auto y = grad::all_gather(x, 1, line(), 0);
  const auto dy = rank_integers<LeftMatrix>({4, 3 * world_size()}, 2);
  tape.backward(y, dy);

  EXPECT_EQ(sum_over_ranks(dot_of(y.detach(), dy)), sum_over_ranks(dot_of(part, x.grad())));
}

TEST(GradCollectives, of_floats_and_complex_numbers) {
  const auto floats = rank_integers<MatrixOf<float>>({3, 4}, 1);
  expect_adjoint(
      floats, [](const auto& x) { return grad::reduce_scatter(x, ReduceOp::avg, 0, line(), 0); });
  using ComplexVector = VectorOf<Complex>;
  const ComplexVector numbers("numbers", 2), dy("dy", 2);
  Kokkos::deep_copy(numbers, Complex(1, 2));
  Kokkos::deep_copy(dy, Complex(0, world_rank() + 1));
  Tape tape;
  const auto x = tape.watch_local(numbers);
  tape.backward(grad::all_reduce(x, ReduceOp::avg, line(), 0), dy);
  const auto gradient = on_host(x.grad());
  EXPECT_DOUBLE_EQ(gradient(0).imag(), (world_size() + 1) / 2.0);
  EXPECT_EQ(gradient(1).real(), 0);
}

TEST(GradCollectives, take_part_in_what_is_recorded_around_them) {
  Tape tape;
  const auto x = tape.watch_local(rank_integers({2, 3}, 1));
  const auto all = grad::all_gather(ops::multiply(x, 2), 0, line(), 0);
  const auto y = grad::reduce_scatter(ops::multiply(all, 3), ReduceOp::sum, 0, line(), 0);
  const auto dy = detail::allocate<Matrix>({2, 3}, "dy");
  Kokkos::deep_copy(dy, 1);
  const Traffic traffic;
  tape.backward(y, dy);

  EXPECT_EQ(traffic.exchanges(), 2 * one());
  EXPECT_THAT(elements_of(x.grad()), testing::Each(6 * world_size()));
}

TEST(GradCollectives, in_the_background_are_recorded_when_they_are_complete) {
  const auto same = [](const auto& start) {
    const auto exchanges =
        expect_adjoint(rank_integers({6, 3}, 1), [&](const auto& x) { return start(x).wait(); });
    EXPECT_EQ(exchanges, one());
  };
  same([](const auto& x) { return grad::all_reduce_async(x, ReduceOp::sum, line(), 0); });
  same([](const auto& x) { return grad::all_gather_async(x, 0, line(), 0); });
  same([](const auto& x) { return grad::reduce_scatter_async(x, ReduceOp::sum, 0, line(), 0); });
  same([](const auto& x) { return grad::all_to_all_async(x, 0, 1, line(), 0); });
  same([](const auto& x) { return grad::broadcast_async(x, 0, line(), 0); });
}

TEST(GradCollectives, on_some_of_the_ranks_give_zeros_off_the_mesh) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null()) GTEST_SKIP() << "needs 2 ranks";
  expect_adjoint(rank_integers({2, 3}, 1),
                 [&](const auto& x) { return grad::all_reduce(x, ReduceOp::sum, mesh, 0); });
  expect_adjoint(rank_integers({2, 3}, 1),
                 [&](const auto& x) { return grad::broadcast(x, 1, mesh, 0); });
  expect_adjoint(rank_integers({2, 3}, 1),
                 [&](const auto& x) { return grad::shift(x, 1, mesh, 0); });
}

TEST(GradCollectives, cannot_record_reductions_that_are_not_linear) {
  Tape tape;
  const auto x = tape.watch_local(rank_integers({2, 3}, 1));
  const auto wrong = [](const char* function, const char* op) {
    return std::string(function) + ": expected sum or avg for a variable, got " + op +
           ", whose gradient depends on the values of all ranks; pass view.detach() if no gradient "
           "is wanted";
  };
  EXPECT_EQ(invalid_argument_of([&] { grad::all_reduce(x, ReduceOp::max, line(), 0); }),
            wrong("all_reduce", "max"));
  EXPECT_EQ(invalid_argument_of([&] { grad::all_reduce_async(x, ReduceOp::min, line(), 0); }),
            wrong("all_reduce", "min"));
  EXPECT_EQ(invalid_argument_of([&] { grad::reduce_scatter(x, ReduceOp::product, 0, line(), 0); }),
            wrong("reduce_scatter", "product"));

  const grad::NoRecordScope plain;
  const auto largest = grad::all_reduce(x, ReduceOp::max, line(), 0);
  EXPECT_EQ(largest.extent(0), 2);
}

}  // namespace
}  // namespace tessera::test
