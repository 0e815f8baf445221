// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Boxes that ranks ask for: examples, halos, errors, what travels.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/kokkos_events.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

/// Returns "" if the View holds the global indices of `box`.
template <class V>
std::string wrong_box(const V& view, const Box& box, const Extents& shape) {
  return wrong_element(view, box, GlobalIndex(shape));
}

/// The box of each rank in W10.
Box box_of_w10(int rank) {
  const std::vector<Box> boxes{{{1, 2}, {5, 3}}, {}, {{0, 0}, {5, 5}}};
  return boxes[static_cast<std::size_t>(rank)];
}

TEST(Fetch, w10_every_rank_gets_the_box_it_asks_for) {
  const auto mesh = mesh_of({3});
  if (mesh.is_null() || !is_on(mesh)) GTEST_SKIP() << "needs 3 ranks";
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});
  const auto box = box_of_w10(mesh.rank());

  const Traffic traffic;
  const auto patch = fetch(x, box);

  EXPECT_EQ(traffic.exchanges(), 1);
  if (mesh.rank() == 1)
    EXPECT_EQ(patch.size(), 0U);
  else
    EXPECT_EQ(wrong_box(patch, box, x.shape()), "");
}

TEST(Fetch, w10_ones_are_added_where_boxes_are) {
  const auto mesh = mesh_of({3});
  if (mesh.is_null() || !is_on(mesh)) GTEST_SKIP() << "needs 3 ranks";
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});
  const auto box = box_of_w10(mesh.rank());
  const auto ones = mesh.rank() == 1 ? Matrix()
                                     : Matrix("ones", static_cast<std::size_t>(box.shape[0]),
                                              static_cast<std::size_t>(box.shape[1]));
  Kokkos::deep_copy(ones, 1.0);

  const Traffic traffic;
  accumulate(x, box, ones);

  EXPECT_EQ(traffic.exchanges(), 1);
  const GlobalIndex before(x.shape());
  EXPECT_EQ(wrong_piece(x,
                        [&](const Extents& index) {
                          const auto row = index[0];
                          const bool is_middle = index[1] >= 2;
                          const int added = (row >= 1 && is_middle ? 1 : 0) + (row <= 4 ? 1 : 0);
                          return before(index) + added;
                        }),
            "");
}

TEST(Fetch, numbers_without_dims_are_fetched_and_added_to) {
  const auto mesh = mesh_of({world_size()});
  using Scalar = Kokkos::View<double, TestSpace>;
  const auto x = full<Scalar>(mesh, Replicate(), {}, 5.0);

  const auto fetched = fetch(x, {});
  accumulate(x, {}, fetched);

  EXPECT_EQ(on_host(fetched)(), 5.0);
  EXPECT_EQ(on_host(x.to_local())(), 5.0 + 5.0 * world_size());
}

/// A tensor's rows with ghost rows around them, periodic.
class Halo {
 public:
  static constexpr std::int64_t width = 2;

  Halo(const DeviceMesh& mesh, const Extents& shape)
      : spec_(mesh.layout(), Placements{Balanced(0)}, shape),
        offset_(spec_.global_offset(mesh.rank())),
        rows_(spec_.local_shape(mesh.rank())[0]),
        padded_("padded", static_cast<std::size_t>(rows_ + 2 * width),
                static_cast<std::size_t>(shape[1])) {
    const auto first = static_cast<std::size_t>(width);
    const auto own = Kokkos::subview(
        padded_, std::pair(first, first + static_cast<std::size_t>(rows_)), Kokkos::ALL);
    tensor_ = from_local(Strided(own), mesh, spec_);
    fill_iota(tensor_.to_local(), offset_, shape);
  }

