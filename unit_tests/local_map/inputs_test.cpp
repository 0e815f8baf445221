// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What local_map does with its arguments.
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

Matrix times(const Matrix& x, double factor) {
  const Matrix result("times", x.extent(0), x.extent(1));
  Kokkos::deep_copy(result, x);
  change_on_host(result, [&](const auto& host) {
    for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] *= factor;
  });
  return result;
}

std::vector<DeviceMesh> lines() {
  return meshes_of({{1}, {2}, {3}, {4}, {8}});
}

const Extents shape{5, 4};

TEST(LocalMapInputs, scalar_passes_with_nullopt) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);

    const auto y = local_map(times, like_input(0), {{Shard(0)}, std::nullopt})(x, 2.0);

    EXPECT_EQ(wrong_iota(y, 2), "");
  }
}

TEST(LocalMapInputs, placements_for_a_scalar_are_invalid) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto f = local_map(times, like_input(0), {{Shard(0)}, {Shard(0)}});
    const auto g = local_map(times, like_input(0), {{Shard(0)}, keep});

    const auto of_f = message_of<InvalidArgument>([&] { f(x, 2.0); });
    const auto of_g = message_of<InvalidArgument>([&] { g(x, 2.0); });

    const auto text = "local_map: expected nullopt for argument 1, which is not a tensor";
    EXPECT_THAT(of_f, HasSubstr(text));
    EXPECT_THAT(of_g, HasSubstr(text));
  }
}

TEST(LocalMapInputs, wrong_number_of_placements_is_invalid) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto short_one = local_map(times, like_input(0), {{Shard(0)}});
    const auto long_one = local_map(times, like_input(0), {{Shard(0)}, std::nullopt, std::nullopt});

    const auto of_short = message_of<InvalidArgument>([&] { short_one(x, 2.0); });
    const auto of_long = message_of<InvalidArgument>([&] { long_one(x, 2.0); });

    const auto text = "local_map: expected 2 in_placements, one per flattened argument, got ";
    EXPECT_THAT(of_short, HasSubstr(text + std::string("1")));
    EXPECT_THAT(of_long, HasSubstr(text + std::string("3")));
  }
}

TEST(LocalMapInputs, nullopt_for_a_tensor_is_invalid) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto f = local_map(times, like_input(0), {std::nullopt, std::nullopt});

    const auto message = message_of<InvalidArgument>([&] { f(x, 2.0); });

    EXPECT_THAT(message, HasSubstr("expected placements or keep for argument 0, a DTensor"));
  }
}

TEST(LocalMapInputs, placements_that_do_not_fit_mesh_or_tensor_are_invalid) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto call = [&](const Placements& in) {
      return message_of<InvalidArgument>([&] {
        local_map(times, like_input(0), {in, std::nullopt}, {.redistribute_inputs = true})(x, 2.0);
      });
    };

    const auto of_two = call({Shard(0), Replicate()});
    const auto of_dim_2 = call({Shard(2)});
    const auto y = local_map(times, like_input(0))(x, 3.0);

    EXPECT_THAT(of_two, HasSubstr("local_map: expected 1 placement for mesh"));
    EXPECT_THAT(of_dim_2, HasSubstr("local_map: expected Shard dims of a 2-d tensor, got S(2)"));
    EXPECT_EQ(wrong_iota(y, 3), "");
  }
}

TEST(LocalMapInputs, negative_shard_dim_counts_from_the_last) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(1)}, shape);

    const auto y = local_map(times, like_input(0), {{Shard(-1)}, std::nullopt})(x, 2.0);

    EXPECT_EQ(wrong_iota(y, 2), "");
  }
}

Matrix sum(const Matrix& a, const Matrix& b) {
  const Matrix result("sum", a.extent(0), a.extent(1));
  Kokkos::deep_copy(result, a);
  const auto added = on_host(b);
  change_on_host(result, [&](const auto& host) {
    for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] += added.data()[i];
  });
  return result;
}

