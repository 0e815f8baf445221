// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// DTensorSpec without ranks: random specs beside pieces found by cutting lists of indices.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/sharding/spec.hpp>

#include "random_spec.hpp"

namespace tessera::test {
namespace {

using Indices = std::vector<std::int64_t>;

/// Cuts a list of indices into parts by a rule, and returns one of them.
Indices cut(const Indices& indices, const Placement& sharding, std::int64_t parts,
            std::int64_t index) {
  const auto size = static_cast<std::int64_t>(indices.size());
  const auto dealt = [&](std::int64_t i) {  // to which part
    if (sharding.rule() == ShardingRule::cyclic) return i / sharding.block() % parts;
    if (sharding.rule() == ShardingRule::head_tail) {
      const auto chunk = i / ((size + 2 * parts - 1) / (2 * parts));
      return std::min(chunk, 2 * parts - 1 - chunk);
    }
    if (sharding.rule() == ShardingRule::chunk) return i / ((size + parts - 1) / parts);
    std::int64_t part = 0;
    for (auto left = i; left >= size / parts + (part < size % parts ? 1 : 0); ++part)
      left -= size / parts + (part < size % parts ? 1 : 0);
    return part;
  };
  Indices result;
  for (std::int64_t i = 0; i < size; ++i)
    if (dealt(i) == index) result.push_back(indices[static_cast<std::size_t>(i)]);
  return result;
}

/// The indices of a tensor dim that a coordinate holds, found by cutting lists of indices.
Indices indices_by_cutting(const DTensorSpec& spec, int dim, const std::vector<int>& coordinate) {
  const auto d = static_cast<std::size_t>(dim);
  Indices indices;
  for (std::int64_t i = 0; i < spec.shape()[d]; ++i) indices.push_back(i);
  std::size_t part = 0;
  for (const int mesh_dim : spec.placements().split_order(dim)) {
    const auto m = static_cast<std::size_t>(mesh_dim);
    const auto parts = static_cast<std::size_t>(spec.layout().shape()[m]);
    const auto at = static_cast<std::size_t>(coordinate[m]);
    if (spec.boundaries()[d].empty())
      indices = cut(indices, spec.placements()[m], static_cast<std::int64_t>(parts),
                    static_cast<std::int64_t>(at));
    part = part * parts + at;
  }
  const auto& cuts = spec.boundaries()[d];
  if (cuts.empty()) return indices;
  return {indices.begin() + cuts[part], indices.begin() + cuts[part + 1]};
}

Indices indices_of(const Sections& sections) {
  Indices result;
  for (std::int64_t i = 0; i < sections.extent(); ++i) result.push_back(sections.global_index(i));
  return result;
}

TEST(DTensorSpec, pieces_are_those_found_by_cutting_lists) {
  Generator generator(3);
  int boxes = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto spec = random_spec(generator);
    const auto largest = spec.largest_local_shape();
    bool are_all_boxes = true;
    for (int rank = 0; rank < spec.layout().size(); ++rank) {
      const auto coordinate = spec.layout().coordinate(rank);
      const auto piece = spec.sections(coordinate);
      are_all_boxes = are_all_boxes && piece.is_box();
      EXPECT_EQ(spec.local_shape(rank), piece.shape());
      for (int d = 0; d < spec.tensor_dims(); ++d) {
        const auto& sections = piece.sections[static_cast<std::size_t>(d)];
        const auto expected = indices_by_cutting(spec, d, coordinate);
        EXPECT_EQ(indices_of(sections), expected) << to_string(spec) << " rank " << rank;
        EXPECT_LE(sections.extent(), largest[static_cast<std::size_t>(d)]);
        for (std::size_t k = 0; k < expected.size(); ++k) {
          const auto local = static_cast<std::int64_t>(k);
          EXPECT_EQ(spec.global_index(rank, d, local), expected[k]);
          EXPECT_EQ(spec.local_index(rank, d, expected[k]), local);
        }
      }
      if (!spec.has_boxes()) continue;
      ++boxes;
      EXPECT_EQ(spec.pieces(coordinate), (std::vector<Box>{spec.piece(coordinate)}));
      for (std::size_t d = 0; d < piece.sections.size(); ++d) {
        const auto extent = spec.shape()[d];
        const Interval all =
            piece.sections[d].empty() ? Interval{extent, extent} : piece.sections[d].hull();
        EXPECT_EQ(spec.piece(coordinate).interval(d), all) << to_string(spec);
      }
    }
    if (spec.has_boxes()) {
      EXPECT_TRUE(are_all_boxes) << to_string(spec);
    }
  }
  EXPECT_GT(boxes, 1000);
}

TEST(DTensorSpec, largest_local_shape_is_that_of_a_rank) {
  Generator generator(6);
  for (int i = 0; i < 2000; ++i) {
    const auto spec = random_spec(generator);
    for (std::size_t d = 0; d < spec.shape().size(); ++d) {
      std::int64_t largest = 0;
      for (int part = 0; part < spec.split(d).parts(); ++part)
        largest = std::max(largest, spec.split(d).part(part).extent());
      EXPECT_EQ(spec.largest_local_shape()[d], largest) << to_string(spec);
    }
  }
}

bool holds(const Piece& piece, const Extents& index) {
  for (std::size_t d = 0; d < index.size(); ++d)
    if (!piece.sections[d].local_index(index[d])) return false;
  return true;
}

TEST(DTensorSpec, pieces_partition_the_tensor_and_owner_is_the_lowest_holder) {
  Generator generator(4);
  for (int i = 0; i < 300; ++i) {
    const auto spec = random_spec(generator);
    int copies = 1;
    for (int d = 0; d < spec.layout().ndim(); ++d)
      if (!spec.placements()[static_cast<std::size_t>(d)].is_shard())
        copies *= spec.layout().size(d);
    for (std::int64_t k = 0; k < product(spec.shape()); k += 1 + below(generator, 7)) {
      Extents index;
      auto rest = k;
      for (const auto stride : row_major_strides(spec.shape())) {
        index.push_back(rest / stride);
        rest %= stride;
      }
      std::vector<int> holders;
      for (int rank = 0; rank < spec.layout().size(); ++rank)
        if (holds(spec.sections(spec.layout().coordinate(rank)), index)) holders.push_back(rank);

      ASSERT_EQ(static_cast<int>(holders.size()), copies) << to_string(spec);
      EXPECT_EQ(spec.owner(index), holders.front()) << to_string(spec);
    }
  }
}

TEST(DTensorSpec, written_out_boundaries_mean_the_same) {
  Generator generator(5);
  for (int i = 0; i < 2000; ++i) {
    const auto spec = random_spec(generator);
    Boundaries written;
    for (int d = 0; d < spec.tensor_dims(); ++d) {
      const auto& split = spec.split(static_cast<std::size_t>(d));
      written.push_back(split.has_intervals() ? split.explicit_boundaries() : Indices());
    }

    const DTensorSpec again(spec.layout(), spec.placements(), spec.shape(), written);

    EXPECT_EQ(again, spec) << to_string(spec);
    EXPECT_EQ(again.hash(), spec.hash()) << to_string(spec);
    EXPECT_EQ(with_placements(spec, spec.placements()), spec) << to_string(spec);
  }
}

/// Two specs agree if all ranks hold the same indices, and the same Partials.
bool agree_by_looking(const DTensorSpec& a, const DTensorSpec& b) {
  for (int d = 0; d < a.layout().ndim(); ++d) {
    const auto& first = a.placements()[static_cast<std::size_t>(d)];
    const auto& second = b.placements()[static_cast<std::size_t>(d)];
    if ((first.is_partial() || second.is_partial()) && first != second) return false;
  }
  for (int rank = 0; rank < a.layout().size(); ++rank)
    for (int d = 0; d < a.tensor_dims(); ++d)
      if (indices_by_cutting(a, d, a.layout().coordinate(rank)) !=
          indices_by_cutting(b, d, b.layout().coordinate(rank)))
        return false;
  return true;
}

TEST(DTensorSpec, specs_agree_if_all_ranks_hold_the_same) {
  Generator generator(7);
  int agreeing = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto a = random_spec(generator);
    const auto placements = random_sharding(generator, a.layout().ndim(), a.tensor_dims());
    const auto b = with_placements(a, placements);

    EXPECT_EQ(agree(a, b), agree_by_looking(a, b)) << to_string(a) << " and " << to_string(b);
    if (a != b && agree(a, b)) ++agreeing;
  }
  EXPECT_GT(agreeing, 1000);
}

}  // namespace
}  // namespace tessera::test
