// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Bad input that every rank can see alone: the same exception on every rank of the mesh, and the
// next valid call works. A new case is a name, what is thrown, a part of its text, and the call.
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

/// What the calls work on: rows of a (5, 4) tensor on a mesh of one dim, "x".
struct Given {
  DeviceMesh mesh;
  DTensor<Matrix> tensor;
};

using Call = std::function<void(const Given&)>;
using MessageOf = std::string (*)(const std::function<void()>&);
constexpr MessageOf invalid_argument = message_of<InvalidArgument, std::function<void()>>;
constexpr MessageOf mesh_mismatch = message_of<MeshMismatch, std::function<void()>>;
constexpr MessageOf mpi_error = message_of<MpiError, std::function<void()>>;

struct Case {
  const char* name;
  MessageOf message;
  const char* text;
  Call call;
  int ranks = 1;  ///< of the smallest mesh on which it is bad
};

void PrintTo(const Case& one, std::ostream* stream) {
  *stream << one.name;
}

struct Particle {
  double position;
  std::int32_t charge;
};

using Integers = Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Flags = Kokkos::View<bool**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Complexes = Kokkos::View<Kokkos::complex<double>**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Particles = Kokkos::View<Particle*, Kokkos::LayoutRight, Kokkos::HostSpace>;
using FourColumns = Kokkos::View<double* [4], Kokkos::LayoutRight, Kokkos::HostSpace>;

const Extents shape{5, 4};
constexpr std::int64_t huge = std::int64_t{1} << 40;

DeviceMesh turned(const DeviceMesh& mesh) {
  const auto& ranks = mesh.layout().ranks();
  return DeviceMesh::from_ranks(MPI_COMM_WORLD, {ranks.rbegin(), ranks.rend()}, mesh.shape());
}

/// One part of 6 rows and others of none, for a tensor of 5.
std::vector<std::int64_t> cuts_beyond_the_end(const DeviceMesh& mesh) {
  std::vector<std::int64_t> cuts(static_cast<std::size_t>(mesh.size()) + 1, 6);
  cuts.front() = 0;
  return cuts;
}

DeviceMesh on_a_freed_communicator(const DeviceMesh& mesh) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const auto result = DeviceMesh::from_ranks(own, mesh.layout().ranks(), mesh.shape());
  MPI_Comm_free(&own);
  return result;
}