TEST(LocalMapInputs, tensors_on_two_meshes_do_not_mix) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}, {8}})) {
    std::vector<int> backwards(mesh.layout().ranks().rbegin(), mesh.layout().ranks().rend());
    const auto other = DeviceMesh::from_ranks(MPI_COMM_WORLD, backwards, mesh.shape());
    const auto a = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto b = iota<Matrix>(other, {Shard(0)}, shape);
    const auto f = local_map(sum, like_input(0));

    const auto message = message_of<MeshMismatch>([&] { f(a, b); });
    const auto c = f(a, a);

    EXPECT_THAT(message, HasSubstr("local_map: expected all DTensors on mesh ("));
    EXPECT_THAT(message, HasSubstr("got argument 1 on mesh ("));
    EXPECT_EQ(wrong_iota(c, 2), "");
  }
}

TEST(LocalMapInputs, device_mesh_has_to_be_that_of_the_tensors) {
  for (const auto& mesh : meshes_of({{2}, {4}, {8}})) {
    const auto other =
        DeviceMesh::from_ranks(MPI_COMM_WORLD, mesh.layout().ranks(), {mesh.size() / 2, 2});
    const auto same = DeviceMesh::from_ranks(MPI_COMM_WORLD, mesh.layout().ranks(), mesh.shape());
    const auto a = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto f = local_map(sum, like_input(0), {}, {.device_mesh = other});
    const auto g = local_map(sum, like_input(0), {}, {.device_mesh = same});

    const auto of_option = message_of<MeshMismatch>([&] { f(a, a); });
    const auto of_first =
        message_of<MeshMismatch>([&] { local_map(other, sum, like_input(0))(a, a); });
    const auto of_both = message_of<MeshMismatch>(
        [&] { local_map(mesh, sum, like_input(0), {}, {.device_mesh = other}); });
    const auto c = g(a, a);

    EXPECT_THAT(of_option, HasSubstr("local_map: expected all DTensors on mesh ("));
    EXPECT_THAT(of_first, HasSubstr("local_map: expected all DTensors on mesh ("));
    EXPECT_THAT(of_both, HasSubstr("local_map: expected options.device_mesh to be the mesh"));
    EXPECT_EQ(wrong_iota(c, 2), "");
  }
}

TEST(LocalMapInputs, keep_takes_a_tensor_as_it_is) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(1)}, shape);
    const double* data = nullptr;
    const auto look = [&](const Matrix& view, double) { data = view.data(); };

    Traffic traffic;
    local_map(look, none, {keep, std::nullopt}, {.redistribute_inputs = true})(x, 0.0);

    EXPECT_EQ(data, is_on(mesh) ? x.to_local().data() : nullptr);
    EXPECT_EQ(traffic.exchanges(), 0);
  }
}

TEST(LocalMapInputs, without_placements_nothing_is_checked) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(1)}, shape);

    const auto y = local_map(times, like_input(0))(x, 2.0);

    EXPECT_EQ(wrong_iota(y, 2), "");
  }
}

TEST(LocalMapInputs, plain_views_pass_unchecked) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Replicate()}, shape);
    const auto plain = iota_view<Matrix>(shape);
    const auto f = local_map(sum, like_input(0), {{Replicate()}, std::nullopt});
    const auto g = local_map(sum, like_input(0), {{Replicate()}, {Shard(0)}});

    const auto of_f = f(x, plain);
    const auto of_g = g(x, plain);

    EXPECT_EQ(wrong_iota(of_f, 2), "");
    EXPECT_EQ(wrong_iota(of_g, 2), "");
  }
}

TEST(LocalMapInputs, tuple_of_tensors_is_flattened) {
  for (const auto& mesh : lines()) {
    const auto a = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto b = iota<Matrix>(mesh, {Shard(1)}, shape);
    const auto add = [](const std::tuple<Matrix, double, Matrix>& views, int factor) {
      const auto& [first, scale, second] = views;
      return times(sum(first, times(second, scale)), factor);
    };
    const auto f =
        local_map(add, like_input(2), {{Shard(1)}, std::nullopt, {Shard(1)}, std::nullopt},
                  {.redistribute_inputs = true});

    Traffic traffic;
    const auto c = f(std::tuple(a, 3.0, b), 2);

    EXPECT_EQ(wrong_iota(c, 8), "");
    EXPECT_EQ(traffic.exchanges(), is_on(mesh) && mesh.size() > 1 ? 1 : 0);
  }
}

