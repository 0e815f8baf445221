// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// DeviceMesh: coordinates, sub-meshes, communicators, equality and invalid arguments.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <mpi.h>

#include <tessera/mesh/by_dim.hpp>
#include <tessera/mesh/device_mesh.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/traffic.hpp"
#include "../support/variable.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

using Ints = std::vector<int>;

/// Ranks of MPI_COMM_WORLD in a communicator, in its order.
Ints members(MPI_Comm comm) {
  Ints result(1);
  MPI_Comm_size(comm, result.data());
  result.resize(static_cast<std::size_t>(result[0]));
  const int mine = world_rank();
  MPI_Allgather(&mine, 1, MPI_INT, result.data(), 1, MPI_INT, comm);
  return result;
}

bool are_same(MPI_Comm a, MPI_Comm b) {
  int result = MPI_UNEQUAL;
  MPI_Comm_compare(a, b, &result);
  return result == MPI_IDENT;
}

Ints countdown(int size) {
  Ints ranks(static_cast<std::size_t>(size));
  std::iota(ranks.rbegin(), ranks.rend(), 0);
  return ranks;
}

TEST(DeviceMesh, knows_where_this_rank_is) {
  for (const auto& shape : {Ints{1}, {2}, {2, 2}, {2, 3}, {2, 2, 2}}) {
    const auto mesh = mesh_of(shape);
    if (mesh.is_null()) continue;
    const bool is_member = world_rank() < mesh.size();

    EXPECT_EQ(mesh.shape(), shape);
    EXPECT_EQ(mesh.ndim(), static_cast<int>(shape.size()));
    EXPECT_EQ(mesh.rank(), is_member ? world_rank() : -1);
    EXPECT_EQ(mesh.coordinate().has_value(), is_member);
    if (!is_member) continue;
    EXPECT_EQ(*mesh.coordinate(), mesh.layout().coordinate(world_rank()));
    for (int d = 0; d < mesh.ndim(); ++d)
      EXPECT_EQ(mesh.local_rank(d), (*mesh.coordinate())[static_cast<std::size_t>(d)]);
  }
}

TEST(DeviceMesh, groups_of_three_named_dims_are_row_major) {
  const auto mesh = mesh_of({2, 2, 2}, {"dp", "pp", "tp"});
  if (mesh.is_null() || !is_on(mesh)) return;
  const int rank = mesh.rank();
  const int dp = rank / 4;
  const int pp = rank / 2 % 2;
  const int tp = rank % 2;

  EXPECT_EQ(mesh.local_rank("dp"), dp);
  EXPECT_EQ(mesh.local_rank("pp"), pp);
  EXPECT_EQ(mesh.local_rank("tp"), tp);
  EXPECT_EQ(mesh["dp"].layout().ranks(), (Ints{2 * pp + tp, 4 + 2 * pp + tp}));
  EXPECT_EQ(mesh[-1].layout().ranks(), (Ints{4 * dp + 2 * pp, 4 * dp + 2 * pp + 1}));
  EXPECT_EQ(mesh.sub({"dp", "tp"}).layout().ranks(),
            (Ints{2 * pp, 2 * pp + 1, 4 + 2 * pp, 4 + 2 * pp + 1}));
  EXPECT_EQ(mesh.sub({"tp", "dp"}).layout().ranks(),
            (Ints{2 * pp, 4 + 2 * pp, 2 * pp + 1, 4 + 2 * pp + 1}));
  EXPECT_EQ(mesh.sub({"dp", "tp"}).rank(), 2 * dp + tp);
  EXPECT_EQ(mesh.sub({"tp", "dp"}).dim_names(), (std::vector<std::string>{"tp", "dp"}));
}

