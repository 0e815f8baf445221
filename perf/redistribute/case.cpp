// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include <fmt/ranges.h>

#include "case.hpp"

namespace tessera::perf {

namespace {

const Placement s0 = Shard(0);
const Placement s1 = Shard(1);
const Placement s2 = Shard(2);
const Placement replicated = Replicate();
const Placement partial = Partial();
const Placement average = Partial(ReduceOp::avg);

struct Transition {
  Placement source;
  Placement target;
};

std::string short_name(const Placement& placement) {
  if (placement.rule() == ShardingRule::cyclic)
    return fmt::format("C{}.{}", placement.dim(), placement.block());
  if (placement.is_shard()) return fmt::format("S{}", placement.dim());
  if (placement.is_partial(ReduceOp::avg)) return "A";
  return placement.is_partial() ? "P" : "R";
}

std::vector<Transition> transitions() {
  return {{s0, s1},         {s1, s0},      {s0, replicated}, {s1, replicated},
          {replicated, s0}, {partial, s0}, {partial, s1},    {partial, replicated}};
}

std::vector<Case> cases(const std::vector<Transition>& transitions,
                        const std::vector<Extents>& shapes) {
  std::vector<Case> result;
  for (const auto& [source, target] : transitions)
    for (const auto& shape : shapes) result.push_back({source, target, shape});
  return result;
}

std::vector<Case> cube_cases(std::int64_t extent) {
  return cases({{s0, s1}, {s0, s2}, {s2, s0}, {s1, s2}, {s2, s1}}, {{extent, extent, extent}});
}

/// Returns averages, beside which the same sums are measured.
std::vector<Case> average_cases(const std::vector<Extents>& shapes) {
  return cases({{average, s0}, {average, replicated}}, shapes);
}

std::vector<Case> joined(std::initializer_list<std::vector<Case>> lists) {
  std::vector<Case> result;
  for (const auto& list : lists) result.insert(result.end(), list.begin(), list.end());
  return result;
}

/// Returns block-cyclic matrices, beside which COSTA and ScaLAPACK are measured.
std::vector<Case> cyclic_cases(const std::vector<Extents>& shapes) {
  const Placement rows = Cyclic(0, 64);
  const Placement columns = Cyclic(1, 64);
  return cases({{rows, s0},
                {s0, rows},
                {columns, s1},
                {s1, columns},
                {rows, s1},
                {s1, rows},
                {rows, Cyclic(0, 48)}},
               shapes);
}

DTensorSpec spec_of(const Placement& placement, const Extents& shape, int ranks) {
  const auto held = placement.is_partial() ? Placement(Replicate()) : placement;
  return {MeshLayout({ranks}), {held}, shape};
}

std::vector<Piece> pieces(const DTensorSpec& spec) {
  std::vector<Piece> result;
  for (int rank = 0; rank < spec.layout().size(); ++rank)
    result.push_back(spec.sections(std::vector{rank}));
  return result;
}

std::vector<Box> boxes(const DTensorSpec& spec) {
  std::vector<Box> result;
  for (int rank = 0; spec.has_boxes() && rank < spec.layout().size(); ++rank)
    result.push_back(spec.piece(std::vector{rank}));
  return result;
}

}  // namespace

std::string Case::name() const {
  return fmt::format("{}->{}/{}", short_name(source), short_name(target), fmt::join(shape, "x"));
}

std::vector<Case> all_cases() {
  const std::vector<Extents> even = {{16, 32},     {64, 64},     {128, 256},  {512, 512},
                                     {1024, 2048}, {4096, 4096}, {8192, 8192}};
  const auto uneven = cases({{s0, s1}, {s1, s0}}, {{4099, 4093}});
  const auto averages = average_cases({{64, 64}, {1024, 2048}, {4096, 4096}});
  const auto cyclic = cyclic_cases({{512, 512}, {1024, 2048}, {4096, 4096}, {4099, 4093}});
  return joined({cases(transitions(), even), averages, uneven, cube_cases(256), cyclic});
}

std::vector<Case> brief_cases() {
  const std::vector<Extents> shapes = {{16, 32}, {67, 61}, {512, 400}};
  return joined({cases(transitions(), shapes), average_cases({{67, 61}}), cube_cases(13),
                 cyclic_cases({{67, 261}})});
}

bool Geometry::is_even() const {
  if (!has_boxes()) return false;
  const auto size = intersect(source.front(), target.front()).size();
  return std::ranges::all_of(source, [&](const Box& from) {
    return std::ranges::all_of(target,
                               [&](const Box& to) { return intersect(from, to).size() == size; });
  });
}

Geometry geometry_of(const Case& test_case, int rank, int ranks) {
  const auto source = spec_of(test_case.source, test_case.shape, ranks);
  const auto target = spec_of(test_case.target, test_case.shape, ranks);
  return {rank,
          test_case.shape,
          pieces(source),
          pieces(target),
          boxes(source),
          boxes(target),
          test_case.source.is_partial(),
          test_case.source.is_partial(ReduceOp::avg) ? ranks : 1};
}

std::int64_t memory_needed(const Case& test_case, int ranks) {
  const auto replica_bytes = test_case.bytes() * ranks;
  if (test_case.source.is_partial()) return 7 * replica_bytes;
  const auto held = [&](const Placement& p) {
    return p.is_shard() ? test_case.bytes() : replica_bytes;
  };
  return 2 * held(test_case.source) + 4 * held(test_case.target);
}

}  // namespace tessera::perf
