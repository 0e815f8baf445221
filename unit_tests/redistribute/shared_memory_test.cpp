// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Source and destination that share memory, on the same rank.
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

using Memory = Kokkos::View<double*, TestSpace>;
using Part =
    Kokkos::View<double**, Kokkos::LayoutRight, TestSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
using Strided = Kokkos::View<double**, Kokkos::LayoutStride, TestSpace>;

/// Fills the local piece of a tensor with its global numbering.
template <class V>
void fill_with_iota(const DTensor<V>& tensor) {
  const auto values = iota<Matrix>(tensor.device_mesh(), tensor.placements(), tensor.shape());
  redistribute_into(tensor, values);
}

Part part(const Memory& memory, std::size_t first, const Extents& shape) {
  return Part(memory.data() + first, static_cast<std::size_t>(shape[0]),
              static_cast<std::size_t>(shape[1]));
}

TEST(SharedMemory, of_source_and_destination_is_copied_first) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const int n = mesh.size();
    for (const std::size_t shift : {0, 1, 7}) {
      const Memory memory("memory", static_cast<std::size_t>(16 * n) + shift);
      const Extents shape{4 * n, 4 * n};
      const auto rows = from_local(part(memory, 0, {4, 4 * n}), mesh, {Shard(0)}, shape);
      const auto columns = from_local(part(memory, shift, {4 * n, 4}), mesh, {Shard(1)}, shape);

      fill_with_iota(rows);
      redistribute_into(columns, rows);
      EXPECT_EQ(wrong_iota(columns), "") << "shift " << shift;

      fill_with_iota(columns);
      const auto plan = make_plan<Part>(columns.spec(), rows.spec());
      plan.bind(mesh).execute(columns.to_local(), rows.to_local());
      EXPECT_EQ(wrong_iota(rows), "") << "shift " << shift;
    }
  }
}

TEST(SharedMemory, of_one_view_serves_every_transition_that_keeps_the_shape_of_the_shard) {
  const std::vector<Placement> placements{Replicate(), Partial(), Partial(ReduceOp::avg),
                                          Partial(ReduceOp::max)};
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    for (const Extents& shape : {Extents{3, 4}, Extents{300, 40}})
      for (const auto from : placements)
        for (const auto to : placements) {
          const auto whole = iota<Matrix>(mesh, Replicate(), shape);
          const Matrix view("view", static_cast<std::size_t>(shape[0]),
                            static_cast<std::size_t>(shape[1]));
          const auto source = from_local(view, mesh, {from}, shape);
          const auto destination = from_local(view, mesh, {to}, shape);
          redistribute_into(source, whole);

          redistribute_into(destination, source);

          EXPECT_EQ(wrong_iota(redistribute(destination)), "")
              << to_string(from) << " -> " << to_string(to) << " of " << to_string(shape);
        }
  }
}

TEST(SharedMemory, that_takes_too_large_a_copy_is_an_error_on_every_rank) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const int n = mesh.size();
    const Memory memory("memory", static_cast<std::size_t>(16 * n));
    const Memory other("other", static_cast<std::size_t>(16 * n));
    const Extents shape{4 * n, 4 * n};
    const auto rows = from_local(part(memory, 0, {4, 4 * n}), mesh, {Shard(0)}, shape);
    const bool shares = mesh.rank() == 1;
    const auto columns =
        from_local(part(shares ? memory : other, 0, {4 * n, 4}), mesh, {Shard(1)}, shape);
    const IntoOptions little{.extra_memory = 128 * n - 1};

    const auto text =
        message_of<InvalidArgument>([&] { redistribute_into(columns, rows, little); });

    EXPECT_THAT(text, HasSubstr("redistribute_into: expected a destination that shares no memory "
                                "with the source, or extra_memory of at least " +
                                std::to_string(128 * n) + " bytes"));
    fill_with_iota(rows);
    redistribute_into(columns, rows);
    EXPECT_EQ(wrong_iota(columns), "");
  }
}

