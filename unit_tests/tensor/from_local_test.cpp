// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What from_local infers from the local Views, and what run_check finds.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<DeviceMesh> lines() {
  return meshes_of({{1}, {2}, {3}, {4}, {8}});
}
std::vector<DeviceMesh> longer_lines() {
  return meshes_of({{2}, {3}, {4}, {8}});
}

Matrix matrix(std::int64_t rows, std::int64_t columns) {
  return Matrix("matrix", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

/// Changes one element.
template <class V>
void set(const V& view, int row, int column, double value) {
  change_on_host(view, [&](const auto& host) { host(row, column) = value; });
}

TEST(FromLocal, shape_follows_the_placements) {
  for (const auto& mesh : lines()) {
    const auto shape_as = [&](const Placements& placements) {
      const auto tensor = from_local(matrix(3, 3), mesh, placements);
      return is_on(mesh) ? tensor.shape() : Extents{};
    };

    const auto sharded = shape_as({Shard(0)});
    const auto last_sharded = shape_as({Shard(-1)});
    const auto replicated = shape_as({Replicate()});
    const auto partial = shape_as({Partial()});

    if (!is_on(mesh)) continue;
    EXPECT_EQ(sharded, (Extents{3 * mesh.size(), 3}));
    EXPECT_EQ(last_sharded, (Extents{3, 3 * mesh.size()}));
    EXPECT_EQ(replicated, (Extents{3, 3}));
    EXPECT_EQ(partial, (Extents{3, 3}));
  }
}

TEST(FromLocal, uneven_columns_are_gathered_exactly) {
  for (const auto& mesh : lines()) {
    const auto begin = [](std::int64_t rank) { return rank * (rank + 3) / 2; };
    const Extents global{2, begin(mesh.size())};
    auto local = matrix(2, is_on(mesh) ? mesh.rank() + 2 : 0);
    if (is_on(mesh)) fill_iota(local, {0, begin(mesh.rank())}, global);

    Traffic traffic;
    const auto tensor = from_local(local, mesh, {Shard(1)});
    const int metadata = traffic.metadata();
    const auto full = full_tensor(tensor);

    if (!is_on(mesh)) continue;
    EXPECT_EQ(metadata, mesh.size() > 1 ? 1 : 0);
    EXPECT_EQ(tensor.to_local().data(), local.data());
    EXPECT_EQ(tensor.shape(), global);
    EXPECT_EQ(tensor.local_shape(), (Extents{2, mesh.rank() + 2}));
    EXPECT_EQ(tensor.global_offset(), (Extents{0, begin(mesh.rank())}));
    EXPECT_EQ(wrong_view(full, global, GlobalIndex(global)), "");
    if (mesh.size() != 4) continue;
    EXPECT_EQ(to_string(tensor.spec()), "(2, 14) on (4) as S(1), dim 1 cut at [0, 2, 5, 9, 14]");
  }
}

TEST(FromLocal, static_extents_are_known_without_a_message) {
  using Fixed = Kokkos::View<double[3][2], Kokkos::LayoutRight, TestSpace>;
  for (const auto& mesh : lines()) {
    const Traffic traffic;
    const auto replicated = from_local(Fixed("replicated"), mesh, {Replicate()});
    const auto sum = from_local(Fixed("sum"), mesh, {Partial()});
    EXPECT_EQ(traffic.metadata() + traffic.exchanges(), 0);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(replicated.shape(), (Extents{3, 2}));
    EXPECT_EQ(sum.shape(), (Extents{3, 2}));
  }
}

TEST(FromLocal, run_check_compares_views_of_static_extents_with_others) {
  using Fixed = Kokkos::View<double[3][2], Kokkos::LayoutRight, TestSpace>;
  for (const auto& mesh : longer_lines()) {
    const FromLocal options{.run_check = true};
    const auto shape = mesh.rank() == 0
                           ? from_local(Fixed("fixed"), mesh, {Replicate()}, options).shape()
                           : from_local(matrix(3, 2), mesh, {Replicate()}, options).shape();
    EXPECT_EQ(shape, is_on(mesh) ? (Extents{3, 2}) : (Extents{0, 0}));
  }
}

TEST(FromLocal, sizes_must_be_those_of_static_extents) {
  using Three = Kokkos::View<double[3], TestSpace>;
  const auto mesh = mesh_of({1});
  if (mesh.is_null() || !is_on(mesh)) return;
  EXPECT_THROW(from_local(Three("three"), mesh, Sizes(0, {5})), InvalidArgument);
  EXPECT_EQ(from_local(Three("three"), mesh, Sizes(0, {3})).shape(), (Extents{3}));
}

TEST(FromLocal, run_check_finds_a_replica_of_another_shape) {
  for (const auto& mesh : longer_lines()) {
    const int last = mesh.size() - 1;
    const auto local = matrix(3, mesh.rank() == last ? 4 : 3);

    const auto message = message_of<InvalidArgument>(
        [&] { from_local(local, mesh, {Replicate()}, {.run_check = true}); });

    if (!is_on(mesh)) continue;
    EXPECT_THAT(message, AllOf(HasSubstr("from_local: expected the same extent of tensor dim 1"),
                               HasSubstr("mesh ranks 0 and " + std::to_string(last))));
  }
}

TEST(FromLocal, run_check_finds_a_piece_of_another_extent) {
  for (const auto& mesh : longer_lines()) {
    const auto local = matrix(3, mesh.rank() == 1 ? 2 : 3);

    const auto message = message_of<InvalidArgument>(
        [&] { from_local(local, mesh, {Shard(0)}, {.run_check = true}); });

    if (!is_on(mesh)) continue;
    EXPECT_THAT(message, HasSubstr("tensor dim 1 on mesh ranks 0 and 1, got 3 and 2"));
  }
}

TEST(FromLocal, run_check_finds_a_replica_with_other_values) {
  for (const auto& mesh : longer_lines()) {
    auto local = iota_view<Matrix>({3, 3});
    if (mesh.rank() == 1) set(local, 2, 1, -1);
    const auto check = [&](const Target& target, const FromLocal& options) {
      return message_of<InvalidArgument>([&] { from_local(local, mesh, target, options); });
    };
    const DTensorSpec spec(mesh.layout(), {Replicate()}, {3, 3});

    const auto inferred = check(Replicate(), {.run_check = true});
    const auto given = check(spec, {.run_check = true});
    const auto unchecked = check(Replicate(), {});
    if (mesh.rank() == 1) set(local, 2, 1, 7);
    const auto repaired = check(Replicate(), {.run_check = true});

    EXPECT_EQ(unchecked, "no error");
    EXPECT_EQ(repaired, "no error");
    if (!is_on(mesh)) continue;
    const auto text =
        "from_local: expected replicas equal to coordinate 0's, got other values on "
        "mesh rank 1";
    EXPECT_THAT(inferred, HasSubstr(text));
    EXPECT_THAT(given, HasSubstr(text));
  }
}

TEST(FromLocal, run_check_compares_bits) {
  for (const auto& mesh : longer_lines()) {
    auto local = matrix(2, 2);
    const auto check = [&] {
      return message_of<InvalidArgument>(
          [&] { from_local(local, mesh, {Replicate()}, {.run_check = true}); });
    };

    set(local, 1, 1, std::nan(""));
    const auto of_nan = check();
    set(local, 1, 1, mesh.rank() == 1 ? -0.0 : 0.0);
    const auto of_zeros = check();

    EXPECT_EQ(of_nan, "no error");
    if (!is_on(mesh)) continue;
    EXPECT_THAT(of_zeros, HasSubstr("on mesh rank 1"));
  }
}

TEST(FromLocal, run_check_compares_no_bytes_that_belong_to_no_value) {
  // No device has long doubles.
  using Longs = Kokkos::View<long double*, Kokkos::LayoutRight, Kokkos::HostSpace>;
  for (const auto& mesh : longer_lines()) {
    const Longs local("local", 3);
    std::memset(static_cast<void*>(local.data()), 1 + mesh.rank(), local.size() * sizeof local(0));
    for (std::size_t i = 0; i < local.size(); ++i) local(i) = static_cast<long double>(i) / 3;
    const auto check = [&] {
      return message_of<InvalidArgument>(
          [&] { from_local(local, mesh, {Replicate()}, {.run_check = true}); });
    };

    const auto of_equal_values = check();
    if (mesh.rank() == 1) local(2) *= 1 + std::numeric_limits<long double>::epsilon();
    const auto of_other_values = check();

    EXPECT_EQ(of_equal_values, "no error");
    if (!is_on(mesh)) continue;
    EXPECT_THAT(of_other_values, HasSubstr("on mesh rank 1"));
  }
}

TEST(FromLocal, run_check_compares_along_the_replicated_mesh_dims_alone) {
  for (const auto& mesh : meshes_of({{2, 2}, {2, 3}, {4, 2}})) {
    const auto shard_of = [&] {
      auto local = matrix(2, 2);
      Kokkos::deep_copy(local, is_on(mesh) ? (*mesh.coordinate())[1] : 0);
      return local;
    };
    const auto check = [&](const Matrix& local, const Placements& placements) {
      return message_of<InvalidArgument>(
          [&] { from_local(local, mesh, placements, {.run_check = true}); });
    };

    const auto right = check(shard_of(), {Replicate(), Shard(0)});
    const auto partial = check(shard_of(), {Replicate(), Partial()});
    const auto wrong = check(shard_of(), {Shard(0), Replicate()});

    EXPECT_EQ(right, "no error");
    EXPECT_EQ(partial, "no error");
    if (!is_on(mesh)) continue;
    EXPECT_THAT(wrong, HasSubstr("got other values on mesh rank 1"));
  }
}

TEST(FromLocal, run_check_reads_strided_views) {
  for (const auto& mesh : longer_lines()) {
    const LeftMatrix left = iota_view<LeftMatrix>({4, 5});
    const auto inner = Kokkos::subview(left, std::pair(1, 3), std::pair(1, 4));
    const auto check = [&] {
      return message_of<InvalidArgument>(
          [&] { from_local(inner, mesh, {Replicate()}, {.run_check = true}); });
    };

    if (mesh.rank() == 1) {
      set(left, 0, 0, -1);
      set(left, 3, 4, -1);
    }
    const auto outside = check();
    if (mesh.rank() == 1) set(left, 2, 3, -1);
    const auto inside = check();

    EXPECT_EQ(outside, "no error");
    if (!is_on(mesh)) continue;
    EXPECT_THAT(inside, HasSubstr("got other values on mesh rank 1"));
  }
}

TEST(FromLocal, run_check_finds_another_element_type) {
  for (const auto& mesh : longer_lines()) {
    const Kokkos::View<float**, Kokkos::LayoutRight, TestSpace> single("single", 3, 3);

    const auto message = message_of<InvalidArgument>([&] {
      if (mesh.rank() == 1)
        from_local(single, mesh, {Shard(0)}, {.run_check = true});
      else
        from_local(matrix(3, 3), mesh, {Shard(0)}, {.run_check = true});
    });

    if (!is_on(mesh)) continue;
    EXPECT_THAT(message, HasSubstr("2-d float64 on mesh rank 0 and 2-d float32 on mesh rank 1"));
  }
}

TEST(FromLocal, run_check_of_a_spec_throws_on_every_rank) {
  for (const auto& mesh : longer_lines()) {
    const auto local = matrix(mesh.rank() == 1 ? 4 : 3, 3);
    const DTensorSpec spec(mesh.layout(), {Shard(0)}, {3 * mesh.size(), 3});

    const auto message =
        message_of<InvalidArgument>([&] { from_local(local, mesh, spec, {.run_check = true}); });

    if (!is_on(mesh)) continue;
    EXPECT_THAT(message, AllOf(HasSubstr("from_local: expected a local View of shape (3, 3)"),
                               HasSubstr("on mesh rank 1"), HasSubstr("got (4, 3)")));
  }
}

TEST(FromLocal, with_a_shape_checks_on_this_rank_and_communicates_nothing) {
  for (const auto& mesh : longer_lines()) {
    const auto local = matrix(mesh.rank() == 1 ? 4 : 3, 3);

    Traffic traffic;
    const auto message = message_of<InvalidArgument>([&] {
      from_local(local, mesh, {Shard(0)}, {3 * mesh.size(), 3});
    });

    EXPECT_EQ(traffic.metadata() + traffic.exchanges() + traffic.agreements(), 0);
    if (mesh.rank() == 1)
      EXPECT_THAT(message, HasSubstr("expected a local View of shape (3, 3) on mesh rank 1"));
    else
      EXPECT_EQ(message, "no error");
  }
}

TEST(FromLocal, with_a_shape_follows_the_chunk_rule) {
  for (const auto& mesh : lines()) {
    const DTensorSpec spec(mesh.layout(), {Shard(0)}, {5, 3});
    const auto local = is_on(mesh) ? matrix(spec.local_shape(mesh.rank())[0], 3) : matrix(0, 0);

    const auto tensor = from_local(local, mesh, {Shard(0)}, {5, 3});

    EXPECT_EQ(tensor.spec(), spec);
    EXPECT_EQ(tensor.shape(), (Extents{5, 3}));
  }
}

TEST(FromLocal, piece_without_elements_matches_any_extents) {
  for (const auto& mesh : longer_lines()) {
    const int last = mesh.size() - 1;
    const auto local = mesh.rank() == last ? matrix(0, 0) : matrix(2, 3);
    fill_iota(local, {2 * std::max(mesh.rank(), 0), 0}, {2 * last, 3});

    const auto tensor = from_local(local, mesh, {Shard(0)});
    const auto checked = from_local(local, mesh, {Shard(0)}, {.run_check = true});
    const auto full = full_tensor(tensor);

    if (!is_on(mesh)) continue;
    EXPECT_EQ(tensor.shape(), (Extents{2 * last, 3}));
    EXPECT_EQ(checked.spec(), tensor.spec());
    EXPECT_EQ(tensor.local_shape(), (Extents{mesh.rank() == last ? 0 : 2, 3}));
    EXPECT_EQ(wrong_view(full, {2 * last, 3}, GlobalIndex({2 * last, 3})), "");
  }
}

TEST(FromLocal, empty_replica_of_a_piece_with_elements_is_invalid) {
  for (const auto& mesh : longer_lines()) {
    const auto local = mesh.rank() == 1 ? matrix(0, 3) : matrix(3, 3);

    const auto replicated =
        message_of<InvalidArgument>([&] { from_local(local, mesh, {Replicate()}); });
    const auto partial = message_of<InvalidArgument>([&] { from_local(local, mesh, {Partial()}); });
    const auto checked = message_of<InvalidArgument>(
        [&] { from_local(local, mesh, {Replicate()}, {.run_check = true}); });

    if (!is_on(mesh)) continue;
    EXPECT_THAT(replicated, HasSubstr("mesh rank 1"));
    EXPECT_THAT(partial, HasSubstr("mesh rank 1"));
    EXPECT_THAT(checked, HasSubstr("mesh rank 1"));
  }
}

TEST(FromLocal, hole_in_the_grid_is_invalid) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) return;
  const auto local = mesh.rank() == 3 ? matrix(2, 0) : matrix(2, 3);

  const auto message = message_of<InvalidArgument>([&] {
    from_local(local, mesh, {Shard(0), Shard(1)});
  });

  if (!is_on(mesh)) return;
  EXPECT_THAT(message, HasSubstr("mesh rank 3"));
}

