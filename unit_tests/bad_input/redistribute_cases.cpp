// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace tessera::test {
namespace {

DeviceMesh on_a_freed_communicator(const DeviceMesh& mesh) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  const auto result = DeviceMesh::from_comm(own);
  MPI_Comm_free(&own);
  return result.is_null() ? mesh : result;
}

struct WrongPlacements {
  const char* name;
  Placements placements;
  const char* text;
};

const std::vector<WrongPlacements> wrong_placements{
    {"shard_dim_too_large", {Shard(2)}, "expected Shard dims of a 2-d tensor, got S(2)"},
    {"shard_dim_too_small", {Shard(-3)}, "expected Shard dims of a 2-d tensor, got S(-3)"},
    {"too_many_placements", {Shard(0), Replicate()}, "expected 1 placement for mesh (x="},
    {"no_placements", Placements(), "expected 1 placement for mesh (x="},
};

/// Each function that takes placements, with each wrong list.
std::vector<Case> placement_cases() {
  std::vector<Case> cases;
  for (const auto& wrong : wrong_placements) {
    const auto& p = wrong.placements;
    const auto add = [&](const std::string& function, Call call) {
      cases.push_back(
          {std::string(wrong.name) + "_in_" + function, invalid_argument, wrong.text, call});
    };
    add("redistribute", [p](const Given& s) { redistribute(s.tensor, p); });
    add("redistribute_to_another_layout",
        [p](const Given& s) { redistribute<LeftMatrix>(s.tensor, p); });
    add("redistribute_on_an_instance",
        [p](const Given& s) { redistribute(Kokkos::DefaultExecutionSpace(), s.tensor, p); });
    add("distribute_tensor",
        [p](const Given& s) { distribute_tensor(Matrix("view", 16, 24), s.mesh, p); });
    add("from_local", [p](const Given& s) { from_local(s.tensor.to_local(), s.mesh, p); });
    add("local_map", [p](const Given& s) {
      local_map([](const Matrix& m) { return m; }, like_input(0), {p},
                {.redistribute_inputs = true})(s.tensor);
    });
  }
  return cases;
}

template <class V>
void add_reductions(std::vector<Case>& cases, const char* type, const std::vector<ReduceOp>& ops) {
  for (const auto op : ops) {
    const auto name = "_by_" + to_string(op) + "_of_" + type;
    const auto text = "reduces by " + to_string(op);
    cases.push_back({"partial" + name, invalid_argument, text, [op](const Given& s) {
                       redistribute(zeros<V>(s.mesh, {Shard(0)}, shape), {Partial(op)});
                     }});
    cases.push_back({"all_reduce" + name, invalid_argument, text,
                     [op](const Given& s) { all_reduce(V("view", 16, 24), op, s.mesh, 0); }});
    cases.push_back({"reduce_scatter" + name, invalid_argument, text, [op](const Given& s) {
                       reduce_scatter(V("view", 16, 24), op, 0, s.mesh, 0);
                     }});
  }
}

std::vector<Case> reduction_cases() {
  std::vector<Case> cases;
  add_reductions<Matrix>(cases, "doubles", {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor});
  add_reductions<Complexes>(cases, "complex_numbers",
                            {ReduceOp::min, ReduceOp::max, ReduceOp::band});
  add_reductions<Flags>(cases, "bools", {ReduceOp::avg});
  return cases;
}

}  // namespace

