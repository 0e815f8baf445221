// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/sharding/spec.hpp>

namespace tessera {

/// How sharding_svg() and plan_svg() draw.
struct SvgOptions {
  int width = 900;  ///< in pixels; at least 300 are taken
  /// As VisualizeOptions::slice.
  std::vector<std::int64_t> slice = {};
};

/// The picture of visualize_sharding() as an SVG document that needs nothing else: a rectangle for
/// each piece, to scale, coloured by the first of the mesh ranks that hold it; replicas and terms
/// of a Partial are hatched. Tensors of 3 and more dims as slices side by side.
///
/// Labels that have no room are left out; viewers show them under the mouse. Of more pieces than
/// can be seen the first and the last ones are drawn.
/// Errors: InvalidArgument as visualize_sharding().
std::string sharding_svg(const DTensorSpec& spec, const SvgOptions& options = {});

}  // namespace tessera
