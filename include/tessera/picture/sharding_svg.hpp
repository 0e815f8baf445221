// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/sharding/spec.hpp>

namespace tessera {

/// SvgOptions are the options of sharding_svg() and plan_svg().
struct SvgOptions {
  int width = 900;  ///< width of the picture, pixels; fewer than 300 count as 300
  /// Selects the slice to show, see VisualizeOptions::slice.
  std::vector<std::int64_t> slice = {};
};

/// Returns the picture of visualize_sharding() as an SVG document that needs no other file: a
/// rectangle for each piece, to scale, coloured by the first of the mesh ranks that hold it.
/// Replicas and contributions of a Partial are hatched. Tensors of 3 and more dims are drawn as
/// slices side by side.
///
/// Labels that have no room are left out; viewers show them under the mouse. If there are more
/// pieces than can be seen, only the first and the last ones are drawn.
/// Errors: InvalidArgument as in visualize_sharding().
std::string sharding_svg(const DTensorSpec& spec, const SvgOptions& options = {});

}  // namespace tessera