const std::vector<Case> cases{
    {"shard_dim_too_large", invalid_argument,
     "redistribute: expected Shard dims of a 2-d tensor, got S(2)",
     [](const Given& s) { redistribute(s.tensor, {Shard(2)}); }},
    {"shard_dim_too_small", invalid_argument,
     "redistribute: expected Shard dims of a 2-d tensor, got S(-3)",
     [](const Given& s) { redistribute(s.tensor, {Shard(-3)}); }},
    {"too_many_placements", invalid_argument, "redistribute: expected 1 placements for mesh (x=",
     [](const Given& s) {
       redistribute(s.tensor, {Shard(0), Replicate()});
     }},
    {"no_placements", invalid_argument, "redistribute: expected 1 placements for mesh (x=",
     [](const Given& s) { redistribute(s.tensor, Placements()); }},
    {"two_kinds_of_partial", invalid_argument,
     "Placements: expected one kind of Partial, or sum with avg, got P(min) and P(max)",
     [](const Given&) {
       Placements{Partial(ReduceOp::min), Partial(ReduceOp::max)};
     }},
    {"sum_with_product", invalid_argument, "got P(sum) and P(product)",
     [](const Given&) {
       Placements{Partial(), Replicate(), Partial(ReduceOp::product)};
     }},
    {"min_after_sum_with_avg", invalid_argument, "got P(avg) and P(min)",
     [](const Given&) {
       Placements{Partial(), Partial(ReduceOp::avg), Partial(ReduceOp::min)};
     }},
    {"split_positions_that_are_none", invalid_argument, "Placements: expected, for the mesh dims",
     [](const Given&) {
       Placements({Shard(0), Shard(0)}, {0, 0});
     }},

    {"negative_extent", invalid_argument, "zeros: expected extents >= 0, got shape (5, -1)",
     [](const Given& s) {
       zeros<Matrix>(s.mesh, {Shard(0)}, {5, -1});
     }},
    {"negative_extent_for_from_local", invalid_argument, "from_local: expected extents >= 0",
     [](const Given& s) {
       from_local(s.tensor.to_local(), s.mesh, {Shard(0)}, {.shape = {-5, 4}});
     }},
    {"product_of_more_than_64_bits", invalid_argument,
     "empty: expected a shape of fewer than 2^63 elements, got (1099511627776, 1099511627776)",
     [](const Given& s) {
       empty<Matrix>(s.mesh, {Shard(0)}, {huge, huge});
     }},
    {"more_than_8_dims", invalid_argument, "Extents: expected at most 8 tensor dims",
     [](const Given&) { Extents{1, 2, 3, 4, 5, 6, 7, 8, 9}; }},
    {"shape_of_other_dims", invalid_argument, "zeros: expected a shape of 2 dims, that of the View",
     [](const Given& s) { zeros<Matrix>(s.mesh, {Shard(0)}, {5}); }},
    {"view_that_is_not_the_piece", invalid_argument, "from_local: expected a local View of shape (",
     [](const Given& s) {
       from_local(Matrix("wrong", 9, 9), s.mesh, {Shard(0)}, {.shape = shape});
     }},
    {"boundaries_that_are_no_cut", invalid_argument, "ascending positions from 0 to 5, got [0, 6",
     [](const Given& s) {
       DTensorSpec(s.mesh.layout(), {Shard(0)}, shape, {cuts_beyond_the_end(s.mesh), {}});
     }},
    {"boundaries_of_other_dims", invalid_argument, "expected boundaries for 2 tensor dims, got 1",
     [](const Given& s) {
       DTensorSpec(s.mesh.layout(), {Replicate()}, shape, {{0, 5}});
     }},

    {"partial_in_zeros", invalid_argument, "zeros: expected Shard and Replicate placements",
     [](const Given& s) { zeros<Matrix>(s.mesh, {Partial()}, shape); }},
    {"partial_in_rand", invalid_argument, "rand: expected Shard and Replicate placements",
     [](const Given& s) { rand<Matrix>(s.mesh, {Partial()}, shape); }},
    {"partial_in_from_function", invalid_argument, "from_function: expected Shard and Replicate",
     [](const Given& s) { from_function<Matrix>(s.mesh, {Partial()}, shape, GlobalIndex(shape)); }},
    {"partial_in_distribute_tensor", invalid_argument,
     "distribute_tensor: expected Shard and Replicate placements, got P(sum)",
     [](const Given& s) { distribute_tensor(Matrix("view", 5, 4), s.mesh, {Partial()}); }},
    {"random_integers", invalid_argument, "rand: expected a floating or complex element type",
     [](const Given& s) { rand<Integers>(s.mesh, {Replicate()}, shape); }},
    {"normal_integers", invalid_argument, "randn: expected a floating or complex element type",
     [](const Given& s) { randn<Integers>(s.mesh, {Replicate()}, shape); }},
    {"source_rank_off_the_mesh", invalid_argument, "distribute_tensor: expected a rank of mesh (x=",
     [](const Given& s) {
       distribute_tensor(Matrix("view", 5, 4), s.mesh, {Shard(0)}, {.src_rank = s.mesh.size()});
     }},
    {"gather_to_a_rank_off_the_mesh", invalid_argument,
     "gather_to: expected a rank of mesh (x=", [](const Given& s) { gather_to(s.tensor, -1); }},
    {"item_of_a_matrix", invalid_argument, "item: expected a 0-d tensor, got shape (5, 4)",
     [](const Given& s) { item(s.tensor); }},

    {"bit_op_on_doubles", invalid_argument, "expected an element type that reduces by band",
     [](const Given& s) { redistribute(s.tensor, {Partial(ReduceOp::band)}); }},
    {"minimum_of_complex_numbers", invalid_argument, "reduces by min, got complex128",
     [](const Given& s) {
       redistribute(zeros<Complexes>(s.mesh, {Shard(0)}, shape), {Partial(ReduceOp::min)});
     }},
    {"average_of_bools", invalid_argument, "reduces by avg, got bool",
     [](const Given& s) {
       redistribute(zeros<Flags>(s.mesh, {Shard(0)}, shape), {Partial(ReduceOp::avg)});
     }},
    {"sum_of_structs", invalid_argument, "reduces by sum, got opaque(16 bytes)",
     [](const Given& s) { redistribute(empty<Particles>(s.mesh, {Shard(0)}, {5}), {Partial()}); }},
    {"sum_of_structs_from_local", invalid_argument, "from_local: expected an element type that",
     [](const Given& s) { from_local(Particles("particles", 5), s.mesh, {Partial()}); }},

    {"static_extent_that_would_be_cut", invalid_argument,
     "redistribute: expected tensor dim 1 whole on every rank, as the View's extent 4 is static",
     [](const Given& s) {
       redistribute(zeros<FourColumns>(s.mesh, {Shard(0)}, shape), {Shard(1)});
     },
     2},
    {"static_extent_cut_by_a_factory", invalid_argument, "zeros: expected tensor dim 1 whole",
     [](const Given& s) { zeros<FourColumns>(s.mesh, {Shard(1)}, shape); }, 2},
    {"static_extent_cut_by_from_local", invalid_argument, "from_local: expected tensor dim 1 whole",
     [](const Given& s) { from_local(FourColumns("view", 2), s.mesh, {Shard(1)}); }, 2},
    {"static_extent_that_differs", invalid_argument, "zeros: expected extent 4 in tensor dim 1",
     [](const Given& s) {
       zeros<FourColumns>(s.mesh, {Shard(0)}, {5, 3});
     }},
    {"static_extent_of_another_view_type", invalid_argument, "expected extent 4 in tensor dim 1",
     [](const Given& s) {
       redistribute<FourColumns>(zeros<Matrix>(s.mesh, {Shard(0)}, {5, 3}), {Replicate()});
     }},

    {"spec_on_another_mesh", mesh_mismatch,
     "redistribute: expected a spec on the tensor's mesh (x=",
     [](const Given& s) {
       redistribute(s.tensor, DTensorSpec(turned(s.mesh).layout(), {Shard(0)}, shape));
     },
     2},
    {"spec_of_another_shape", invalid_argument, "redistribute: expected a target of shape (5, 4)",
     [](const Given& s) {
       redistribute(s.tensor, DTensorSpec(s.mesh.layout(), {Shard(0)}, {4, 5}));
     }},
    {"destination_on_another_mesh", mesh_mismatch, "redistribute_into: expected a destination on",
     [](const Given& s) {
       redistribute_into(zeros<Matrix>(turned(s.mesh), {Shard(1)}, shape), s.tensor);
     },
     2},
    {"destination_of_another_shape", invalid_argument, "redistribute_into: expected a target of",
     [](const Given& s) {
       redistribute_into(zeros<Matrix>(s.mesh, {Shard(1)}, {4, 5}), s.tensor);
     }},
    {"plan_bound_to_another_mesh", mesh_mismatch, "bind: expected the plan's mesh (x=",
     [](const Given& s) {
       make_plan(s.tensor.spec(), s.tensor.spec(), element_type<double>()).bind(turned(s.mesh));
     },
     2},

    {"unknown_placement_text", invalid_argument, "got \"S(0), X\"",
     [](const Given&) { parse_placements("S(0), X"); }},
    {"unknown_op_text", invalid_argument, "parse_placements: expected a list of R, S(dim)",
     [](const Given&) { parse_placements("P(mean)"); }},
    {"unknown_mesh_dim_by_dim", invalid_argument, "expected a dim of mesh (x=",
     [](const Given& s) {
       by_dim(s.mesh, {{"y"}, {}});
     }},
    {"mesh_dim_used_twice_by_dim", invalid_argument, "by_dim: expected each dim of mesh (x=",
     [](const Given& s) {
       by_dim(s.mesh, {{"x"}, {0}});
     }},
    {"by_dim_of_other_dims", invalid_argument, "redistribute: expected placements by dim of a 2-d",
     [](const Given& s) { redistribute(s.tensor, by_dim(s.mesh, {{"x"}})); }},

    {"null_mesh", invalid_argument, "DeviceMesh: expected a mesh, got a null handle",
     [](const Given&) { zeros<Matrix>(DeviceMesh(), {Shard(0)}, shape); }},
    {"null_tensor", invalid_argument, "DeviceMesh: expected a mesh, got a null handle",
     [](const Given&) { full_tensor(DTensor<Matrix>()); }},
    {"no_default_mesh", invalid_argument, "ones: expected a mesh, or a DeviceMeshScope",
     [](const Given&) { ones<Matrix>(Placements{Shard(0)}, shape); }},
    {"null_communicator", invalid_argument, "expected an intra-communicator, got MPI_COMM_NULL",
     [](const Given&) { init_device_mesh(MPI_COMM_NULL, {1}); }},
    {"communicator_that_is_no_grid", invalid_argument, "from_cart: expected a Cartesian",
     [](const Given&) { DeviceMesh::from_cart(MPI_COMM_WORLD); }},
    {"freed_communicator", mpi_error, "the library's duplicate was freed",
     [](const Given& s) { on_a_freed_communicator(s.mesh).comm(0); }},
    {"redistribution_on_a_freed_communicator", mpi_error, "the library's duplicate was freed",
     [](const Given& s) {
       full_tensor(iota<Matrix>(on_a_freed_communicator(s.mesh), {Shard(0)}, shape));
     },
     2},
    {"more_ranks_than_there_are", invalid_argument, "init_device_mesh: expected at most ",
     [](const Given&) {
       init_device_mesh(MPI_COMM_WORLD, {world_size(), 2});
     }},
    {"mesh_dim_of_size_0", invalid_argument, "mesh: expected sizes >= 1, got shape (1, 0)",
     [](const Given&) {
       init_device_mesh(MPI_COMM_WORLD, {1, 0});
     }},
    {"same_mesh_dim_name_twice", invalid_argument, "mesh: expected different dim names, got (x, x)",
     [](const Given&) {
       init_device_mesh(MPI_COMM_WORLD, {1, 1}, {"x", "x"});
     }},
    {"unknown_mesh_dim", invalid_argument,
     "mesh: expected a dim of mesh (x=", [](const Given& s) { s.mesh["y"]; }},
    {"mesh_dim_out_of_range", invalid_argument,
     "mesh: expected a dim of mesh (x=", [](const Given& s) { s.mesh.size(1); }},

    {"gather_of_a_dim_out_of_range", invalid_argument, "all_gather: expected a dim of a 2-d View",
     [](const Given& s) { all_gather(s.tensor.to_local(), 2, s.mesh, 0); }},
    {"gather_along_an_unknown_mesh_dim", invalid_argument, "mesh: expected a dim of mesh (x=",
     [](const Given& s) { all_gather(s.tensor.to_local(), 0, s.mesh, "y"); }},
    {"exchange_of_a_dim_out_of_range", invalid_argument, "all_to_all: expected a dim of a 2-d View",
     [](const Given& s) { all_to_all(s.tensor.to_local(), 0, -3, s.mesh, 0); }},
    {"scatter_of_a_dim_out_of_range", invalid_argument, "reduce_scatter: expected a dim of a 2-d",
     [](const Given& s) { reduce_scatter(Matrix("m", 4, 4), ReduceOp::sum, 2, s.mesh, 0); }},
    {"reduction_that_the_type_lacks", invalid_argument, "expected an element type that reduces by",
     [](const Given& s) { all_reduce(Matrix("m", 4, 4), ReduceOp::bor, s.mesh, 0); }},
    {"broadcast_from_a_rank_off_the_mesh", invalid_argument, "broadcast: expected a rank of mesh (",
     [](const Given& s) { broadcast(Matrix("m", 4, 4), s.mesh.size(), s.mesh, 0); }},

    {"local_map_with_other_placements_than_arguments", invalid_argument,
     "local_map: expected 1 in_placements, one per flattened argument, got 2",
     [](const Given& s) {
       local_map([](const Matrix& m) { return m; }, like_input(0), {keep, keep})(s.tensor);
     }},
    {"local_map_on_another_mesh", mesh_mismatch, "local_map: expected all DTensors on mesh (",
     [](const Given& s) {
       local_map(
           turned(s.mesh), [](const Matrix& m) { return m; }, like_input(0))(s.tensor);
     },
     2},
};

class BadInput : public ::testing::TestWithParam<Case> {};

TEST_P(BadInput, throws_on_every_rank_and_the_next_call_works) {
  const auto& bad = GetParam();
  for (const int ranks : {1, 2, 3, 4, 8}) {
    const auto mesh = mesh_of({ranks}, {"x"});
    if (mesh.is_null() || ranks < bad.ranks) continue;
    const Given given{mesh, iota<Matrix>(mesh, {Shard(0)}, shape)};

    const auto message = bad.message([&] { bad.call(given); });
    const auto columns = redistribute(given.tensor, {Shard(1)});

    EXPECT_EQ(wrong_iota(columns), "");
    if (!is_on(mesh)) continue;
    EXPECT_THAT(message, HasSubstr(bad.text)) << "on " << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadInput, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BadCommunicator, inter_communicator_is_invalid) {
  if (world_size() < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  const bool is_low = world_rank() < world_size() / 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_low ? 0 : 1, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? world_size() / 2 : 0, 1, &between);

  const auto message = message_of<InvalidArgument>([&] { init_device_mesh(between, {1}); });
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);

  EXPECT_THAT(message, HasSubstr("expected an intra-communicator, got an inter-communicator"));
}

}  // namespace
}  // namespace tessera::test