std::vector<Case> redistribute_cases() {
  std::vector<Case> cases{
      {"gather_to_a_rank_below_0", invalid_argument,
       "gather_to: expected a rank of mesh (x=", [](const Given& s) { gather_to(s.tensor, -1); }},
      {"gather_to_a_rank_beyond_the_mesh", invalid_argument, "gather_to: expected a rank of mesh",
       [](const Given& s) { gather_to(s.tensor, s.mesh.size()); }},
      {"sum_of_structs", invalid_argument, "reduces by sum, got opaque(16 bytes)",
       [](const Given& s) {
         redistribute(empty<Particles>(s.mesh, {Shard(0)}, {5}), {Partial()});
       }},
      {"static_extent_that_would_be_cut", invalid_argument,
       "redistribute: expected tensor dim 1 whole on every rank, as the View's extent 24 is static",
       [](const Given& s) {
         redistribute(zeros<WideColumns>(s.mesh, {Shard(0)}, shape), {Shard(1)});
       },
       Reach::all, 2},
      {"static_extent_of_another_view_type", invalid_argument, "expected extent 24 in tensor dim 1",
       [](const Given& s) {
         redistribute<WideColumns>(zeros<Matrix>(s.mesh, {Shard(0)}, {16, 3}), {Replicate()});
       }},
      {"spec_on_another_mesh", mesh_mismatch,
       "redistribute: expected a spec on the tensor's mesh (x=",
       [](const Given& s) {
         redistribute(s.tensor, DTensorSpec(reversed(s.mesh).layout(), {Shard(0)}, shape));
       },
       Reach::all, 2},
      {"spec_of_another_shape", invalid_argument,
       "redistribute: expected a target of shape (16, 24)",
       [](const Given& s) {
         redistribute(s.tensor, DTensorSpec(s.mesh.layout(), {Shard(0)}, {24, 16}));
       }},
      {"spec_of_other_dims", invalid_argument, "redistribute: expected a shape of 2 dims",
       [](const Given& s) {
         redistribute(s.tensor, DTensorSpec(s.mesh.layout(), {Shard(0)}, {16}));
       }},
      {"destination_on_another_mesh", mesh_mismatch, "redistribute_into: expected a destination on",
       [](const Given& s) {
         redistribute_into(zeros<Matrix>(reversed(s.mesh), {Shard(1)}, shape), s.tensor);
       },
       Reach::all, 2},
      {"destination_of_another_shape", invalid_argument, "redistribute_into: expected a target of",
       [](const Given& s) {
         redistribute_into(zeros<Matrix>(s.mesh, {Shard(1)}, {24, 16}), s.tensor);
       }},
      {"plan_bound_to_another_mesh", mesh_mismatch, "bind: expected the plan's mesh (x=",
       [](const Given& s) {
         make_plan(s.tensor.spec(), s.tensor.spec(), element_type<double>()).bind(reversed(s.mesh));
       },
       Reach::this_rank, 2},
      {"plan_run_with_a_source_of_another_shape", invalid_argument,
       "expected a source View of shape",
       [](const Given& s) {
         const auto to = with_placements(s.tensor.spec(), {Replicate()});
         const auto plan = make_plan(s.tensor.spec(), to, element_type<double>());
         plan.bind(s.mesh).execute(Matrix("source", 1, 1), Matrix("destination", 16, 24));
       }},
      {"plan_run_with_a_destination_of_another_shape", invalid_argument, "expected a destination",
       [](const Given& s) {
         const auto to = with_placements(s.tensor.spec(), {Replicate()});
         const auto plan = make_plan(s.tensor.spec(), to, element_type<double>());
         plan.bind(s.mesh).execute(s.tensor.to_local(), Matrix("destination", 1, 24));
       }},
      {"plan_run_with_another_element_type", invalid_argument, "expected a source of float64",
       [](const Given& s) {
         const auto to = with_placements(s.tensor.spec(), {Replicate()});
         const auto plan = make_plan(s.tensor.spec(), to, element_type<double>());
         plan.bind(s.mesh).execute(Floats("source", s.tensor.to_local().extent(0), 24),
                                   Floats("destination", 16, 24));
       }},
      {"plan_between_two_shapes", invalid_argument, "make_plan: expected a target of shape",
       [](const Given& s) {
         make_plan(s.tensor.spec(), DTensorSpec(s.mesh.layout(), {Shard(0)}, {1, 2}),
                   element_type<double>());
       },
       Reach::this_rank},
      {"by_dim_of_other_dims", invalid_argument,
       "redistribute: expected placements by dim of a 2-d",
       [](const Given& s) { redistribute(s.tensor, by_dim(s.mesh, {{"x"}})); }},
      {"no_tensor", invalid_argument, "full_tensor: expected a mesh, got a null handle",
       [](const Given&) { full_tensor(DTensor<Matrix>()); }, Reach::this_rank},
      {"no_tensor_to_redistribute", invalid_argument, "redistribute: expected a mesh, got a null",
       [](const Given&) { redistribute(DTensor<Matrix>(), {Shard(0)}); }, Reach::this_rank},
      {"extra_memory_below_0", invalid_argument,
       "redistribute: expected extra_memory of 0 bytes or more, got -1",
       [](const Given& s) { redistribute(s.tensor, {Shard(1)}, {.extra_memory = -1}); }},
      {"extra_memory_below_0_of_a_plan", invalid_argument,
       "make_plan: expected extra_memory of 0 bytes or more, got -1",
       [](const Given& s) {
         make_plan(s.tensor.spec(), s.tensor.spec(), element_type<double>(), {.extra_memory = -1});
       },
       Reach::this_rank},
      {"spec_of_the_same_ranks_in_another_order", mesh_mismatch,
       "redistribute: expected a spec on the tensor's mesh (x=",
       [](const Given& s) {
         redistribute(s.tensor, DTensorSpec(reversed(s.mesh).layout(), {Shard(1)}, shape));
       },
       Reach::all, 2},
      {"communicator_of_a_mesh_whose_communicator_was_freed", mpi_error,
       "the library's duplicate was freed",
       [](const Given& s) { on_a_freed_communicator(s.mesh).comm(0); }, Reach::this_rank},
      {"redistribution_on_a_freed_communicator", mpi_error, "the library's duplicate was freed",
       [](const Given& s) {
         full_tensor(iota<Matrix>(on_a_freed_communicator(s.mesh), {Shard(0)}, shape));
       },
       Reach::this_rank},
  };
  for (const auto& more : {placement_cases(), reduction_cases()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace tessera::test
