// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans to needs, with all ranks in this process, through the real engine and kernels, against a
// look at each element.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../support/generator.hpp"
#include "../support/oracle.hpp"
#include "../support/random_case.hpp"
#include "../support/simulate.hpp"
#include "plan/needs.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
using detail::Need;
using detail::Needs;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// What a rank needs, and the extents of its array.
struct RankNeeds {
  Extents shape;
  Needs needs;
};

/// Boxes one behind the other along the first dim of the array, with gaps; the other dims begin
/// somewhere. They reach beyond the tensor at both ends.
RankNeeds random_needs(Generator& generator, const Extents& shape) {
  RankNeeds result{Extents::filled(shape.size(), 0), {}};
  const int boxes = shape.empty() ? draw(generator, 0, 1) : draw(generator, 0, 3);
  for (int i = 0; i < boxes; ++i) {
    Need need;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const int extent = static_cast<int>(shape[d]);
      const int size =
          extent == 0 ? 0 : draw(generator, 0, draw(generator, 0, 3) == 0 ? 20 : extent);
      const int begin = draw(generator, -extent, extent);
      need.box.offset.push_back(begin);
      need.box.shape.push_back(size);
      const auto behind = d == 0 ? result.shape[d] : 0;
      need.position.push_back(behind + draw(generator, 0, 2));
    }
    for (std::size_t d = 0; d < shape.size(); ++d)
      result.shape[d] =
          std::max(result.shape[d], need.position[d] + need.box.shape[d] + draw(generator, 0, 1));
    result.needs.push_back(std::move(need));
  }
  return result;
}

Extents modulo(Extents index, const Extents& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    index[d] = (index[d] % shape[d] + shape[d]) % shape[d];
  return index;
}

/// The rank from which another one gets an element.
int owner_for(const DTensorSpec& spec, const Extents& index, int rank) {
  const auto own = spec.layout().coordinate(rank);
  for (int other = 0; other < spec.layout().size(); ++other) {
    const auto coordinate = spec.layout().coordinate(other);
    bool is_near = true;
    for (int d = 0; d < spec.layout().ndim(); ++d)
      if (!spec.placements()[at(d)].is_shard())
        is_near = is_near && own[at(d)] == coordinate[at(d)];
    if (is_near && local_index(piece_of(spec, other), index)) return other;
  }
  return -1;
}

/// Calls visit(index in the tensor, index in the array) for what a rank needs.
template <class Visit>
void for_each_needed(const DTensorSpec& spec, const Needs& needs, const Visit& visit) {
  for (const auto& need : needs)
    for_each_index({Extents::filled(spec.shape().size(), 0), need.box.shape},
                   [&](const Extents& within) {
                     auto global = within;
                     auto place = within;
                     for (std::size_t d = 0; d < within.size(); ++d) {
                       global[d] += need.box.offset[d];
                       place[d] += need.position[d];
                     }
                     visit(modulo(global, spec.shape()), place);
                   });
}

/// Expects that an array holds what it held before, but at these indices.
void expect_rest_unchanged(const StridedArray& array, ElementType type,
                           const std::set<std::vector<std::int64_t>>& written) {
  const auto& shape = array.array().extents;
  for_each_index({Extents::filled(shape.size(), 0), shape}, [&](const Extents& index) {
    if (written.contains({index.begin(), index.end()})) return;
    const auto* const bytes = array.element(index);
    EXPECT_TRUE(std::all_of(bytes, bytes + type.size,
                            [](std::byte value) { return value == StridedArray::untouched; }));
  });
}

/// Expects that the blocks of each peer follow one another.
void expect_one_message_each(const Blocks& blocks, int rank) {
  std::set<int> peers;
  detail::for_each_message(blocks, rank, [&](std::span<const Block> message) {
    const int peer = message.front().peer;
    if (peer == rank) return;
    EXPECT_TRUE(peers.insert(peer).second) << "rank " << rank << ", " << peer;
  });
}

