// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "../support/test_array.hpp"
#include "kernels/copy_batch.hpp"
#include "kernels/pack.hpp"

namespace tessera {
namespace {

using namespace tessera::test;

constexpr std::array element_sizes = {1, 2, 3, 4, 8, 12, 16, 24, 32, 100};

ElementType opaque(int size) {
  return {ElementKind::opaque, size};
}

struct Pair {
  TestArray source;
  TestArray destination;

  Pair(std::mt19937& generator, const Extents& extents)
      : Pair(generator, extents, opaque(element_sizes[generator() % element_sizes.size()])) {}
  Pair(std::mt19937& generator, const Extents& extents, ElementType type)
      : source(generator, type, extents, random_layout(generator), generator() % 17),
        destination(generator, type, extents, random_layout(generator), generator() % 17) {
    source.randomise(generator);
    destination.randomise(generator);
  }

  detail::CopyJob job() { return {source.ref(), destination.ref()}; }

  /// Destination's memory, holes included, as it shall be.
  std::vector<std::byte> expected() {
    const auto ref = destination.ref();
    auto copy = *this;
    for_each_index(ref.extents, [&](const Extents& index) {
      std::memcpy(copy.destination.at(index), copy.source.at(index),
                  static_cast<std::size_t>(ref.type.size));
    });
    return copy.destination.memory();
  }
};

TEST(Copy, moves_every_element_and_no_other_byte_between_any_two_layouts) {
  std::mt19937 generator(1);
  for (int n = 0; n < 1500; ++n) {
    Pair pair(generator, random_extents(generator, n % 10 == 0 ? 20000 : 500));
    const auto expected = pair.expected();
    auto job = pair.job();
    job.stores = n % 2 == 0 ? detail::Stores::cached : detail::Stores::non_temporal;

    detail::copy(Execution(), job);

    ASSERT_EQ(pair.destination.memory(), expected)
        << "case " << n << ": " << to_string(pair.source.ref().extents) << " strides "
        << to_string(pair.source.ref().strides) << " to "
        << to_string(pair.destination.ref().strides) << " of " << to_string(pair.source.ref().type);
  }
}

TEST(Copy, writes_rows_of_any_length_with_non_temporal_stores) {
  std::mt19937 generator(8);
  for (const std::int64_t row : {1, 2, 7, 16, 31, 32, 33, 64, 127, 129, 512, 515, 2049}) {
    const Extents extents{3, 61, row};
    Pair pair(generator, extents, opaque(8));
    pair.source = TestArray(generator, opaque(8), extents, Layout::strided);
    pair.destination = TestArray(generator, opaque(8), extents, Layout::right, 1);
    pair.source.randomise(generator);
    const auto expected = pair.expected();

    detail::copy(Execution(),
                 {pair.source.ref(), pair.destination.ref(), detail::Stores::non_temporal});

    EXPECT_EQ(pair.destination.memory(), expected) << row;
  }
}

TEST(Copy, does_many_jobs_of_different_sizes_and_types_at_once) {
  std::mt19937 generator(2);
  for (int n = 0; n < 20; ++n) {
    std::vector<Pair> pairs;
    std::vector<std::vector<std::byte>> expected;
    for (int k = 0; k < 20; ++k) {
      pairs.emplace_back(generator, random_extents(generator, 3000));
      expected.push_back(pairs.back().expected());
    }
    std::vector<detail::CopyJob> jobs;
    for (auto& pair : pairs) jobs.push_back(pair.job());

    detail::copy(Execution(Kokkos::DefaultHostExecutionSpace()), jobs);

    for (std::size_t k = 0; k < pairs.size(); ++k)
      EXPECT_EQ(pairs[k].destination.memory(), expected[k]) << "job " << k;
  }
}

TEST(Copy, transposes_matrices_whose_extents_are_no_multiple_of_a_tile) {
  std::mt19937 generator(3);
  for (const auto& [rows, columns] :
       {std::pair{31, 97}, {32, 64}, {33, 65}, {1, 200}, {517, 3}, {300, 290}}) {
    for (const int size : element_sizes) {
      const Extents extents{rows, columns};
      Pair pair(generator, extents, opaque(size));
      pair.source = TestArray(generator, opaque(size), extents, Layout::left);
      pair.destination = TestArray(generator, opaque(size), extents, Layout::right);
      pair.source.randomise(generator);
      const auto expected = pair.expected();

      detail::copy(Execution(), pair.source.ref(), pair.destination.ref());

      EXPECT_EQ(pair.destination.memory(), expected) << rows << "x" << columns << " of " << size;
    }
  }
}

TEST(Copy, divides_one_long_run_among_the_threads) {
  std::mt19937 generator(4);
  for (const std::int64_t size : {16383, 16384, 16385, 1000003}) {
    Pair pair(generator, {size}, opaque(1));
    pair.source = TestArray(generator, opaque(1), {size}, Layout::right, 3);
    pair.destination = TestArray(generator, opaque(1), {size}, Layout::right, 5);
    pair.source.randomise(generator);
    const auto expected = pair.expected();

    detail::copy(Execution(), pair.source.ref(), pair.destination.ref());

    EXPECT_EQ(pair.destination.memory(), expected) << size;
  }
}

TEST(Copy, divides_few_long_rows_among_the_threads) {
  std::mt19937 generator(7);
  for (const auto from : {Layout::left, Layout::right, Layout::strided}) {
    const Extents extents{3, 30001};
    Pair pair(generator, extents, opaque(4));
    pair.source = TestArray(generator, opaque(4), extents, from);
    pair.destination = TestArray(generator, opaque(4), extents, Layout::strided);
    pair.source.randomise(generator);
    const auto expected = pair.expected();

    detail::copy(Execution(), pair.source.ref(), pair.destination.ref());

    EXPECT_EQ(pair.destination.memory(), expected) << static_cast<int>(from);
  }
}

TEST(Copy, repeats_an_element_whose_stride_is_zero) {
  double source = 7;
  std::vector<double> destination(12);
  const auto to = row_major(reinterpret_cast<std::byte*>(destination.data()),
                            element_type<double>(), {3, 4}, MemorySpace::host);
  auto from = to;
  from.data = reinterpret_cast<std::byte*>(&source);
  from.strides = {0, 0};

  detail::copy(Execution(), from, to);

  EXPECT_EQ(destination, std::vector<double>(12, 7));
}

TEST(Copy, keeps_the_payload_of_signalling_nans) {
  const Kokkos::View<double*, Kokkos::HostSpace> source("source", 8);
  const Kokkos::View<double*, Kokkos::HostSpace> destination("destination", 8);
  const std::uint64_t signalling = 0x7ff0000000abcdefULL;
  std::memcpy(source.data() + 5, &signalling, sizeof signalling);

  detail::copy(Execution(), array_ref(source), array_ref(destination));

  EXPECT_EQ(std::memcmp(destination.data() + 5, &signalling, sizeof signalling), 0);
}

TEST(Copy, does_nothing_without_elements_or_jobs) {
  const ArrayRef nothing = row_major(nullptr, element_type<double>(), {3, 0}, MemorySpace::host);

  detail::copy(Execution(), nothing, nothing);
  detail::copy(Execution(), std::span<const detail::CopyJob>());
}

template <class Source, class Destination>
void expect_equal_after_copy(const Source& source, const Destination& destination) {
  for (std::size_t i = 0; i < source.extent(0); ++i)
    for (std::size_t j = 0; j < source.extent(1); ++j)
      source(i, j) = static_cast<double>(100 * i + j);

  detail::copy(Execution(), array_ref(source), array_ref(destination));

  for (std::size_t i = 0; i < source.extent(0); ++i)
    for (std::size_t j = 0; j < source.extent(1); ++j)
      EXPECT_EQ(destination(i, j), static_cast<double>(100 * i + j)) << i << ", " << j;
}

TEST(Copy, takes_views_of_both_layouts_and_subviews) {
  const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 70, 41);
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> right("right", 70, 41);
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> wide("wide", 80, 50);
  const auto part = Kokkos::subview(wide, Kokkos::pair(3, 73), Kokkos::pair(5, 46));

