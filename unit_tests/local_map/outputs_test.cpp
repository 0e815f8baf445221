// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What local_map makes of what its function returns.
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;
using Scalar = Kokkos::View<double, TestSpace>;

std::vector<DeviceMesh> lines() {
  return meshes_of({{1}, {2}, {3}, {4}, {8}});
}

const Extents shape{5, 4};

Matrix doubled(const Matrix& x) {
  const Matrix result("doubled", x.extent(0), x.extent(1));
  Kokkos::deep_copy(result, x);
  change_on_host(result, [](const auto& host) {
    for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] *= 2;
  });
  return result;
}

Matrix matrix(std::int64_t rows, std::int64_t columns) {
  return Matrix("matrix", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

Scalar scalar(double value) {
  const Scalar result("scalar");
  Kokkos::deep_copy(result, value);
  return result;
}

/// Mean of the elements first … last of x.
Scalar masked_mean(const Vector& x, std::size_t first, std::size_t last) {
  const auto host = on_host(x);
  double sum = 0;
  for (std::size_t i = first; i <= last; ++i) sum += host(i);
  return scalar(sum / static_cast<double>(last - first + 1));
}

/// begin + mesh rank, …, on each rank.
DTensor<Vector> shifted_iota(const DeviceMesh& mesh, std::size_t local_extent) {
  const Vector local("local", local_extent);
  change_on_host(local, [&](const auto& host) {
    for (std::size_t i = 0; i < local_extent; ++i) host(i) = static_cast<double>(i) + mesh.rank();
  });
  return from_local(local, mesh, {Shard(0)});
}

// The values are those of Paddle's example of local_map.
TEST(LocalMapOutputs, masked_means_of_ten_elements_are_partial_sums) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null()) return;
  const auto x = shifted_iota(mesh, 10);
  const auto mean = [&](const Vector& view) {
    return mesh.rank() == 0 ? masked_mean(view, 1, 2) : masked_mean(view, 4, 6);
  };

  const auto partial = local_map(mean, {Partial()}, {{Shard(0)}})(x);
  const auto reduced = item(reduce_partial(partial));

  if (!is_on(mesh)) return;
  EXPECT_EQ(partial.placements(), Placements{Partial()});
  EXPECT_EQ(on_host(partial.to_local())(), mesh.rank() == 0 ? 1.5 : 6.0);
  EXPECT_EQ(reduced, 7.5);
}

// The values are those of Paddle's test of local_map.
TEST(LocalMapOutputs, masked_means_of_four_elements_are_partial_sums) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null()) return;
  const auto x = shifted_iota(mesh, 4);
  const auto mean = [&](const Vector& view) {
    return mesh.rank() == 0 ? masked_mean(view, 0, 2) : masked_mean(view, 1, 3);
  };

  const auto partial = local_map(mean, {Partial()}, {{Shard(0)}})(x);
  const auto reduced = item(reduce_partial(partial));

  if (!is_on(mesh)) return;
  EXPECT_EQ(on_host(partial.to_local())(), mesh.rank() == 0 ? 1.0 : 3.0);
  EXPECT_EQ(reduced, 4.0);
}

TEST(LocalMapOutputs, tuple_gets_one_placement_per_element) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto split = [&](const Matrix& view) {
      return std::tuple(scalar(1), 2.5, doubled(view));
    };
    const std::tuple out{Placements{Partial()}, none, Placements{Shard(0)}};

    const auto [count, number, y] = local_map(split, out, {{Shard(0)}})(x);
    const auto ranks = item(reduce_partial(count));

    static_assert(std::is_same_v<decltype(count), const DTensor<Scalar>>);
    static_assert(std::is_same_v<decltype(number), const double>);
    static_assert(std::is_same_v<decltype(y), const DTensor<Matrix>>);
    EXPECT_EQ(wrong_iota(y, 2), "");
    EXPECT_EQ(number, is_on(mesh) ? 2.5 : 0.0);
    EXPECT_EQ(ranks, is_on(mesh) ? mesh.size() : 0);
    EXPECT_TRUE(!is_on(mesh) || y.shape() == shape);
  }
}