TEST(FromLocal, sizes_that_form_no_grid_are_invalid) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) return;
  const auto local = matrix(2, mesh.rank() == 3 ? 4 : 3);

  const auto message = message_of<InvalidArgument>([&] {
    from_local(local, mesh, {Shard(0), Shard(1)});
  });
  const auto tensor = from_local(local, mesh, {Shard(1), Shard(1)});

  if (!is_on(mesh)) return;
  EXPECT_THAT(message, HasSubstr("the same extent of tensor dim 1 on mesh ranks 1 and 3"));
  EXPECT_EQ(tensor.spec(),
            DTensorSpec(mesh.layout(), {Shard(1), Shard(1)}, {2, 13}, {{}, {0, 3, 6, 9, 13}}));
}

TEST(FromLocal, all_pieces_empty_have_the_smallest_extents) {
  for (const auto& mesh : lines()) {
    const auto tensor = from_local(matrix(0, 4), mesh, {Shard(0)});
    const auto flat = from_local(matrix(2, 0), mesh, {Shard(0)});

    if (!is_on(mesh)) continue;
    EXPECT_EQ(tensor.shape(), (Extents{0, 4}));
    EXPECT_EQ(flat.shape(), (Extents{2 * mesh.size(), 0}));
  }
}

TEST(FromLocal, boundaries_are_in_split_order) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) return;
  const Placements placements({Shard(0), Shard(0)}, {1, 0});
  const std::vector<std::int64_t> cuts{0, 1, 3, 6, 10};  // parts 0 … 3 are on ranks 0, 2, 1, 3
  const std::vector<std::size_t> part_of_rank{0, 2, 1, 3};
  const auto part = is_on(mesh) ? part_of_rank[static_cast<std::size_t>(mesh.rank())] : 0;
  const auto local = matrix(cuts[part + 1] - cuts[part], 2);
  fill_iota(local, {cuts[part], 0}, {10, 2});

  const auto tensor = from_local(local, mesh, placements);
  const auto full = full_tensor(tensor);

  if (!is_on(mesh)) return;
  EXPECT_EQ(tensor.spec(), DTensorSpec(mesh.layout(), placements, {10, 2}, {cuts, {}}));
  EXPECT_EQ(tensor.global_offset(), (Extents{cuts[part], 0}));
  EXPECT_EQ(wrong_view(full, {10, 2}, GlobalIndex({10, 2})), "");
}

