// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>

#include "ops/rows.hpp"

namespace tessera::detail {
namespace {

/// Returns the spec of one number for each row, where `held` says what ranks have that split the dim.
DTensorSpec spec_of_rows(const DTensorSpec& spec, std::int64_t dim, Placement held) {
  auto shape = spec.shape();
  shape[static_cast<std::size_t>(dim)] = 1;
  auto boundaries = spec.boundaries();
  if (!boundaries.empty()) boundaries[static_cast<std::size_t>(dim)].clear();
  std::vector<Placement> placements;
  std::vector<int> positions;
  for (std::size_t m = 0; m < spec.placements().size(); ++m) {
    const auto& placement = spec.placements()[m];
    const bool is_split = placement.is_shard(static_cast<int>(dim));
    placements.push_back(is_split ? held : placement);
    positions.push_back(is_split ? 0 : spec.placements().split_position(static_cast<int>(m)));
  }
  return make_spec(spec.layout(), Placements(placements, positions), shape, boundaries);
}

}  // namespace

Rows::Rows(const Execution& execution, Temporaries& temporaries, const DeviceMesh* mesh,
           const DTensorSpec* spec, std::int64_t dim, const char* label)
    : execution_(execution),
      temporaries_(temporaries),
      mesh_(mesh),
      spec_(spec),
      dim_(dim),
      label_(label) {
  are_split_ = mesh != nullptr && spec->split(static_cast<std::size_t>(dim)).parts() > 1;
}

OwnedArray Rows::combined(const OwnedArray& mine, ReduceOp op) const {
  if (!are_split_) return mine;
  const auto& array = mine.array;
  auto all = temporaries_.allocate(array.type, array.extents, array.space, label_);
  const std::vector<Redistributor> redistributors{
      cached_redistributor(*mesh_, spec_of_rows(*spec_, dim_, Partial(op)),
                           spec_of_rows(*spec_, dim_, Replicate()), array.type, {})};
  const std::vector<Pieces> pieces{{array, all.array}};
  keeping(
      mesh_->communicator(), [&] { run_together(execution_, redistributors, pieces, label_); },
      [&] { return std::make_shared<std::pair<OwnedArray, OwnedArray>>(mine, all); });
  return all;
}

}  // namespace tessera::detail