TEST(LocalMapInputs, pair_of_a_number_and_a_tensor_is_flattened) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto scale = [](const std::pair<double, Matrix>& pair) {
      return times(pair.second, pair.first);
    };

    const auto y = local_map(scale, like_input(1), {std::nullopt, {Shard(0)}})(std::pair(2.0, x));

    EXPECT_EQ(wrong_iota(y, 2), "");
  }
}

TEST(LocalMapInputs, array_of_tensors_is_flattened) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto add = [](const std::array<Matrix, 3>& views) {
      return sum(views[0], sum(views[1], views[2]));
    };
    const InPlacements in{{Shard(0)}, keep, {Shard(0)}};

    const auto y = local_map(add, like_input(2), in)(std::array{x, x, x});

    EXPECT_EQ(wrong_iota(y, 3), "");
  }
}

TEST(LocalMapInputs, vector_of_tensors_is_flattened) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto y = iota<Matrix>(mesh, {Replicate()}, shape);
    const auto add = [](std::vector<Matrix> views, double factor) {
      return times(sum(views.at(0), views.at(1)), factor);
    };
    const auto f = local_map(add, like_input(0), {{Shard(0)}, {Shard(0)}, std::nullopt},
                             {.redistribute_inputs = true});

    Traffic traffic;
    const auto z = f(std::vector{x, y}, 2.0);

    EXPECT_EQ(wrong_iota(z, 4), "");
    EXPECT_EQ(traffic.exchanges(), 0);
  }
}

TEST(LocalMapInputs, empty_vector_of_tensors_counts_as_no_argument) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto first = [](const std::vector<Matrix>&, const Matrix& view) { return view; };

    const auto y = local_map(first, like_input(0), {{Shard(0)}})(std::vector<DTensor<Matrix>>(), x);

    EXPECT_EQ(wrong_iota(y), "");
  }
}

/// Adds up the tensors of a tree, each times the number beside it.
Matrix weighted_sum(const std::vector<std::tuple<Matrix, double>>& terms) {
  Matrix result = times(std::get<0>(terms.at(0)), std::get<1>(terms.at(0)));
  for (std::size_t i = 1; i < terms.size(); ++i)
    result = sum(result, times(std::get<0>(terms[i]), std::get<1>(terms[i])));
  return result;
}

TEST(LocalMapInputs, vector_of_tuples_of_tensors_is_flattened) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const std::vector<std::tuple<DTensor<Matrix>, double>> terms{{x, 2.0}, {x, 3.0}, {x, 4.0}};
    const InPlacements in{{Shard(0)}, std::nullopt, keep, std::nullopt, {Shard(0)}, std::nullopt};

    Traffic traffic;
    const auto y = local_map(weighted_sum, like_input(4), in)(terms);

    EXPECT_EQ(wrong_iota(y, 9), "");
    EXPECT_EQ(traffic.exchanges(), 0);
  }
}

TEST(LocalMapInputs, tensors_deep_in_a_tree_are_redistributed) {
  for (const auto& mesh : lines()) {
    const auto rows = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto columns = iota<Matrix>(mesh, {Shard(1)}, shape);
    const std::vector<std::tuple<DTensor<Matrix>, double>> terms{{rows, 2.0}, {columns, 3.0}};
    const InPlacements in{{Shard(0)}, std::nullopt, {Shard(0)}, std::nullopt};
    const auto f = local_map(weighted_sum, like_input(2), in, {.redistribute_inputs = true});
    const auto g = local_map(weighted_sum, like_input(2), in);

    Traffic traffic;
    const auto y = f(terms);
    const int exchanges = traffic.exchanges();
    const auto message = message_of<PlacementMismatch>([&] { g(terms); });

    EXPECT_EQ(wrong_iota(y, 5), "");
    EXPECT_EQ(exchanges, is_on(mesh) && mesh.size() > 1 ? 1 : 0);
    EXPECT_THAT(message, HasSubstr("local_map: expected argument 2"));
  }
}