// The global shape follows from the local one, also where two mesh dims split one tensor dim.
TEST(FromLocal, three_mesh_dims) {
  using Cube = Kokkos::View<double***, Kokkos::LayoutRight, TestSpace>;
  const auto mesh = mesh_of({2, 2, 2});
  if (mesh.is_null()) return;

  const auto by_all = from_local(Cube("cube", 3, 3, 3), mesh, {Shard(0), Shard(1), Shard(2)});
  const auto by_two = from_local(Cube("cube", 3, 3, 3), mesh, {Shard(0), Shard(0), Shard(2)});

  if (!is_on(mesh)) return;
  EXPECT_EQ(by_all.shape(), (Extents{6, 6, 6}));
  EXPECT_EQ(by_two.shape(), (Extents{12, 3, 6}));
}

TEST(FromLocal, a_piece_without_elements_gets_the_extents_of_the_spec) {
  for (const auto& mesh : lines()) {
    if (!is_on(mesh)) continue;
    const bool is_first = mesh.rank() == 0;
    const Matrix local("local", is_first ? 4 : 0, is_first ? 8 : 0);

    const auto tensor = from_local(local, mesh, {Shard(0)});

    EXPECT_EQ(tensor.shape(), (Extents{4, 8}));
    EXPECT_EQ(tensor.to_local().extent_int(0), is_first ? 4 : 0);
    EXPECT_EQ(tensor.to_local().extent_int(1), 8);
  }
}