/// A mesh of the last names comes with what was kept with it, older ones are made anew.
TEST(DeviceMesh, flatten_keeps_meshes_of_the_last_names) {
  const auto mesh = init_device_mesh(MPI_COMM_WORLD, {1, 1});
  const auto note = [&](const std::string& name) -> int& {
    return detail::MeshAccess::attachment<int>(mesh.flatten({0, 1}, name));
  };
  note("first") = 1;
  EXPECT_EQ(note("first"), 1);
  for (int i = 0; i < 100; ++i) note(std::to_string(i)) = 2;
  EXPECT_EQ(note("99"), 2);
  EXPECT_EQ(note("first"), 0);
}

TEST(DeviceMesh, flatten_is_one_dim_with_the_ranks_of_sub) {
  const auto mesh = mesh_of({2, 2, 2}, {"dp", "pp", "tp"});
  if (mesh.is_null()) return;

  const auto flat = mesh.flatten({"dp", "tp"}, "dp_tp");

  EXPECT_EQ(flat.layout().ranks(), mesh.sub({"dp", "tp"}).layout().ranks());
  EXPECT_EQ(to_string(flat), "(dp_tp=4)");
  if (!is_on(mesh)) return;
  EXPECT_EQ(flat.rank(), 2 * mesh.local_rank("dp") + mesh.local_rank("tp"));
}

TEST(DeviceMesh, communicators_have_the_right_ranks_in_the_order_named) {
  const auto mesh = mesh_of({2, 2, 2}, {"dp", "pp", "tp"});
  if (mesh.is_null()) return;

  const auto tp = mesh.comm("tp");
  const auto reordered = mesh.comm({"tp", "dp"});
  const auto all = mesh.comm({0, 1, 2});

  if (!is_on(mesh)) {
    EXPECT_TRUE(tp == MPI_COMM_NULL && reordered == MPI_COMM_NULL && all == MPI_COMM_NULL);
    return;
  }
  const auto of_tp = members(tp);
  const auto of_reordered = members(reordered);
  const auto of_all = members(all);
  EXPECT_EQ(of_tp, mesh["tp"].layout().ranks());
  EXPECT_EQ(of_reordered, mesh.sub({"tp", "dp"}).layout().ranks());
  EXPECT_EQ(of_all, mesh.layout().ranks());
}

TEST(DeviceMesh, same_group_has_the_same_communicator) {
  const auto mesh = mesh_of({2, 2}, {"a", "b"});
  if (mesh.is_null() || !is_on(mesh)) return;
  const auto other = mesh_of({2, 2});
  const auto sub = mesh["b"];
  const auto flat = mesh.flatten({"a", "b"}, "all");

  const auto along_b = mesh.comm("b");
  const auto along_all = mesh.comm({"a", "b"});

  EXPECT_TRUE(are_same(along_b, mesh.comm(1)));
  EXPECT_TRUE(are_same(along_b, sub.comm(0)));
  EXPECT_TRUE(are_same(along_b, other.comm(-1)));
  EXPECT_TRUE(are_same(along_all, flat.comm("all")));
  EXPECT_FALSE(are_same(along_b, mesh.comm("a")));
  EXPECT_FALSE(are_same(along_all, MPI_COMM_WORLD));
}

TEST(DeviceMesh, dims_in_another_order_have_another_communicator) {
  const auto mesh = mesh_of({2, 2}, {"a", "b"});
  if (mesh.is_null() || !is_on(mesh)) return;

  const auto row_major = mesh.comm({"a", "b"});
  const auto reordered = mesh.comm({"b", "a"});
  const auto of_reordered = members(reordered);

  EXPECT_FALSE(are_same(row_major, reordered));
  EXPECT_EQ(of_reordered, (Ints{0, 2, 1, 3}));
}

TEST(DeviceMesh, communicator_of_one_dim_can_be_used) {
  for (const auto& shape : {Ints{1, 1}, {2, 1}, {2, 2}, {2, 3}, {4, 2}}) {
    const auto mesh = mesh_of(shape);
    if (mesh.is_null() || !is_on(mesh)) continue;
    const int mine = mesh.rank();
    int sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, mesh.comm(1));

    const int n = shape[1];
    EXPECT_EQ(sum, n * n * mesh.local_rank(0) + n * (n - 1) / 2);
  }
}

