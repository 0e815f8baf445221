// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace tessera::test {
namespace {

Matrix same(const Matrix& view) {
  return view;
}

}  // namespace

std::vector<Case> local_map_cases() {
  return {
      {"more_in_placements_than_arguments", invalid_argument,
       "local_map: expected 1 in_placements, one per flattened argument, got 2",
       [](const Given& s) {
         local_map(same, like_input(0), {keep, keep})(s.tensor);
       }},
      {"fewer_in_placements_than_arguments", invalid_argument,
       "local_map: expected 2 in_placements, one per flattened argument, got 1",
       [](const Given& s) {
         local_map([](const Matrix& m, double) { return m; }, like_input(0), {keep})(s.tensor, 1.0);
       }},
      {"no_placement_for_a_tensor", invalid_argument, "a DTensor, got nullopt",
       [](const Given& s) { local_map(same, like_input(0), {std::nullopt})(s.tensor); }},
      {"placement_for_a_number", invalid_argument, "which is not a tensor, got placements",
       [](const Given& s) {
         local_map([](const Matrix& m, double) { return m; }, like_input(0),
                   {keep, Placements{Shard(0)}})(s.tensor, 1.0);
       }},
      {"input_as_other_placements", placement_mismatch, "redistribute_inputs=true",
       [](const Given& s) { local_map(same, like_input(0), {Placements{Shard(1)}})(s.tensor); }},
      {"inputs_cut_at_different_places", placement_mismatch, "cut at the same places",
       [](const Given& s) {
         std::vector<std::int64_t> cuts(static_cast<std::size_t>(s.mesh.size()) + 1, 16);
         cuts.front() = 0;
         const DTensorSpec uneven(s.mesh.layout(), {Shard(0)}, shape, {cuts, {}});
         local_map([](const Matrix& m, const Matrix&) { return m; }, like_input(0))(
             s.tensor, redistribute(s.tensor, uneven));
       },
       Reach::together, 2},
      {"local_map_on_another_mesh", mesh_mismatch, "local_map: expected all DTensors on mesh (",
       [](const Given& s) { local_map(reversed(s.mesh), same, like_input(0))(s.tensor); },
       Reach::all, 2},
      {"local_map_of_two_meshes", mesh_mismatch, "local_map: expected all DTensors on mesh (",
       [](const Given& s) {
         const auto other = zeros<Matrix>(reversed(s.mesh), {Shard(0)}, shape);
         local_map([](const Matrix& m, const Matrix&) { return m; }, like_input(0))(s.tensor,
                                                                                    other);
       },
       Reach::all, 2},
      {"tensor_without_a_mesh", invalid_argument, "as argument 1, got a null handle",
       [](const Given& s) {
         local_map([](const Matrix& m, const Matrix&) { return m; }, like_input(0))(
             s.tensor, DTensor<Matrix>());
       }},
      {"no_tensor_with_a_mesh", invalid_argument, "as argument 0, got a null handle",
       [](const Given&) {
         local_map([](const Matrix& m) { return m.size(); }, none)(DTensor<Matrix>());
       },
       Reach::this_rank},
      {"output_like_an_argument_that_is_not_there", invalid_argument, "expected like_input of a",
       [](const Given& s) { local_map(same, like_input(7))(s.tensor); }, Reach::cold},
      {"output_shaped_otherwise", invalid_argument, "local_map: expected a local View of shape (",
       [](const Given& s) {
         local_map(same, shaped({Shard(0)}, {64, 24}))(s.tensor);
       },
       Reach::cold},
      {"output_that_is_no_grid", invalid_argument, "local_map: expected the same extent",
       [](const Given& s) {
         const int columns = 3 + s.mesh.rank();
         const auto make = [columns] {
           return Matrix("made", 2, static_cast<std::size_t>(columns));
         };
         local_map(s.mesh, make, Placements{Shard(0)})();
       },
       Reach::cold, 2},
  };
}

}  // namespace tessera::test