TEST(FromLocal, of_a_spec_has_its_boundaries_and_gathers_nothing) {
  for (const auto& mesh : longer_lines()) {
    std::vector<std::int64_t> cuts{0};
    for (int rank = 0; rank < mesh.size(); ++rank) cuts.push_back(rank == 0 ? 1 : cuts[rank] + 3);
    const DTensorSpec spec(mesh.layout(), {Shard(0)}, {cuts.back(), 2}, {cuts, {}});
    const auto local = matrix(mesh.rank() == 0 ? 1 : 3, 2);
    from_local(local, mesh, spec);

    Traffic traffic;
    const auto tensor = from_local(local, mesh, spec);

    EXPECT_EQ(tensor.spec(), spec);
    EXPECT_EQ(traffic.metadata() + traffic.agreements(), 0);
    EXPECT_EQ(tensor.to_local().data(), is_on(mesh) ? local.data() : nullptr);
  }
}

TEST(FromLocal, of_a_spec_on_another_mesh_or_of_another_rank_is_invalid) {
  for (const auto& mesh : longer_lines()) {
    const DTensorSpec elsewhere(MeshLayout({mesh.size() + 1}), {Shard(0)}, {4, 4});
    const DTensorSpec cube(mesh.layout(), {Shard(0)}, {4, 4, 4});

    const auto of_mesh =
        message_of<MeshMismatch>([&] { from_local(matrix(2, 2), mesh, elsewhere); });
    const auto of_rank = message_of<InvalidArgument>([&] { from_local(matrix(2, 2), mesh, cube); });

    if (!is_on(mesh)) continue;
    EXPECT_THAT(of_mesh, HasSubstr("from_local: expected a spec on mesh"));
    EXPECT_THAT(of_rank, HasSubstr("from_local: expected a shape of 2 dims"));
  }
}

