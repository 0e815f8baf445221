// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace tessera::tools {

/// A Command is a subcommand and the function that it runs once its arguments are read, which
/// returns the exit status.
struct Command {
  CLI::App* options;
  std::function<int()> run;
};

Command add_explain(CLI::App& app);
Command add_info(CLI::App& app);
Command add_postmortem(CLI::App& app);
Command add_show(CLI::App& app);
Command add_simulate(CLI::App& app);
Command add_timeline(CLI::App& app);

}  // namespace tessera::tools
