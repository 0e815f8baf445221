// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <fmt/format.h>

#include <tessera/nn/layer_norm.hpp>

namespace tessera::detail {

void require_layer_norm(std::int64_t features, const nn::LayerNormOptions& options) {
  require(features >= 1,
          [&] { return fmt::format("expected at least 1 feature, got {}", features); });
  require(options.eps >= 0,
          [&] { return fmt::format("expected an eps of at least 0, got {}", options.eps); });
}

DTensorSpec spec_along_last_dim(const DTensorSpec& spec, const DTensorSpec& own) {
  if (!own.placements().is_all_replicate()) return own;
  const auto last = spec.tensor_dims() - 1;
  std::vector<Placement> placements;
  std::vector<int> positions;
  for (std::size_t m = 0; m < spec.placements().size(); ++m) {
    const auto& placement = spec.placements()[m];
    const bool splits = placement.is_shard(last);
    placements.push_back(splits ? placement.with_dim(0) : Placement(Replicate()));
    positions.push_back(splits ? spec.placements().split_position(static_cast<int>(m)) : 0);
  }
  Boundaries boundaries;
  if (!spec.boundaries().empty())
    boundaries.push_back(spec.boundaries()[static_cast<std::size_t>(last)]);
  return make_spec(spec.layout(), Placements(placements, positions), own.shape(), boundaries);
}

}  // namespace tessera::detail
