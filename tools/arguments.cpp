// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "arguments.hpp"
#include "parse.hpp"

namespace tessera::tools {
namespace {

Extents node_blocks(const MeshLayout& layout, std::int64_t ranks_of_node) {
  if (ranks_of_node == 0) return {};
  std::vector<int> node;
  for (int rank = 0; rank < layout.size(); ++rank)
    node.push_back(static_cast<int>(rank / ranks_of_node));
  return ranks_per_node(layout, node);
}

}  // namespace

void add_mesh_option(CLI::App& command, std::string& mesh) {
  command.add_option("--mesh", mesh, "Sizes of the mesh dims, and names: 4x2 or 4x2:dp,tp")
      ->type_name("SIZES")
      ->required();
}

void add_shape_option(CLI::App& command, std::string& shape) {
  command.add_option("--shape", shape, "Global shape of the tensor: 16,24")
      ->type_name("EXTENTS")
      ->required();
}

void add_svg_option(CLI::App& command, std::string& file) {
  command.add_option("--svg", file, "Write a picture to this file")->type_name("FILE");
}

void add_options(CLI::App& command, RedistributeArguments& arguments) {
  add_mesh_option(command, arguments.mesh);
  add_shape_option(command, arguments.shape);
  command.add_option("--from", arguments.from, "Placements before, one per mesh dim: \"S(0),R\"")
      ->type_name("PLACEMENTS")
      ->required();
  command.add_option("--to", arguments.to, "Placements after: \"C(0,32),P\"")
      ->type_name("PLACEMENTS")
      ->required();
  command.add_option("--dtype", arguments.dtype, "f32 f64 c64 c128 i8 … i64 u8 … u64 bool")
      ->type_name("TYPE")
      ->capture_default_str();
  auto* const to_mesh =
      command.add_option("--to-mesh", arguments.to_mesh, "Another mesh of the ranks 0, 1, …")
          ->type_name("SIZES");
  command.add_option("--ranks-per-node", arguments.ranks_per_node, "Default: all on one node")
      ->type_name("N")
      ->check(CLI::Range(1, most_ranks).description(""))
      ->excludes(to_mesh);
  command
      .add_option(
          "--extra-memory", arguments.extra_memory,
          "Most memory for messages on a rank; default: 64 MiB and 1/8 of the largest piece")
      ->type_name("BYTES")
      ->check(CLI::Range(std::int64_t{1}, most_elements).description(""));
  command.add_flag("--json", arguments.json, "Print one JSON object");
  add_svg_option(command, arguments.svg);
}

RedistributePlan plan_of(const RedistributeArguments& arguments) {
  const auto layout = mesh_of("--mesh", arguments.mesh);
  const auto target_layout =
      arguments.to_mesh.empty() ? layout : mesh_of("--to-mesh", arguments.to_mesh);
  const auto shape = shape_of(arguments.shape);
  const auto type = type_of(arguments.dtype);
  const auto source = spec_on(layout, shape, "--from", arguments.from);
  const auto target = spec_on(target_layout, shape, "--to", arguments.to);
  detail::PlanSettings settings;
  settings.extra_memory = arguments.extra_memory;
  settings.ranks_per_node = node_blocks(layout, arguments.ranks_per_node);
  return detail::named("--dtype",
                       [&] { return detail::PlanAccess::make(source, target, type, settings); });
}

DTensorSpec spec_of(const std::string& mesh, const std::string& shape, const char* option,
                    const std::string& placements) {
  return spec_on(mesh_of("--mesh", mesh), shape_of(shape), option, placements);
}

}  // namespace tessera::tools