TEST(LocalMapOutputs, pair_gets_two_placements) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto both = [](const Matrix& view) { return std::pair(view.extent(0), doubled(view)); };

    const auto result = local_map(both, std::tuple{none, like_input(0)})(x);

    EXPECT_EQ(std::get<0>(result), static_cast<std::size_t>(x.local_shape()[0]));
    EXPECT_EQ(wrong_iota(std::get<1>(result), 2), "");
  }
}

TEST(LocalMapOutputs, function_without_result_writes_in_place) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto triple = [](const Matrix& view) {
      change_on_host(view, [](const auto& host) {
        for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] *= 3;
      });
    };

    Traffic traffic;
    local_map(triple, none, {{Shard(0)}})(x);

    EXPECT_EQ(wrong_iota(x, 3), "");
    EXPECT_EQ(traffic.metadata() + traffic.exchanges(), 0);
  }
}

TEST(LocalMapOutputs, like_input_communicates_nothing) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);

    Traffic traffic;
    const auto y = local_map(doubled, like_input(0), {{Shard(0)}})(x);

    EXPECT_EQ(wrong_iota(y, 2), "");
    EXPECT_EQ(y.spec(), x.spec());
    EXPECT_EQ(traffic.metadata() + traffic.exchanges(), 0);
  }
}

TEST(LocalMapOutputs, even_is_the_local_extent_times_the_parts_and_communicates_nothing) {
  for (const auto& mesh : meshes_of({{1}, {2}, {2, 2}, {4, 2}})) {
    const Placements placements =
        mesh.ndim() == 1 ? Placements{Shard(1)} : Placements{Shard(1), Shard(1)};
    const auto make = [&] {
      const auto view = matrix(2, 3);
      fill_iota(view, {0, 3 * mesh.rank()}, {2, 3 * mesh.size()});
      return view;
    };

    Traffic traffic;
    const auto y = local_map(mesh, make, even(placements))();

    EXPECT_EQ(traffic.metadata() + traffic.exchanges(), 0);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(y.spec(), DTensorSpec(mesh.layout(), placements, {2, 3 * mesh.size()}));
    EXPECT_EQ(wrong_iota(y), "");
  }
}

TEST(LocalMapOutputs, shaped_is_as_given_and_communicates_nothing) {
  for (const auto& mesh : lines()) {
    const DTensorSpec spec(mesh.layout(), {Shard(0)}, {7, 2});
    const auto make = [&] {
      const auto local = spec.local_shape(mesh.rank());
      const auto view = matrix(local[0], local[1]);
      fill_iota(view, spec.global_offset(mesh.rank()), {7, 2});
      return view;
    };

    Traffic traffic;
    const auto y = local_map(mesh, make, shaped({Shard(0)}, {7, 2}))();

    EXPECT_EQ(traffic.metadata() + traffic.exchanges(), 0);
    EXPECT_EQ(wrong_iota(y), "");
    EXPECT_TRUE(!is_on(mesh) || y.spec() == spec) << to_string(y.spec());
  }
}

TEST(LocalMapOutputs, without_shard_the_global_shape_is_the_local_one) {
  for (const auto& mesh : meshes_of({{1}, {2}, {2, 2}, {4, 2}})) {
    const Placements placements =
        mesh.ndim() == 1 ? Placements{Partial()} : Placements{Replicate(), Partial()};
    const auto make = [&] { return iota_view<Matrix>({3, 2}); };

    Traffic traffic;
    const auto y = local_map(mesh, make, placements)();
    const int metadata = traffic.metadata();
    const auto full = full_tensor(y);

    EXPECT_EQ(metadata, 0);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(y.shape(), (Extents{3, 2}));
    EXPECT_EQ(wrong_view(full, {3, 2}, GlobalIndex({3, 2}, mesh.shape().back())), "");
  }
}

