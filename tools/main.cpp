// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// The program `tessera` shows what the library would do, without data.
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/config/version.hpp>
#include <tessera/error/error.hpp>

#include "commands.hpp"

namespace {

using namespace tessera::tools;

constexpr int wrong_input = 2;

constexpr auto footer =
    R"(Placements, one per mesh dim: R, S(dim), B(dim), C(dim,block), H(dim), P(op) with
op sum, avg, product, min, max, band, bor, bxor; S(0)[1],S(0)[0]: the second mesh dim
splits first.
Exit status: 0; 1: simulate found a mistake, postmortem a difference or a call that
failed; 2: wrong input.)";

int report(const CLI::App& app, const std::string& message) {
  auto line = message;
  std::ranges::replace(line, '\n', ' ');
  const auto commands = app.get_subcommands();
  const auto name = commands.empty() ? "" : " " + commands.front()->get_name();
  fmt::print(stderr, "tessera{}: {}\n", name, line);
  return wrong_input;
}

int run(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (command.options->parsed()) return command.run();
    names.push_back(command.options->get_name());
  }
  throw tessera::InvalidArgument(
      fmt::format("expected one of {}, got nothing", fmt::join(names, ", ")));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Layouts and redistributions of distributed tensors, without running them",
               "tessera");
  app.set_version_flag("--version", "tessera " + tessera::version());
  app.require_subcommand(0, 1);
  app.footer(footer);
  const std::vector<Command> commands = {add_explain(app), add_info(app),     add_postmortem(app),
                                         add_show(app),    add_simulate(app), add_timeline(app)};
  try {
    app.parse(argc, argv);
    return run(commands);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    return report(app, error.what());
  }
}