TEST(SharedMemory, of_even_and_odd_columns_is_none) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const auto n = static_cast<std::size_t>(mesh.size());
    const Memory memory("memory", 8 * n);
    const auto columns = [&](std::size_t first) {
      return Strided(memory.data() + first, Kokkos::LayoutStride(2, 4 * n, 2 * n, 2));
    };
    const Extents shape{2 * mesh.size(), 2 * mesh.size()};
    const auto even = from_local(columns(0), mesh, {Shard(0)}, shape);
    const auto odd = from_local(columns(1), mesh, {Shard(0)}, shape);
    fill_with_iota(even);

    redistribute_into(odd, even, {.extra_memory = 1});

    EXPECT_EQ(wrong_iota(odd), "");
    EXPECT_EQ(wrong_iota(even), "");
  }
}

/// Is an array of 4 x 5 elements whose rows share one memory where `overlaps` is set.
template <class T>
struct FourRows {
  explicit FourRows(bool overlaps)
      : view(memory.data(), Kokkos::LayoutStride(4, overlaps ? 0 : 5, 5, 1)) {}

  Kokkos::View<T*, TestSpace> memory{"memory", 20};
  Kokkos::View<T**, Kokkos::LayoutStride, TestSpace> view;
};

const std::string separate =
    "expected a destination whose elements do not share memory, got one of shape ";

TEST(SharedMemory, of_the_elements_of_a_destination_is_an_error_on_every_rank) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const Extents shape{4 * mesh.size(), 5};
    const bool overlaps = mesh.rank() == mesh.size() - 1;
    const FourRows<double> doubles(overlaps);
    const FourRows<float> floats(overlaps);
    const auto destination = from_local(doubles.view, mesh, {Shard(0)}, shape);
    const auto numbers = from_local(floats.view, mesh, {Shard(0)}, shape);
    const auto source = iota<Matrix>(mesh, Shard(1), shape);
    const auto same = iota<Matrix>(mesh, Shard(0), shape);
    const auto plan = make_plan<Matrix, Strided>(source.spec(), destination.spec()).bind(mesh);
    const auto text = [](const auto& call) { return message_of<InvalidArgument>(call); };

    const auto moved = text([&] { redistribute_into(destination, source); });
    const auto copied = text([&] { redistribute_into(destination, same); });
    const auto scaled =
        text([&] { redistribute_into(destination, source, {.alpha = 2, .beta = 1}); });
    const auto converted = text([&] { redistribute_into(numbers, source); });
    const auto executed = text([&] { plan.execute(source.to_local(), destination.to_local()); });

    const std::string rows = separate + "(4, 5) with strides (0, 1)";
    for (const auto& message : {moved, copied, scaled, converted})
      EXPECT_THAT(message, HasSubstr("redistribute_into: " + rows));
    EXPECT_THAT(executed, HasSubstr("Redistributor::execute: " + rows));
  }
}

TEST(SharedMemory, of_overlapping_rows_is_an_error_on_every_rank) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const Memory memory("memory", 20);
    const bool overlaps = mesh.rank() == 0;
    const Strided rows(memory.data(), Kokkos::LayoutStride(4, overlaps ? 3 : 5, 5, 1));
    const auto destination = from_local(rows, mesh, {Shard(0)}, {4 * mesh.size(), 5});
    const auto source = iota<Matrix>(mesh, Shard(1), {4 * mesh.size(), 5});

    const auto text = message_of<InvalidArgument>([&] { redistribute_into(destination, source); });

    EXPECT_THAT(text, HasSubstr(separate + "(4, 5) with strides (3, 1)"));
  }
}

TEST(SharedMemory, of_the_elements_of_a_patch_is_an_error_on_every_rank) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const bool overlaps = mesh.rank() == mesh.size() - 1;
    const FourRows<double> rows(overlaps);
    const auto patch = rows.view;
    const auto tensor = iota<Matrix>(mesh, Shard(0), {4 * mesh.size(), 5});
    const auto summed = from_local(patch, mesh, {Shard(0)}, {4 * mesh.size(), 5});
    const Box box{{0, 0}, {4, 5}};
    const auto fetcher = make_fetch<Matrix, Strided>(mesh, tensor.spec(), box);
    const Box all{{0, 0}, summed.shape()};
    const auto adder = make_fetch<Strided, Matrix>(mesh, summed.spec(), all);
    const auto added = iota_view<Matrix>(all.shape);

    const auto fetched = message_of<InvalidArgument>([&] { fetcher.fetch(tensor, patch); });
    const auto started =
        message_of<InvalidArgument>([&] { fetcher.fetch_async(tensor, patch).wait(); });
    const auto accumulated = message_of<InvalidArgument>([&] { adder.accumulate(summed, added); });
    const auto at_once = message_of<InvalidArgument>([&] { accumulate(summed, all, added); });

    const std::string text = separate + "(4, 5) with strides (0, 1)";
    EXPECT_THAT(fetched, HasSubstr("Fetcher::fetch: " + text));
    EXPECT_THAT(started, HasSubstr("Fetcher::fetch_async: " + text));
    EXPECT_THAT(accumulated, HasSubstr("Fetcher::accumulate: " + text));
    EXPECT_THAT(at_once, HasSubstr("accumulate: " + text));
  }
}

