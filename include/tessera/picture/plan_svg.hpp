// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tessera/picture/sharding_svg.hpp>
#include <tessera/plan/plan.hpp>

namespace tessera {

/// Returns a picture of who sends what to whom, as an SVG document that needs no other file: the
/// layouts of source and target, and for each phase of each step a matrix of bytes, with senders by
/// row and receivers by column.
///
/// Ranks are mesh ranks; for a plan from one mesh to another, ranks of the communicator. More than
/// 64 ranks are drawn in blocks. If asking all ranks for their steps is too much work, some ranks
/// of each block represent it, and the picture says so: a plan for 100,000 ranks takes about a
/// second.
///
/// Errors: InvalidArgument for a slice, as in visualize_sharding().
std::string plan_svg(const RedistributePlan& plan, const SvgOptions& options = {});

}  // namespace tessera