  using Strided = Kokkos::View<double**, Kokkos::LayoutStride, TestSpace>;
  const DTensor<Strided>& tensor() const { return tensor_; }
  const Matrix& padded() const { return padded_; }
  Box box() const {
    if (rows_ == 0) return {{0, 0}, {0, spec_.shape()[1]}};
    return {{offset_[0] - width, 0}, {rows_ + 2 * width, spec_.shape()[1]}};
  }
  std::string wrong() const {
    if (rows_ == 0) return "";
    const auto shape = spec_.shape();
    return wrong_element(padded_, box(), [&](const Extents& index) {
      const auto row = (index[0] % shape[0] + shape[0]) % shape[0];
      return GlobalIndex(shape)(Extents{row, index[1]});
    });
  }

 private:
  DTensorSpec spec_;
  Extents offset_;
  std::int64_t rows_;
  Matrix padded_;
  DTensor<Strided> tensor_;
};

TEST(Fetch, halos_of_padded_arrays_leave_own_elements_where_they_are) {
  const auto mesh = mesh_of({world_size()});
  for (const std::int64_t rows : {1, 2, 3, 7, 12}) {
    const Halo halo(mesh, {rows, 4});
    const auto update = make_fetch(halo.tensor(), halo.box(), {.periodic = {0}});
    const auto patch = halo.box().is_empty() ? Matrix("none", 0, 4) : halo.padded();
    update.fetch(halo.tensor(), patch);
    EXPECT_EQ(halo.wrong(), "") << rows;
    update.fetch_async(halo.tensor(), patch).wait();
    EXPECT_EQ(halo.wrong(), "") << rows;
  }
}

TEST(Fetch, only_what_others_own_travels) {
  const auto mesh = mesh_of({2});
  if (mesh.is_null() || !is_on(mesh)) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(mesh, Shard(0), {8, 4});
  const Box box{{mesh.rank() == 0 ? 2 : 3, 0}, {3, 4}};

  const Traffic traffic;
  const auto patch = fetch(x, box);

  EXPECT_EQ(traffic.bytes_received(), 4 * 8);
  EXPECT_EQ(wrong_box(patch, box, x.shape()), "");
}

TEST(Fetch, nothing_travels_where_ranks_ask_for_what_is_theirs) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {3 * world_size(), 4});
  const Box box{x.global_offset(), x.local_shape()};

  const Traffic traffic;
  const auto patch = fetch(x, box);

  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(wrong_box(patch, box, x.shape()), "");
}

TEST(Fetch, a_second_call_allocates_nothing) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Balanced(0), {40, 30});
  const Box box{{world_rank(), 3}, {20, 20}};
  const auto fetcher = make_fetch(x, box);
  const Matrix patch("patch", 20, 20);
  fetcher.fetch(x, patch);
  fetcher.accumulate(x, patch);

  const RecordedEvents seen;
  fetcher.fetch(x, patch);
  fetcher.accumulate(x, patch);

  EXPECT_TRUE(seen->allocations.empty());
}

TEST(Fetch, calls_in_the_background_give_the_same) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Cyclic(0, 2), {20, 5});
  const Box box{{world_rank(), 1}, {7, 3}};
  const Kokkos::DefaultExecutionSpace exec;

  EXPECT_EQ(wrong_box(fetch_async(x, box).wait(), box, x.shape()), "");
  auto pending = fetch_async(exec, x, box);
  while (!pending.test()) {
  }
  const auto patch = pending.wait();
  exec.fence();
  EXPECT_EQ(wrong_box(patch, box, x.shape()), "");

  const auto once = clone(x);
  const auto again = clone(x);
  accumulate(once, box, patch);
  const auto result = accumulate_async(again, box, patch).wait();
  const auto expected = on_host(once.to_local());
  EXPECT_EQ(wrong_element(result.to_local(), Box{{0, 0}, detail::extents_of(expected)},
                          [&](const Extents& i) { return expected(i[0], i[1]); }),
            "");
}