TEST(SharedMemory, of_the_elements_of_a_broadcast_view_is_an_error_on_every_rank) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const FourRows<double> rows(mesh.rank() == mesh.size() - 1);

    const auto text = message_of<InvalidArgument>([&] { broadcast_into(rows.view, 0, mesh, 0); });

    EXPECT_THAT(text, HasSubstr("broadcast_into: " + separate));
  }
}

TEST(SharedMemory, of_the_elements_of_a_tensor_that_is_changed_in_place_is_an_error) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const Extents shape{4 * mesh.size(), 5};
    const FourRows<double> rows(true);
    const auto changed = from_local(rows.view, mesh, {Shard(0)}, shape);
    const auto other = iota<Matrix>(mesh, Shard(0), shape);
    const auto twice = KOKKOS_LAMBDA(double x) {
      return 2 * x;
    };

    const auto added = message_of<InvalidArgument>([&] { changed += other; });
    const auto scaled = message_of<InvalidArgument>([&] { changed *= 2; });
    const auto mapped = message_of<InvalidArgument>([&] { map_into(changed, twice, other); });
    const auto copied = message_of<InvalidArgument>([&] { deep_copy(changed, other); });
    const auto filled = message_of<InvalidArgument>([&] { deep_copy(changed, 1.0); });

    EXPECT_THAT(added, HasSubstr("operator+: " + separate));
    EXPECT_THAT(scaled, HasSubstr("operator*: " + separate));
    EXPECT_THAT(mapped, HasSubstr("map_into: " + separate));
    for (const auto& message : {copied, filled})
      EXPECT_THAT(message, HasSubstr("deep_copy: " + separate));
  }
}

TEST(SharedMemory, of_the_elements_of_a_source_is_read_as_it_is) {
  for (const auto& mesh : meshes_of({{1}, {2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const FourRows<double> rows(true);
    Kokkos::deep_copy(rows.memory, 3.0);
    const auto source = from_local(rows.view, mesh, {Shard(0)}, {4 * mesh.size(), 5});

    const auto moved = redistribute(source, {Shard(1)});
    const auto sum = source + source;

    EXPECT_TRUE(equal(sum, 2 * redistribute(moved, {Shard(0)})));
    EXPECT_EQ(item(ops::min(moved)), 3.0);
  }
}

TEST(SharedMemory, of_donated_tensors_is_an_error_on_every_rank) {
  for (const auto& mesh : meshes_of({{2}, {3}, {4}})) {
    if (!is_on(mesh)) continue;
    const Matrix both("both", 401, 30);
    const auto rows = [&](int first) {
      return from_local(
          Matrix(Kokkos::subview(both, Kokkos::make_pair(first, first + 200), Kokkos::ALL)), mesh,
          {Partial()});
    };
    const auto first = rows(0);
    const auto second = rows(mesh.rank() == 1 ? 1 : 201);
    const auto others = rows(201);
    Kokkos::deep_copy(both, 1.0);

    const auto text = message_of<InvalidArgument>([&] {
      redistribute_all(std::vector{first, second}, Replicate(), {.donate_source = true});
    });
    const auto sums =
        redistribute_all(std::vector{first, others}, Replicate(), {.donate_source = true});

    EXPECT_THAT(text, HasSubstr("redistribute_all: expected donated tensors that share no memory"));
    for (const auto& sum : sums)
      EXPECT_EQ(wrong_view(sum.to_local(), {200, 30},
                           [&](const Extents&) { return static_cast<double>(mesh.size()); }),
                "");
  }
}

}  // namespace
}  // namespace tessera::test
