// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <fmt/format.h>

#include "arguments.hpp"
#include "commands.hpp"
#include "report.hpp"
#include "timeline.hpp"

namespace tessera::tools {

Command add_timeline(CLI::App& app) {
  auto* const options =
      app.add_subcommand("timeline", "What each rank communicated when, by the trace of a run");
  const auto file = std::make_shared<std::string>();
  const auto svg = std::make_shared<std::string>();
  options->add_option("trace", *file, "As CommDebugMode::write_chrome_trace writes it")
      ->type_name("FILE")
      ->required();
  add_svg_option(*options, *svg);
  return {options, [file, svg] {
            const auto bars = read_trace(*file);
            if (!svg->empty()) write_svg(*svg, timeline_svg(bars));
            fmt::print("{}", summary_of(bars));
            return 0;
          }};
}

}  // namespace tessera::tools