TEST(LocalMapInputs, leaves_of_a_tree_are_counted_depth_first) {
  using Tree = std::pair<std::array<DTensor<Matrix>, 2>, std::vector<DTensor<Matrix>>>;
  using Local = std::pair<std::array<Matrix, 2>, std::vector<Matrix>>;
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto y = iota<Matrix>(mesh, {Replicate()}, shape);
    const auto f = [](const Local& tree, double factor) {
      const auto& [pair, list] = tree;
      return times(sum(sum(pair[0], pair[1]), list.at(0)), factor);
    };
    const InPlacements in{{Shard(0)}, {Shard(0)}, {Shard(0)}, std::nullopt};
    const Tree tree{{x, y}, {x}};

    const auto z = local_map(f, like_input(1), in, {.redistribute_inputs = true})(tree, 2.0);

    EXPECT_EQ(wrong_iota(z, 6), "");
  }
}

TEST(LocalMapInputs, wrong_number_of_placements_for_a_tree_is_invalid) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const std::vector<std::tuple<DTensor<Matrix>, double>> terms{{x, 2.0}, {x, 3.0}};
    const auto of_one = local_map(weighted_sum, like_input(0), {{Shard(0)}});
    const auto of_tuples = local_map(weighted_sum, like_input(0), {{Shard(0)}, {Shard(0)}});
    const InPlacements swapped{std::nullopt, {Shard(0)}, std::nullopt, {Shard(0)}};

    const auto one = message_of<InvalidArgument>([&] { of_one(terms); });
    const auto two = message_of<InvalidArgument>([&] { of_tuples(terms); });
    const auto wrong = message_of<InvalidArgument>(
        [&] { local_map(weighted_sum, like_input(0), swapped)(terms); });

    const auto text = "local_map: expected 4 in_placements, one per flattened argument, got ";
    EXPECT_THAT(one, HasSubstr(text + std::string("1")));
    EXPECT_THAT(two, HasSubstr(text + std::string("2")));
    EXPECT_THAT(wrong, HasSubstr("expected placements or keep for argument 0, a DTensor"));
  }
}

TEST(LocalMapInputs, empty_vectors_in_a_tree_count_as_no_argument) {
  using Lists = std::array<std::vector<DTensor<Matrix>>, 3>;
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto only = [](const std::array<std::vector<Matrix>, 3>& lists) {
      EXPECT_TRUE(lists[0].empty() && lists[2].empty());
      return lists[1].at(0);
    };

    const auto y = local_map(only, like_input(0), {{Shard(0)}})(Lists{{{}, {x}, {}}});

    EXPECT_EQ(wrong_iota(y), "");
  }
}

TEST(LocalMapInputs, containers_nested_alone_keep_their_types) {
  using Alone = std::tuple<std::pair<std::vector<std::array<std::tuple<DTensor<Matrix>>, 1>>, int>>;
  using Local = std::tuple<std::pair<std::vector<std::array<std::tuple<Matrix>, 1>>, int>>;
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto inner = [](const auto& tree) {
      static_assert(std::is_same_v<decltype(tree), const Local&>);
      const auto& [list, factor] = std::get<0>(tree);
      return times(std::get<0>(list.at(0)[0]), factor);
    };

    const auto y =
        local_map(inner, like_input(0), {{Shard(0)}, std::nullopt})(Alone{{{{std::tuple{x}}}, 3}});

    EXPECT_EQ(wrong_iota(y, 3), "");
  }
}

TEST(LocalMapInputs, tuple_of_references_is_flattened) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const double factor = 2;
    const auto scale = [](const std::tuple<Matrix, double>& views) {
      return times(std::get<0>(views), std::get<1>(views));
    };

    const auto y = local_map(scale, like_input(0), {{Shard(0)}, std::nullopt})(std::tie(x, factor));

    EXPECT_EQ(wrong_iota(y, 2), "");
  }
}

TEST(LocalMapInputs, views_deep_in_a_tree_pass_unchecked) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Replicate()}, shape);
    const std::vector<std::pair<Matrix, int>> plain{{iota_view<Matrix>(shape), 2}};
    const auto add = [](const std::vector<std::pair<Matrix, int>>& views, const Matrix& view) {
      return sum(times(views.at(0).first, views[0].second), view);
    };

    const auto y =
        local_map(add, like_input(2), {{Shard(0)}, std::nullopt, {Replicate()}})(plain, x);

    EXPECT_EQ(wrong_iota(y, 3), "");
  }
}