TEST(DeviceMesh, slicing_makes_no_communicator_and_sends_nothing) {
  const auto mesh = mesh_of({2, 2});
  if (mesh.is_null()) return;
  for (int i = 0; i < 5000; ++i) {  // MPICH has 2046 communicators
    const auto copy = DeviceMesh::from_ranks(MPI_COMM_WORLD, mesh.layout().ranks(), mesh.shape());
    Traffic traffic;
    EXPECT_EQ(copy[0].size(), 2);
    EXPECT_EQ(copy.sub({1, 0}).size(), 4);
    EXPECT_EQ(copy.flatten({0, 1}, "all").size(), 4);
    EXPECT_EQ(traffic.exchanges() + traffic.metadata() + traffic.agreements(), 0);
  }
}

TEST(DeviceMesh, unknown_names_duplicate_names_and_too_many_ranks_are_invalid) {
  const auto mesh = mesh_of({1, 1}, {"dp", "tp"});
  const auto error = [](const auto& call) { return message_of<InvalidArgument>(call); };
  const auto world = std::to_string(world_size());

  EXPECT_EQ(error([&] { mesh["pp"]; }), "mesh: expected a dim of mesh (dp=1, tp=1), got \"pp\"");
  EXPECT_THAT(error([&] { mesh.comm(2); }), HasSubstr("got 2"));
  EXPECT_THAT(error([&] { mesh.sub({"dp", "dp"}); }), HasSubstr("at most once"));
  EXPECT_THAT(error([&] { mesh.flatten({"dp", 0}, "x"); }), HasSubstr("at most once"));
  EXPECT_THAT(error([&] { mesh.local_rank("pp"); }), HasSubstr("got \"pp\""));
  EXPECT_EQ(error([&] {
              init_device_mesh(MPI_COMM_WORLD, {1, 1}, {"dp", "dp"});
            }),
            "mesh: expected different dim names, got (dp, dp)");
  EXPECT_EQ(error([&] {
              init_device_mesh(MPI_COMM_WORLD, {1, 1}, {"dp"});
            }),
            "mesh: expected 2 dim names for shape (1, 1), got 1");
  EXPECT_EQ(error([&] { init_device_mesh(MPI_COMM_WORLD, {world_size() + 1}); }),
            "init_device_mesh: expected at most " + world +
                " ranks, those of the communicator, got mesh (" + std::to_string(world_size() + 1) +
                ")");
  EXPECT_EQ(error([&] { init_device_mesh(MPI_COMM_WORLD, {-1}); }),
            "mesh: expected sizes >= 1, got shape (-1)");
}

TEST(DeviceMesh, lists_of_ranks_that_do_not_fit_are_invalid) {
  const auto error = [](const Ints& ranks, const Ints& shape) {
    return message_of<InvalidArgument>(
        [&] { DeviceMesh::from_ranks(MPI_COMM_WORLD, ranks, shape); });
  };
  const auto world = std::to_string(world_size());

  EXPECT_EQ(error({world_size()}, {1}), "from_ranks: expected ranks of a communicator of " + world +
                                            " ranks, got rank " + world);
  EXPECT_EQ(error({0, 0}, {2}), "mesh: expected each rank once, got one twice");
  EXPECT_EQ(error({0}, {2}), "mesh: expected 2 ranks for shape (2), got 1");
  EXPECT_EQ(error({-1}, {1}), "mesh: expected ranks >= 0");
  EXPECT_EQ(error({}, {0}), "mesh: expected sizes >= 1, got shape (0)");
}