  expect_equal_after_copy(left, right);
  expect_equal_after_copy(right, left);
  expect_equal_after_copy(left, part);
  expect_equal_after_copy(part, right);
}

template <int Bytes>
void run_batch(const detail::CopyLoop& loop) {
  detail::CopyBatch<Bytes> batch;
  batch.add(loop);
  for (std::int64_t i = 0; i < batch.items(); ++i) batch(i);
}

TEST(CopyBatch, moves_the_same_bytes_by_words_that_are_never_misaligned) {
  std::mt19937 generator(5);
  std::array<int, 17> used{};
  for (int n = 0; n < 800; ++n) {
    Pair pair(generator, random_extents(generator, 200));
    if (pair.source.ref().size() == 0) continue;
    const auto expected = pair.expected();

    const auto loop = detail::copy_loop({pair.source.ref(), pair.destination.ref()});
    const int word = detail::word_bytes(loop);
    ++used[static_cast<std::size_t>(word)];
    if (word == 1) run_batch<1>(loop);
    if (word == 2) run_batch<2>(loop);
    if (word == 4) run_batch<4>(loop);
    if (word == 8) run_batch<8>(loop);
    if (word == 16) run_batch<16>(loop);

    ASSERT_EQ(pair.destination.memory(), expected) << "case " << n << ", word " << word;
  }
  for (const std::size_t word : {1, 2, 4, 8, 16}) EXPECT_GT(used[word], 0) << word;
}

TEST(CopyBatch, finds_the_part_of_each_index) {
  std::mt19937 generator(6);
  std::vector<Pair> pairs;
  std::vector<std::vector<std::byte>> expected;
  detail::CopyBatch<1> batch;
  for (int k = 0; k < batch.capacity; ++k) {
    pairs.emplace_back(generator, Extents{3, 1 + k}, opaque(3));
    expected.push_back(pairs.back().expected());
  }
  for (auto& pair : pairs)
    batch.add(detail::copy_loop({pair.source.ref(), pair.destination.ref()}));

  for (std::int64_t i = 0; i < batch.items(); ++i) batch(i);

  for (std::size_t k = 0; k < pairs.size(); ++k)
    EXPECT_EQ(pairs[k].destination.memory(), expected[k]) << k;
}

}  // namespace
}  // namespace tessera