TEST(FromLocal, takes_extents_vectors_and_lists_as_the_shape) {
  for (const auto& mesh : lines()) {
    const auto local = matrix(2, 2);
    const std::int64_t two = 2;

    for (const auto& tensor : {from_local(local, mesh, Replicate(), {2, 2}),
                               from_local(local, mesh, Replicate(), {two, two}),
                               from_local(local, mesh, Replicate(), Extents{2, 2}),
                               from_local(local, mesh, Replicate(), std::vector<int>{2, 2})})
      EXPECT_EQ(tensor.shape(), (Extents{2, 2}));
  }
}

TEST(FromLocal, placements_that_do_not_fit_are_invalid) {
  for (const auto& mesh : lines()) {
    const auto call = [&](const Placements& placements, const Extents& shape = {}) {
      return message_of<InvalidArgument>([&] {
        if (shape.empty())
          from_local(matrix(2, 2), mesh, placements);
        else
          from_local(matrix(2, 2), mesh, placements, shape);
      });
    };

    const auto of_two = call({Shard(0), Shard(1)});
    const auto of_two_given = call({Shard(0), Shard(1)}, {2, 2});
    const auto of_dim_2 = call({Shard(2)});
    const auto of_3d_shape = call({Replicate()}, {2, 2, 2});
    const auto of_op = call({Partial(ReduceOp::bxor)}, {2, 2});

    EXPECT_THAT(of_two, HasSubstr("from_local: expected 1 placement for mesh"));
    EXPECT_THAT(of_two_given, HasSubstr("from_local: expected 1 placement for mesh"));
    EXPECT_THAT(of_dim_2, HasSubstr("from_local: expected Shard dims of a 2-d tensor, got S(2)"));
    if (!is_on(mesh)) continue;
    EXPECT_THAT(of_3d_shape, HasSubstr("from_local: expected a shape of 2 dims"));
    EXPECT_THAT(of_op, HasSubstr("from_local: expected an element type that reduces by bxor"));
  }
}

}  // namespace
}  // namespace tessera::test