TEST(DeviceMesh, members_of_a_null_mesh_are_invalid_but_comparing) {
  const DeviceMesh null;
  const auto error = message_of<InvalidArgument>([&] { null.rank(); });

  EXPECT_TRUE(null.is_null());
  EXPECT_EQ(error, "DeviceMesh: expected a mesh, got a null handle");
  EXPECT_EQ(null, DeviceMesh());
  EXPECT_FALSE(null == mesh_of({1}));
  EXPECT_FALSE(mesh_of({1}) == null);
}

TEST(DeviceMesh, ranks_off_the_mesh_have_no_coordinate) {
  if (world_size() < 4) return;
  const auto mesh = DeviceMesh::from_ranks(MPI_COMM_WORLD, {0, 3}, {2}, {"x"});
  const bool is_member = world_rank() == 0 || world_rank() == 3;

  const auto comm = mesh.comm("x");
  const auto error = message_of<InvalidArgument>([&] { mesh.local_rank("x"); });

  EXPECT_EQ(mesh.coordinate().has_value(), is_member);
  EXPECT_EQ(mesh.rank(), world_rank() == 0 ? 0 : world_rank() == 3 ? 1 : -1);
  EXPECT_EQ(comm == MPI_COMM_NULL, !is_member);
  EXPECT_EQ(error, is_member ? "no error"
                             : "local_rank: expected a rank of the mesh, got one off the mesh");
  EXPECT_EQ(mesh["x"].layout().ranks(), (Ints{0, 3}));
}

TEST(DeviceMesh, of_permuted_ranks_is_row_major_in_the_list) {
  for (const int size : {1, 2, 4, 6}) {
    if (size > world_size()) continue;
    const auto mesh = size % 2 == 0
                          ? DeviceMesh::from_ranks(MPI_COMM_WORLD, countdown(size), {2, size / 2})
                          : DeviceMesh::from_ranks(MPI_COMM_WORLD, countdown(size), {1, size});
    const auto comm = mesh.comm(1);
    if (!is_on(mesh)) continue;
    const auto of_comm = members(comm);

    EXPECT_EQ(mesh.rank(), size - 1 - world_rank());
    EXPECT_EQ(of_comm, mesh[1].layout().ranks());
    EXPECT_TRUE(std::is_sorted(of_comm.rbegin(), of_comm.rend()));
  }
}

TEST(DeviceMesh, off_the_mesh_sub_passes_through_coordinate_0) {
  const auto mesh = mesh_of({1, 1}, {"a", "b"});
  if (is_on(mesh)) return;

  const auto sub = mesh["b"];

  EXPECT_EQ(sub.layout().ranks(), Ints{0});
  EXPECT_FALSE(sub.coordinate().has_value());
  EXPECT_EQ(sub.comm(0), MPI_COMM_NULL);
}

TEST(DeviceMesh, equality_looks_at_communicator_ranks_and_shape) {
  const int n = world_size();
  const auto mesh = mesh_of({n});
  const auto named = init_device_mesh(MPI_COMM_WORLD, {n}, {"x"});
  const auto all = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const auto reordered = DeviceMesh::from_ranks(MPI_COMM_WORLD, countdown(n), {n});
  const auto square = init_device_mesh(MPI_COMM_WORLD, {n, 1});
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const auto elsewhere = DeviceMesh::from_comm(own);

  EXPECT_EQ(mesh, named);
  EXPECT_EQ(mesh, all);
  EXPECT_EQ(mesh == reordered, n == 1);
  EXPECT_FALSE(mesh == square);
  EXPECT_FALSE(mesh == elsewhere);
  EXPECT_EQ(square[0], mesh);
  EXPECT_EQ(square.flatten({0, 1}, "all"), mesh);
  MPI_Comm_free(&own);
}

