// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace tessera::test {
namespace {

constexpr std::int64_t huge = std::int64_t{1} << 40;

/// One part of 17 rows and others of none, for a tensor of 16.
std::vector<std::int64_t> cuts_beyond_the_end(const DeviceMesh& mesh) {
  std::vector<std::int64_t> cuts(static_cast<std::size_t>(mesh.size()) + 1, 17);
  cuts.front() = 0;
  return cuts;
}

}  // namespace

std::vector<Case> tensor_cases() {
  constexpr auto here = Reach::this_rank;
  return {
      {"two_kinds_of_partial", invalid_argument,
       "Placements: expected one kind of Partial, or sum with avg, got P(min) and P(max)",
       [](const Given&) {
         Placements{Partial(ReduceOp::min), Partial(ReduceOp::max)};
       },
       here},
      {"sum_with_product", invalid_argument, "got P(sum) and P(product)",
       [](const Given&) {
         Placements{Partial(), Replicate(), Partial(ReduceOp::product)};
       },
       here},
      {"min_after_sum_with_avg", invalid_argument, "got P(avg) and P(min)",
       [](const Given&) {
         Placements{Partial(), Partial(ReduceOp::avg), Partial(ReduceOp::min)};
       },
       here},
      {"split_positions_that_are_none", invalid_argument, "Placements: expected, for the mesh dims",
       [](const Given&) {
         Placements({Shard(0), Shard(0)}, {0, 0});
       },
       here},
      {"unknown_placement_text", invalid_argument, "got \"S(0), X\"",
       [](const Given&) { parse_placements("S(0), X"); }, here},
      {"unknown_op_text", invalid_argument, "parse_placements: expected a list of R, S(dim)",
       [](const Given&) { parse_placements("P(mean)"); }, here},
      {"empty_placement_text", invalid_argument, "parse_placements: expected a list of R, S(dim)",
       [](const Given&) { parse_placements("R,"); }, here},
      {"unclosed_placement_text", invalid_argument,
       "parse_placements: expected a list of R, S(dim)",
       [](const Given&) { parse_placements("S(0"); }, here},
      {"unknown_mesh_dim_by_dim", invalid_argument, "expected a dim of mesh (x=",
       [](const Given& s) {
         by_dim(s.mesh, {{"y"}, {}});
       },
       here},
      {"mesh_dim_used_twice_by_dim", invalid_argument, "by_dim: expected each dim of mesh (x=",
       [](const Given& s) {
         by_dim(s.mesh, {{"x"}, {0}});
       },
       here},

      {"negative_extent", invalid_argument, "zeros: expected extents >= 0, got shape (5, -1)",
       [](const Given& s) {
         zeros<Matrix>(s.mesh, {Shard(0)}, {5, -1});
       },
       here},
      {"negative_extent_for_from_local", invalid_argument, "from_local: expected extents >= 0",
       [](const Given& s) {
         from_local(s.tensor.to_local(), s.mesh, {Shard(0)}, {-16, 24});
       },
       here},
      {"product_of_more_than_64_bits", invalid_argument,
       "empty: expected a shape of fewer than 2^63 elements, got (1099511627776, 1099511627776)",
       [](const Given& s) {
         empty<Matrix>(s.mesh, {Shard(0)}, {huge, huge});
       },
       here},
      {"more_than_8_dims", invalid_argument, "Extents: expected at most 8 tensor dims",
       [](const Given&) { Extents{1, 2, 3, 4, 5, 6, 7, 8, 9}; }, here},
      {"shape_of_other_dims", invalid_argument,
       "zeros: expected a shape of 2 dims, that of the View",
       [](const Given& s) { zeros<Matrix>(s.mesh, {Shard(0)}, {5}); }, here},
      {"shard_dim_too_large_in_a_factory", invalid_argument, "full: expected Shard dims of a 2-d",
       [](const Given& s) { full<Matrix>(s.mesh, {Shard(2)}, shape, 1.0); }, here},
      {"too_many_placements_in_a_factory", invalid_argument, "ones: expected 1 placement for mesh",
       [](const Given& s) {
         ones<Matrix>(s.mesh, {Shard(0), Replicate()}, shape);
       },
       here},
      {"view_that_is_not_the_piece", invalid_argument,
       "from_local: expected a local View of shape (",
       [](const Given& s) { from_local(Matrix("wrong", 9, 9), s.mesh, {Shard(0)}, shape); }, here},
      {"boundaries_that_are_no_cut", invalid_argument,
       "ascending positions from 0 to 16, got [0, 17",
       [](const Given& s) {
         DTensorSpec(s.mesh.layout(), {Shard(0)}, shape, {cuts_beyond_the_end(s.mesh), {}});
       },
       here},
      {"boundaries_of_other_dims", invalid_argument, "expected boundaries for 2 tensor dims, got 1",
       [](const Given& s) {
         DTensorSpec(s.mesh.layout(), {Replicate()}, shape, {{0, 16}});
       },
       here},
      {"partial_in_zeros", invalid_argument, "zeros: expected Shard and Replicate placements",
       [](const Given& s) { zeros<Matrix>(s.mesh, {Partial()}, shape); }, here},
      {"partial_in_rand", invalid_argument, "rand: expected Shard and Replicate placements",
       [](const Given& s) { rand<Matrix>(s.mesh, {Partial()}, shape); }, here},
      {"partial_in_from_function", invalid_argument, "from_function: expected Shard and Replicate",
       [](const Given& s) {
         from_function<Matrix>(s.mesh, {Partial()}, shape, GlobalIndex(shape));
       },
       here},
      {"random_integers", invalid_argument, "rand: expected float, double or a complex of them",
       [](const Given& s) { rand<Integers>(s.mesh, {Replicate()}, shape); }, here},
      {"normal_integers", invalid_argument, "randn: expected float, double or a complex of them",
       [](const Given& s) { randn<Integers>(s.mesh, {Replicate()}, shape); }, here},
      {"item_of_a_matrix", invalid_argument, "item: expected a 0-d tensor, got shape (16, 24)",
       [](const Given& s) { item(s.tensor); }, here},
      {"static_extent_cut_by_a_factory", invalid_argument, "zeros: expected tensor dim 1 whole",
       [](const Given& s) { zeros<WideColumns>(s.mesh, {Shard(1)}, shape); }, here, 2},
      {"static_extent_that_differs", invalid_argument, "zeros: expected extent 24 in tensor dim 1",
       [](const Given& s) {
         zeros<WideColumns>(s.mesh, {Shard(0)}, {16, 3});
       },
       here},

      {"partial_in_distribute_tensor", invalid_argument,
       "distribute_tensor: expected Shard and Replicate placements, got P(sum)",
       [](const Given& s) { distribute_tensor(Matrix("view", 16, 24), s.mesh, {Partial()}); }},
      {"source_rank_beyond_the_mesh", invalid_argument,
       "distribute_tensor: expected a rank of mesh",
       [](const Given& s) {
         distribute_tensor(Matrix("view", 16, 24), s.mesh, {Shard(0)}, {.src_rank = s.mesh.size()});
       }},
      {"source_rank_below_0", invalid_argument, "distribute_tensor: expected a rank of mesh (x=",
       [](const Given& s) {
         distribute_tensor(Matrix("view", 16, 24), s.mesh, {Shard(0)}, {.src_rank = -1});
       }},
      {"sum_of_structs_from_local", invalid_argument, "from_local: expected an element type that",
       [](const Given& s) { from_local(Particles("particles", 5), s.mesh, {Partial()}); }},
      {"static_extent_cut_by_from_local", invalid_argument,
       "from_local: expected tensor dim 1 whole",
       [](const Given& s) { from_local(WideColumns("view", 2), s.mesh, {Shard(1)}); }, Reach::all,
       2},
  };
}

}  // namespace tessera::test