TEST(LocalMapOutputs, several_inferred_outputs_share_one_metadata_exchange) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, {9, 4});
    const auto y = iota<Matrix>(mesh, {Shard(1)}, shape);
    const auto both = [](const Matrix& a, const Matrix& b) {
      return std::tuple(doubled(a), doubled(b), doubled(a), iota_view<Vector>({a.extent_int(0)}));
    };
    const std::tuple out{Placements{Shard(0)}, Placements{Shard(1)}, like_input(0),
                         Placements{Shard(0)}};

    Traffic traffic;
    const auto [a, b, c, rows] = local_map(both, out)(x, y);

    EXPECT_EQ(traffic.metadata(), is_on(mesh) && mesh.size() > 1 ? 1 : 0);
    EXPECT_EQ(traffic.exchanges(), 0);
    EXPECT_EQ(wrong_iota(a, 2), "");
    EXPECT_EQ(wrong_iota(b, 2), "");
    EXPECT_EQ(wrong_iota(c, 2), "");
    if (!is_on(mesh)) continue;
    EXPECT_EQ(a.spec(), x.spec());
    EXPECT_EQ(b.spec(), y.spec());
    EXPECT_EQ(rows.spec(), DTensorSpec(mesh.layout(), {Shard(0)}, {9}));
  }
}

TEST(LocalMapOutputs, inferred_sizes_may_be_uneven) {
  for (const auto& mesh : lines()) {
    const auto begin = [](std::int64_t rank) { return rank * (rank + 1) / 2; };
    const auto make = [&] {
      const auto view = matrix(mesh.rank() + 1, 2);
      fill_iota(view, {begin(mesh.rank()), 0}, {begin(mesh.size()), 2});
      return view;
    };

    const auto y = local_map(mesh, make, {Shard(0)})();
    const auto full = full_tensor(y);

    if (!is_on(mesh)) continue;
    const Extents global{begin(mesh.size()), 2};
    EXPECT_EQ(y.shape(), global);
    EXPECT_EQ(y.global_offset(), (Extents{begin(mesh.rank()), 0}));
    EXPECT_EQ(wrong_view(full, global, GlobalIndex(global)), "");
  }
}

TEST(LocalMapOutputs, inferred_sizes_form_a_grid_on_two_mesh_dims) {
  const auto mesh = mesh_of({2, 3});
  if (mesh.is_null()) return;
  const std::vector<std::int64_t> rows{0, 1, 4};
  const std::vector<std::int64_t> columns{0, 2, 2, 5};
  const auto make = [&] {
    const auto i = static_cast<std::size_t>((*mesh.coordinate())[0]);
    const auto j = static_cast<std::size_t>((*mesh.coordinate())[1]);
    const auto view = matrix(rows[i + 1] - rows[i], columns[j + 1] - columns[j]);
    fill_iota(view, {rows[i], columns[j]}, {4, 5});
    return view;
  };

  const auto y = local_map(mesh, make, {Shard(0), Shard(1)})();
  const auto full = full_tensor(y);

  if (!is_on(mesh)) return;
  EXPECT_EQ(y.spec(), DTensorSpec(mesh.layout(), {Shard(0), Shard(1)}, {4, 5}, {rows, columns}));
  EXPECT_EQ(wrong_view(full, {4, 5}, GlobalIndex({4, 5})), "");
}

TEST(LocalMapOutputs, sizes_that_form_no_grid_are_invalid_on_every_rank) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}, {8}})) {
    const auto make = [&] { return matrix(2, mesh.rank() == 1 ? 3 : 2); };

    const auto message = message_of<InvalidArgument>([&] { local_map(mesh, make, {Shard(0)})(); });
    const auto y = local_map(mesh, make, {Shard(1)})();

    if (!is_on(mesh)) continue;
    EXPECT_THAT(message,
                HasSubstr("expected the same extent of tensor dim 1 on mesh ranks 0 and 1"));
    EXPECT_EQ(y.shape(), (Extents{2, 2 * mesh.size() + 1}));
  }
}

