// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "debug/traffic.hpp"
#include "debug/tuning.hpp"

namespace tessera::detail {

namespace {

/// Returns all phases of a plan without traffic yet. `steps` may be the steps of any rank.
std::vector<PhaseTraffic> nothing_yet(const std::vector<Step>& steps, const RankBlocks& blocks) {
  const auto count = static_cast<std::size_t>(blocks.count);
  std::vector<PhaseTraffic> result;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t k = 0; k < steps[i].phases.size(); ++k)
      result.push_back({steps[i].kind, static_cast<int>(i), static_cast<int>(k),
                        steps[i].phases[k].contributions, steps[i].communicates,
                        std::vector<std::int64_t>(count * count, 0),
                        std::vector<std::int64_t>(count, 0)});
  return result;
}

/// Adds what `rank` receives in a phase, and counts it for `weight` ranks like it.
void add(PhaseTraffic& traffic, const Phase& phase, int rank, std::int64_t element_size,
         const RankBlocks& blocks, double weight) {
  const auto column = static_cast<std::size_t>(blocks.block_of(rank));
  std::int64_t received = 0;
  for (const auto& arriving : phase.receive) {
    const auto bytes = arriving.size() * element_size;
    const auto weighted = std::llround(weight * static_cast<double>(bytes));
    const auto row = static_cast<std::size_t>(blocks.block_of(arriving.peer));
    if (arriving.peer == rank) {
      traffic.stays[column] += weighted;
      continue;
    }
    traffic.bytes[row * static_cast<std::size_t>(blocks.count) + column] += weighted;
    traffic.messages += weight;
    received += bytes;
  }
  traffic.most_received = std::max(traffic.most_received, received);
}

/// Returns how many ranks of each block to ask. `steps` are the steps of one rank: the more it
/// sends and receives, the fewer ranks are asked.
int ranks_to_ask(const std::vector<Step>& steps, const RankBlocks& blocks) {
  std::int64_t work = 1;
  for (const auto& step : steps)
    for (const auto& phase : step.phases)
      work += std::ssize(phase.send) + std::ssize(phase.receive);
  return static_cast<int>(std::max<std::int64_t>(1, most_traffic_work / (work * blocks.count)));
}

/// Returns the k-th of `asked` ranks that are evenly spaced in a block, with another first rank in
/// each block.
int rank_to_ask(const RankBlocks& blocks, int block, int k, int asked) {
  constexpr double golden = 0.6180339887498949;
  const int size = blocks.size(block);
  if (asked == size) return blocks.first(block) + k;
  const double shift = golden * block - std::floor(golden * block);
  return blocks.first(block) + static_cast<int>((k + shift) / asked * size);
}

}  // namespace

int RankBlocks::block_of(int rank) const {
  const auto after = (static_cast<std::int64_t>(rank) + 1) * count - 1;
  return static_cast<int>(after / ranks);
}

int RankBlocks::first(int block) const {
  return static_cast<int>((static_cast<std::int64_t>(block) * ranks) / count);
}

RankBlocks rank_blocks(int ranks) {
  if (ranks <= most_single_ranks) return {ranks, ranks};
  return {ranks, ranks <= many_ranks ? blocks_of_some_ranks : blocks_of_many_ranks};
}

Traffic traffic_of(const RedistributePlan& plan, const RankBlocks& blocks) {
  const auto steps_of_one = plan.steps(blocks.ranks / 2);
  Traffic result{nothing_yet(steps_of_one, blocks)};
  const int most = ranks_to_ask(steps_of_one, blocks);
  for (int block = 0; block < blocks.count; ++block) {
    const int asked = std::min(most, blocks.size(block));
    const double weight = static_cast<double>(blocks.size(block)) / asked;
    for (int k = 0; k < asked; ++k) {
      const int rank = rank_to_ask(blocks, block, k, asked);
      std::size_t next = 0;
      for (const auto& step : plan.steps(rank))
        for (const auto& phase : step.phases)
          add(result.phases[next++], phase, rank, plan.element_type().size, blocks, weight);
    }
    result.ranks_asked += asked;
  }
  return result;
}

std::string short_number(std::int64_t number) {
  constexpr std::string_view units = "kMGTPE";
  if (number < 1000) return fmt::format("{}", number);
  auto value = static_cast<double>(number);
  std::size_t unit = 0;
  for (value /= 1000; value >= 999.5; value /= 1000) ++unit;
  const bool has_digit = value < 9.95;
  return has_digit ? fmt::format("{:.1f}{}", value, units[unit])
                   : fmt::format("{:.0f}{}", value, units[unit]);
}

}  // namespace tessera::detail