TEST(Needs, without_elements_of_a_tensor_without_elements_are_nothing) {
  const DTensorSpec spec(MeshLayout({2}), {Shard(0)}, {0, 5});
  const std::vector<Needs> needs(2, {{{{0, 2}, {3, 0}}, {0, 0}}, {{{-4, 0}, {0, 9}}, {0, 0}}});

  const auto plan = detail::plan_to_needs(spec, needs, 0, element_type<double>(), {});

  EXPECT_FALSE(plan.step.communicates);
  EXPECT_TRUE(plan.step.phases[0].receive.empty());
  EXPECT_TRUE(plan.step.phases[0].send.empty());
}

TEST(Needs, that_overlap_wrap_around_and_leave_parts_out_are_met) {
  Generator generator(seed());
  for (int number = 0, count = cases(2000); number < count && !HasFailure(); ++number) {
    const MeshLayout layout(random_mesh_shape(generator, 12));
    const auto shape = random_shape(generator);
    const auto type = random_type(generator);
    const auto placements =
        random_placements(generator, layout.ndim(), static_cast<int>(shape.size()), std::nullopt);
    const auto spec = with_random_boundaries(generator, DTensorSpec(layout, placements, shape));
    SCOPED_TRACE("case " + std::to_string(number) + ": " + to_string(spec));
    std::vector<Needs> needs;
    std::vector<StridedArray> pieces;
    std::vector<StridedArray> results;
    for (int rank = 0; rank < layout.size(); ++rank) {
      const auto random = rank > 0 && draw(generator, 0, 3) == 0
                              ? RankNeeds{results.back().array().extents, needs.back()}
                              : random_needs(generator, shape);
      needs.push_back(random.needs);
      pieces.emplace_back(generator, type, spec.local_shape(rank));
      results.emplace_back(generator, type, random.shape);
      fill_source(spec, rank, pieces.back());
    }
    const auto settings = random_settings(generator, layout);
    std::vector<std::vector<Step>> steps;
    std::vector<ArrayRef> sources;
    std::vector<ArrayRef> destinations;
    std::optional<detail::Movement> movement;
    bool communicates = false;
    for (int rank = 0; rank < layout.size(); ++rank) {
      auto plan = detail::plan_to_needs(spec, needs, rank, type, settings);
      if (!movement) communicates = plan.step.communicates;
      if (!movement) movement = plan.movement;
      EXPECT_EQ(plan.step.communicates, communicates);
      EXPECT_EQ(plan.movement.messages.bytes, movement->messages.bytes);
      EXPECT_EQ(plan.movement.messages.at_once, movement->messages.at_once);
      expect_one_message_each(plan.step.phases[0].send, rank);
      expect_one_message_each(plan.step.phases[0].receive, rank);
      steps.push_back({plan.step});
      sources.push_back(pieces[at(rank)].array());
      destinations.push_back(results[at(rank)].array());
    }

    test::Simulation(*movement, steps, sources, destinations,
                     random_nodes(generator, layout.size(), type))
        .run();

    std::int64_t lacking = 0;
    for (int rank = 0; rank < layout.size(); ++rank) {
      std::map<int, std::int64_t> from_peer;
      std::set<std::vector<std::int64_t>> written;
      for_each_needed(spec, needs[at(rank)], [&](const Extents& index, const Extents& place) {
        const int owner = owner_for(spec, index, rank);
        ++from_peer[owner];
        if (owner != rank) ++lacking;
        written.insert({place.begin(), place.end()});
        const auto local = *local_index(piece_of(spec, owner), index);
        EXPECT_EQ(load(results[at(rank)].element(place), type),
                  load(pieces[at(owner)].element(local), type));
      });
      expect_rest_unchanged(results[at(rank)], type, written);
      std::map<int, std::int64_t> planned;
      for (const auto& block : steps[at(rank)][0].phases[0].receive)
        planned[block.peer] += block.size();
      EXPECT_EQ(planned, from_peer) << "rank " << rank;
    }
    EXPECT_EQ(communicates, lacking > 0);
  }
}

}  // namespace