TEST(DeviceMesh, from_cart_has_the_grid_of_the_communicator) {
  int dims[2] = {0, 0};
  int periods[2] = {1, 0};
  MPI_Dims_create(world_size(), 2, dims);
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  int rank = 0;
  int coordinate[2] = {-1, -1};
  MPI_Comm_rank(cart, &rank);
  MPI_Cart_coords(cart, rank, 2, coordinate);

  const auto mesh = DeviceMesh::from_cart(cart);

  EXPECT_EQ(mesh.shape(), (Ints{dims[0], dims[1]}));
  EXPECT_EQ(mesh.rank(), rank);
  EXPECT_EQ(*mesh.coordinate(), (Ints{coordinate[0], coordinate[1]}));
  MPI_Comm_free(&cart);
}

TEST(DeviceMesh, from_cart_needs_a_cartesian_communicator) {
  const auto error = message_of<InvalidArgument>([] { DeviceMesh::from_cart(MPI_COMM_WORLD); });

  EXPECT_THAT(error, HasSubstr("from_cart: expected a Cartesian communicator"));
}

TEST(DeviceMesh, of_a_freed_communicator_throws) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const auto mesh = DeviceMesh::from_comm(own);
  mesh.comm(0);
  MPI_Comm_free(&own);

  const auto of_comm = message_of<MpiError>([&] { mesh.comm(0); });
  const auto of_group = message_of<MpiError>([&] { mesh.group(); });

  EXPECT_THAT(of_comm, HasSubstr("was freed"));
  EXPECT_THAT(of_group, HasSubstr("was freed"));
  EXPECT_EQ(mesh.size(), world_size());
}

TEST(DeviceMesh, attachments_live_with_the_mesh_and_are_shared_by_its_handles) {
  const auto mesh = init_device_mesh(MPI_COMM_WORLD, {1});
  const auto copy = mesh;
  const auto other = init_device_mesh(MPI_COMM_WORLD, {1});

  detail::MeshAccess::attachment<Ints>(mesh).push_back(7);

  EXPECT_EQ(detail::MeshAccess::attachment<Ints>(copy), Ints{7});
  EXPECT_EQ(detail::MeshAccess::attachment<Ints>(other), Ints{});
  EXPECT_EQ(detail::MeshAccess::attachment<std::string>(mesh), "");
}

TEST(DeviceMesh, on_one_node_is_its_own_part_there) {
  const auto mesh = mesh_of({world_size()});

  EXPECT_TRUE(mesh.ranks_per_node().empty());
  EXPECT_EQ(mesh.on_node(), mesh);
}

TEST(DeviceMesh, on_several_nodes_has_parts_of_as_many_ranks_as_follow_one_another_on_each) {
  if (world_size() < 4) GTEST_SKIP() << "needs 4 ranks";
  const Variable variable("TESSERA_NODES", "0,0,1,1,2,2,3,3");
  MPI_Comm user = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &user);
  const auto mesh = init_device_mesh(user, {2, 2}, {"x", "y"});
  const auto line = init_device_mesh(user, {4});
  const int first = world_rank() / 2 * 2;

  EXPECT_EQ(mesh.ranks_per_node(), (Extents{1, 2}));
  EXPECT_EQ(line.ranks_per_node(), Extents{2});
  if (is_on(line)) {
    EXPECT_EQ(line.on_node().layout().ranks(), (Ints{first, first + 1}));
    EXPECT_EQ(mesh.on_node().shape(), (Ints{1, 2}));
    EXPECT_EQ(mesh.on_node().local_rank("y"), world_rank() % 2);
  } else {
    EXPECT_FALSE(is_on(line.on_node()));
  }
  MPI_Comm_free(&user);
}

TEST(DeviceMesh, by_dim_takes_a_mesh) {
  const auto mesh = mesh_of({1, 1}, {"dp", "tp"});

  const auto placements = by_dim(mesh, {{"tp", "dp"}, {}});

  EXPECT_EQ(placements, Placements({Shard(0), Shard(0)}, {1, 0}));
}

}  // namespace
}  // namespace tessera::test