TEST(LocalMapOutputs, view_that_does_not_fit_is_invalid_on_that_rank) {
  for (const auto& mesh : meshes_of({{1}, {2}, {4}, {8}})) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, {8, 4});
    const auto make = [&](const Matrix& view) {
      return mesh.rank() == 0 ? matrix(view.extent_int(0) + 1, 4) : view;
    };
    const auto call = [&](const OutPlacement& out) {
      return message_of<InvalidArgument>([&] { local_map(make, out)(x); });
    };

    local_map(doubled, like_input(0))(x);
    full_tensor(x);
    const auto of_like = call(like_input(0));
    full_tensor(x);
    const auto of_shaped = call(shaped({Shard(0)}, {8, 4}));
    const auto y = local_map(doubled, like_input(0))(x);

    EXPECT_EQ(wrong_iota(y, 2), "");
    if (mesh.rank() == 0) {
      EXPECT_THAT(of_like, HasSubstr("local_map: expected a local View of shape ("));
      EXPECT_THAT(of_shaped, HasSubstr("local_map: expected a local View of shape ("));
    } else {
      // They need nothing of that rank; whoever comes after its mistake throws it too.
      const auto text = "local_map: expected a local View of shape (";
      EXPECT_THAT(of_like, testing::AnyOf("no error", HasSubstr(text)));
      EXPECT_THAT(of_shaped, testing::AnyOf("no error", HasSubstr(text)));
    }
  }
}

TEST(LocalMapOutputs, like_input_needs_an_argument_that_is_a_tensor) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto first = [](const Matrix& view, double) { return view; };
    const auto call = [&](int argument) {
      return message_of<InvalidArgument>([&] { local_map(first, like_input(argument))(x, 1.0); });
    };

    const auto of_number = call(1);
    const auto of_none = call(2);
    const auto of_negative = call(-1);

    const auto text = "local_map: expected like_input of a flattened argument that is a DTensor";
    EXPECT_THAT(of_number, HasSubstr(text));
    EXPECT_THAT(of_none, HasSubstr(text));
    EXPECT_THAT(of_negative, HasSubstr(text));
  }
}

TEST(LocalMapOutputs, placements_that_do_not_fit_are_invalid) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto call = [&](const OutPlacement& out) {
      return message_of<InvalidArgument>([&] { local_map(doubled, out)(x); });
    };
    const Placements two{Replicate(), Replicate()};

    EXPECT_THAT(call({Shard(0), Shard(1)}), HasSubstr("local_map: expected 1 placement for mesh"));
    EXPECT_THAT(call(two), HasSubstr("local_map: expected 1 placement for mesh"));
    EXPECT_THAT(call(even(two)), HasSubstr("local_map: expected 1 placement for mesh"));
    EXPECT_THAT(call(shaped(two, shape)), HasSubstr("local_map: expected 1 placement for mesh"));
    EXPECT_THAT(call({Shard(2)}), HasSubstr("local_map: expected Shard dims of a 2-d tensor"));
    EXPECT_THAT(call(even({Shard(2)})),
                HasSubstr("local_map: expected Shard dims of a 2-d tensor"));
    EXPECT_THAT(call(shaped({Shard(0)}, {5})), HasSubstr("local_map: expected a shape of 2 dims"));
    EXPECT_THAT(call({Partial(ReduceOp::bor)}),
                HasSubstr("local_map: expected an element type that reduces by bor, got float64"));
  }
}

TEST(LocalMapOutputs, like_input_of_a_redistributed_input_is_as_the_function_saw_it) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto f = local_map(doubled, like_input(0), {{Shard(1)}}, {.redistribute_inputs = true});

    const auto y = f(x);

    EXPECT_EQ(y.placements(), Placements{Shard(1)});
    EXPECT_EQ(wrong_iota(y, 2), "");
  }
}