TEST(Fetch, several_accumulations_of_one_fetcher_may_be_under_way) {
  const auto mesh = mesh_of({world_size()});
  const auto x = zeros<Matrix>(mesh, Shard(0), {3 * world_size(), 4});
  const Box all_rows{{0, 0}, x.shape()};
  const auto fetcher = make_fetch(x, all_rows);
  std::vector<DTensor<Matrix>> sums;
  std::vector<Pending<DTensor<Matrix>>> calls;
  for (int i = 0; i < 5; ++i) {
    sums.push_back(zeros<Matrix>(mesh, Shard(0), x.shape()));
    const Matrix patch("patch", static_cast<std::size_t>(x.shape()[0]), 4);
    Kokkos::deep_copy(patch, i + 1);
    calls.push_back(fetcher.accumulate_async(sums.back(), patch));
  }
  for (auto& call : calls) call.wait();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(wrong_piece(sums[static_cast<std::size_t>(i)],
                          [&](const Extents&) { return (i + 1.0) * world_size(); }),
              "");
}

TEST(Fetch, wrong_boxes_are_the_same_error_on_every_rank) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});
  const int last = world_size() - 1;
  const Box right{{0, 0}, {1, 1}};
  const auto on_last = [&](const Box& box) { return world_rank() == last ? box : right; };
  const auto name = "mesh rank " + std::to_string(last);

  EXPECT_EQ(invalid_argument_of([&] {
              fetch(x, on_last({{2, 0}, {5, 5}}));
            }),
            "fetch: expected a box inside shape (6, 5), got [2:7, 0:5] on " + name +
                "; name the dims along which indices wrap around in FetchOptions::periodic");
  EXPECT_EQ(invalid_argument_of([&] {
              fetch(x, on_last({{2}, {1}}));
            }),
            "fetch: expected a box of a 2-d tensor, got offset (2) and shape (1) on " + name);
  EXPECT_EQ(
      invalid_argument_of([&] {
        fetch(x, on_last({{0, 0}, {-1, 1}}));
      }),
      "fetch: expected a box of a 2-d tensor, got offset (0, 0) and shape (-1, 1) on " + name);
  EXPECT_EQ(invalid_argument_of([&] { fetch(x, right, {.periodic = {2}}); }).substr(0, 6),
            "fetch:");
  EXPECT_EQ(wrong_box(fetch(x, right), right, x.shape()), "");
}

TEST(Fetch, what_does_not_fit_is_an_error) {
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});
  const auto y = iota<Matrix>(mesh, Shard(1), {6, 5});
  const Box box{{0, 0}, {2, 3}};
  const auto fetcher = make_fetch(x, box);
  const Matrix patch("patch", 2, 3);
  const Matrix other("other", 3, 2);
  const auto partial = from_local(patch, mesh, Partial());

  EXPECT_EQ(invalid_argument_of([&] { fetcher.fetch(y, patch); }).substr(0, 48),
            "Fetcher::fetch: expected a tensor of float64 (6,");
  EXPECT_EQ(invalid_argument_of([&] { fetcher.fetch(x, other); }),
            "Fetcher::fetch: expected a patch of shape (2, 3), that of the box, got (3, 2)");
  EXPECT_EQ(invalid_argument_of([&] { accumulate(x, box, patch, ReduceOp::avg); }),
            "accumulate: expected an op that combines two elements of float64, got avg");
  EXPECT_NE(invalid_argument_of([&] { fetch(partial, box); }).find("reduce it by reduce_partial()"),
            std::string::npos);
  fetcher.fetch(x, patch);
  EXPECT_EQ(wrong_box(patch, box, x.shape()), "");
}

TEST(Fetch, calls_that_differ_between_ranks_are_an_error) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto mesh = mesh_of({world_size()});
  const auto x = iota<Matrix>(mesh, Shard(0), {6, 5});
  const Box box{{0, 0}, {2, 3}};
  const Matrix patch("patch", 2, 3);

  const auto text = invalid_argument_of(
      [&] { accumulate(x, box, patch, world_rank() == 0 ? ReduceOp::max : ReduceOp::sum); });

  EXPECT_NE(text.find("accumulate"), std::string::npos) << text;
  EXPECT_EQ(wrong_iota(x), "");
}

}  // namespace
