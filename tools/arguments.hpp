// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include <tessera/plan/plan.hpp>

namespace tessera::tools {

/// Holds what the user wrote for one redistribution.
struct RedistributeArguments {
  std::string mesh;
  std::string to_mesh;
  std::string shape;
  std::string from;
  std::string to;
  std::string dtype = "f64";
  std::int64_t ranks_per_node = 0;  ///< 0: all ranks on one node
  std::int64_t extra_memory = 0;
  bool json = false;
  std::string svg;
};

void add_options(CLI::App& command, RedistributeArguments& arguments);
void add_mesh_option(CLI::App& command, std::string& mesh);
void add_shape_option(CLI::App& command, std::string& shape);
void add_svg_option(CLI::App& command, std::string& file);

/// Makes the plan that the options describe. Errors: InvalidArgument that begins with the option at
/// fault, as in parse.hpp.
RedistributePlan plan_of(const RedistributeArguments& arguments);

/// Returns the spec that options --mesh, --shape and `option` describe. Errors: as in plan_of().
DTensorSpec spec_of(const std::string& mesh, const std::string& shape, const char* option,
                    const std::string& placements);

}  // namespace tessera::tools