TEST(LocalMapInputs, container_without_tensors_in_a_tree_is_one_argument) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto scale = [](const std::pair<Matrix, std::vector<double>>& pair) {
      return times(pair.first, pair.second.at(0) * pair.second.at(1));
    };

    const auto y = local_map(scale, like_input(0),
                             {{Shard(0)}, std::nullopt})(std::pair(x, std::vector{2.0, 3.0}));

    EXPECT_EQ(wrong_iota(y, 6), "");
  }
}

TEST(LocalMapInputs, container_without_tensors_is_one_argument) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto scale = [](const std::pair<int, int>& by, const std::vector<double>& factors,
                          const Matrix& view) { return times(view, by.second * factors.at(1)); };
    const auto f = local_map(scale, like_input(2), {std::nullopt, std::nullopt, {Shard(0)}});

    const auto y = f(std::pair(1, 2), std::vector{0.0, 3.0}, x);

    EXPECT_EQ(wrong_iota(y, 6), "");
  }
}

TEST(LocalMapInputs, other_arguments_are_passed_by_reference_and_moved) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    int calls = 0;
    const auto count = [](const Matrix&, int& counter, std::unique_ptr<int> step) {
      counter += *step;
    };

    local_map(count, none)(x, calls, std::make_unique<int>(3));

    EXPECT_EQ(calls, is_on(mesh) ? 3 : 0);
  }
}

/// Rows of a tensor cut where no chunk rule would: all but one on the last rank.
DTensor<Matrix> uneven(const DeviceMesh& mesh, std::int64_t last, std::int64_t other) {
  const auto rows = is_on(mesh) ? (mesh.rank() == mesh.size() - 1 ? last : other) : 0;
  const auto begin = is_on(mesh) ? other * mesh.rank() : 0;
  const Extents global{last + other * (mesh.size() - 1), 4};
  const Matrix local("uneven", static_cast<std::size_t>(rows), 4);
  fill_iota(local, {begin, 0}, global);
  return from_local(local, mesh, {Shard(0)});
}

TEST(LocalMapInputs, split_alike_but_cut_at_different_places_are_a_mismatch) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}, {8}})) {
    const auto a = uneven(mesh, 4, 1);
    const auto b = iota<Matrix>(mesh, {Shard(0)}, {3 + mesh.size(), 4});
    const auto f = local_map(sum, like_input(0));

    const auto message = message_of<PlacementMismatch>([&] { f(a, b); });
    const auto c = f(a, redistribute(b, a.spec()));

    if (!is_on(mesh)) continue;
    EXPECT_THAT(message, HasSubstr("local_map: expected arguments 0 and 1 cut at the same places "
                                   "in tensor dim 0"));
    EXPECT_EQ(wrong_iota(c, 2), "");
  }
}

TEST(LocalMapInputs, uneven_pieces_keep_their_boundaries) {
  for (const auto& mesh : lines()) {
    const auto x = uneven(mesh, 7, 1);

    Traffic traffic;
    const auto like = local_map(times, like_input(0), {{Shard(0)}, std::nullopt})(x, 2.0);
    const int metadata = traffic.metadata();
    const auto inferred = local_map(times, {Shard(0)}, {{Shard(0)}, std::nullopt})(x, 2.0);

    EXPECT_EQ(metadata, 0);
    EXPECT_EQ(traffic.exchanges(), 0);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(like.spec(), x.spec());
    EXPECT_EQ(inferred.spec(), x.spec());
    EXPECT_EQ(wrong_iota(inferred, 2), "");
  }
}

TEST(LocalMapInputs, different_extents_may_be_cut_differently) {
  for (const auto& mesh : lines()) {
    const auto a = uneven(mesh, 4, 1);
    const auto b = iota<Matrix>(mesh, {Shard(0)}, {9, 2});
    const auto first = [](const Matrix& x, const Matrix&) { return x; };

    const auto c = local_map(first, like_input(0))(a, b);

    EXPECT_EQ(wrong_iota(c), "");
  }
}

