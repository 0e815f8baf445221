// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/picture/sharding_svg.hpp>
#include <tessera/picture/visualize_sharding.hpp>

#include "arguments.hpp"
#include "commands.hpp"
#include "report.hpp"

namespace tessera::tools {
namespace {

struct ShowArguments {
  std::string mesh;
  std::string shape;
  std::string placements;
  std::string svg;
};

std::string list_of_pieces(const DTensorSpec& spec) {
  std::vector<std::vector<std::string>> rows = {
      {"rank", "coordinate", spec.has_boxes() ? "offset" : "indices", "shape", "elements"}};
  for (int rank = 0; rank < spec.layout().size(); ++rank) {
    const auto coordinate = spec.layout().coordinate(rank);
    const auto piece = spec.sections(coordinate);
    const auto place =
        spec.has_boxes() ? to_string(spec.piece(coordinate).offset) : to_string(piece);
    rows.push_back({std::to_string(rank), fmt::format("({})", fmt::join(coordinate, ", ")), place,
                    to_string(piece.shape()), std::to_string(piece.size())});
  }
  return table(rows);
}

std::string summary_of(const DTensorSpec& spec) {
  std::vector<Quantity> quantities = {{"elements"}};
  for (int d = 0; d < spec.tensor_dims(); ++d) quantities.push_back({fmt::format("dim {}", d)});
  std::int64_t empty = 0;
  for (int rank = 0; rank < spec.layout().size(); ++rank) {
    const auto shape = spec.local_shape(rank);
    const auto size = product(shape);
    quantities[0].by_rank.push_back(size);
    for (std::size_t d = 0; d < shape.size(); ++d) quantities[d + 1].by_rank.push_back(shape[d]);
    if (size == 0) ++empty;
  }
  return fmt::format("{} ranks, {} of them without elements\n{}", spec.layout().size(), empty,
                     summary(quantities));
}

int show(const ShowArguments& arguments) {
  const auto spec = spec_of(arguments.mesh, arguments.shape, "--placements", arguments.placements);
  if (!arguments.svg.empty()) write_svg(arguments.svg, sharding_svg(spec));
  const bool is_listed = spec.layout().size() <= most_ranks_listed;
  VisualizeOptions options;
  options.colour = terminal_has_colour();
  fmt::print("{}\n{}", visualize_sharding(spec, options),
             is_listed ? list_of_pieces(spec) : summary_of(spec));
  return 0;
}

}  // namespace

Command add_show(CLI::App& app) {
  auto* const options =
      app.add_subcommand("show", "Who owns what: place and shape of every rank's piece");
  const auto arguments = std::make_shared<ShowArguments>();
  add_mesh_option(*options, arguments->mesh);
  add_shape_option(*options, arguments->shape);
  options->add_option("--placements", arguments->placements, "One per mesh dim: \"S(0),R\"")
      ->type_name("PLACEMENTS")
      ->required();
  add_svg_option(*options, arguments->svg);
  return {options, [arguments] { return show(*arguments); }};
}

}  // namespace tessera::tools