TEST(LocalMapOutputs, negative_shard_dim_counts_from_the_last) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(1)}, shape);

    const auto y = local_map(doubled, {Shard(-1)})(x);

    EXPECT_EQ(y.placements(), Placements{Shard(1)});
    EXPECT_EQ(wrong_iota(y, 2), "");
  }
}

TEST(LocalMapOutputs, view_with_none_stays_a_view) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto same = [](const Matrix& view) { return view; };

    const auto alone = local_map(same, none, {{Shard(0)}})(x);
    const auto [beside, y] = local_map([](const Matrix& v) { return std::tuple(v, v); },
                                       std::tuple{none, Placements{Shard(0)}})(x);

    static_assert(std::is_same_v<decltype(alone), const Matrix>);
    static_assert(std::is_same_v<decltype(beside), const Matrix>);
    EXPECT_EQ(alone.data(), x.to_local().data());
    EXPECT_EQ(beside.data(), x.to_local().data());
    EXPECT_EQ(wrong_iota(y), "");
  }
}

TEST(LocalMapOutputs, plain_output_may_be_movable_only) {
  for (const auto& mesh : lines()) {
    const auto x = iota<Matrix>(mesh, {Shard(0)}, shape);
    const auto make = [](const Matrix& view) {
      return std::tuple(std::make_unique<int>(7), doubled(view));
    };
    const auto make_one = [](const Matrix&) { return std::make_unique<int>(8); };

    const auto [seven, y] = local_map(make, std::tuple{none, like_input(0)})(x);
    const auto eight = local_map(make_one, none)(x);

    EXPECT_EQ(seven ? *seven : 0, is_on(mesh) ? 7 : 0);
    EXPECT_EQ(eight ? *eight : 0, is_on(mesh) ? 8 : 0);
    EXPECT_EQ(wrong_iota(y, 2), "");
  }
}

TEST(LocalMapOutputs, tensor_with_a_static_extent_is_inferred) {
  using Rows = Kokkos::View<double* [3], Kokkos::LayoutRight, TestSpace>;
  for (const auto& mesh : lines()) {
    const auto make = [&] {
      const Rows view("rows", 2);
      fill_iota(view, {2 * mesh.rank(), 0}, {2 * mesh.size(), 3});
      return view;
    };

    const auto y = local_map(mesh, make, {Shard(0)})();
    const auto message =
        message_of<InvalidArgument>([&] { local_map(mesh, make, even({Shard(1)}))(); });

    EXPECT_TRUE(!is_on(mesh) || wrong_iota(y).empty()) << wrong_iota(y);
    if (!is_on(mesh)) continue;
    EXPECT_EQ(message, mesh.size() == 1 ? "no error" : message);
    EXPECT_EQ(message.find("static extent") != std::string::npos, mesh.size() > 1) << message;
  }
}

TEST(LocalMapOutputs, bool_output_of_one_rank_reaches_the_others_as_a_partial) {
  using Flag = Kokkos::View<bool, TestSpace>;
  for (const auto& mesh : lines()) {
    const auto is_last = [&] {
      const Flag flag("flag");
      Kokkos::deep_copy(flag, mesh.rank() == mesh.size() - 1);
      return flag;
    };

    const auto any = item(reduce_partial(local_map(mesh, is_last, {Partial(ReduceOp::bor)})()));
    const auto message =
        message_of<InvalidArgument>([&] { local_map(mesh, is_last, {Partial(ReduceOp::avg)})(); });

    if (!is_on(mesh)) continue;
    EXPECT_TRUE(any);
    EXPECT_THAT(message, HasSubstr("local_map: expected an element type that reduces by avg, got "
                                   "bool"));
  }
}

}  // namespace
}  // namespace tessera::test