template <class V>
void expect_func_to_see_its_own_type(const DeviceMesh& mesh) {
  const Matrix memory = iota_view<Matrix>(shape);
  const auto x = from_local(V(memory), mesh, {Replicate()});
  std::string wrong;
  const auto look = [&](auto view) {
    static_assert(std::is_same_v<decltype(view), V>);
    const auto columns = chunk({0, 4}, mesh.size(), mesh.rank());
    wrong = wrong_element(view, {{0, columns.is_empty() ? 4 : columns.begin}, {5, columns.size()}},
                          GlobalIndex(shape));
  };

  Traffic traffic;
  local_map(look, none, {{Shard(1)}}, {.redistribute_inputs = true})(x);

  EXPECT_EQ(wrong, "");
  EXPECT_EQ(traffic.exchanges(), 0);
}

TEST(LocalMapInputs, function_sees_the_very_view_type_also_after_redistribution) {
  using Const = Kokkos::View<const double**, Kokkos::LayoutRight, TestSpace>;
  using Unmanaged = Kokkos::View<double**, Kokkos::LayoutRight, TestSpace,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Strided = Kokkos::View<double**, Kokkos::LayoutStride, TestSpace>;
  for (const auto& mesh : lines()) {
    expect_func_to_see_its_own_type<Matrix>(mesh);
    expect_func_to_see_its_own_type<Const>(mesh);
    expect_func_to_see_its_own_type<Unmanaged>(mesh);
    expect_func_to_see_its_own_type<Strided>(mesh);
  }
}

TEST(LocalMapInputs, writing_into_a_redistributed_input_is_lost) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto clear = [](const Matrix& view) { Kokkos::deep_copy(view, -1.0); };
    const auto f = local_map(clear, none, {{Replicate()}}, {.redistribute_inputs = true});

    f(x);

    EXPECT_EQ(mesh.size() == 1 ? "" : wrong_iota(x), "");
  }
}

TEST(LocalMapInputs, two_mesh_dims_reordered_split_is_a_redistribution) {
  for (const auto& mesh : meshes_of({{2, 2}, {4, 2}})) {
    const auto x = iota<Matrix>(mesh, {Shard(0), Shard(0)}, {9, 4});
    const Placements reordered({Shard(0), Shard(0)}, {1, 0});
    const auto f = local_map(times, like_input(0), {reordered, std::nullopt});
    const auto g =
        local_map(times, like_input(0), {reordered, std::nullopt}, {.redistribute_inputs = true});

    const auto message = message_of<PlacementMismatch>([&] { f(x, 2.0); });
    Traffic traffic;
    const auto y = g(x, 2.0);

    EXPECT_THAT(message, HasSubstr("as S(0)[1], S(0)[0], got S(0), S(0)"));
    EXPECT_EQ(wrong_iota(y, 2), "");
    EXPECT_EQ(traffic.exchanges(), is_on(mesh) ? 1 : 0);
  }
}

TEST(LocalMapInputs, zero_dimensional_tensor_is_an_input) {
  using Scalar = Kokkos::View<double, TestSpace>;
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto factor = full<Scalar>(mesh, {Replicate()}, {}, 3.0);
    const auto scale = [](const Matrix& view, const Scalar& by) {
      return times(view, on_host(by)());
    };

    const auto y = local_map(scale, like_input(0), {{Shard(0)}, {Replicate()}})(x, factor);

    EXPECT_EQ(wrong_iota(y, 3), "");
  }
}

TEST(LocalMapInputs, ranks_off_the_mesh_do_not_run_the_function) {
  for (const auto& mesh : lines()) {
    bool has_run = false;
    const auto run = [&](const Matrix& view) {
      has_run = true;
      return view;
    };
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);

    const auto y = local_map(run, {Shard(0)})(x);

    EXPECT_EQ(has_run, is_on(mesh));
    EXPECT_EQ(y.device_mesh(), mesh);
    EXPECT_EQ(wrong_iota(y), "");
  }
}

}  // namespace
}  // namespace tessera::test
