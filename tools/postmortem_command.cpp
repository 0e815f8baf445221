// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <fmt/format.h>

#include "commands.hpp"
#include "postmortem.hpp"

namespace tessera::tools {

Command add_postmortem(CLI::App& app) {
  auto* const options = app.add_subcommand(
      "postmortem", "Which rank left the common program first, by the flight records of all");
  const auto folder = std::make_shared<std::string>();
  const auto time = std::make_shared<double>(0);
  options
      ->add_option("folder", *folder, "Of tessera-flight-<rank>.json, see TESSERA_FLIGHT_RECORDER")
      ->type_name("DIR")
      ->required();
  options
      ->add_option("--since", *time, "Leaves out calls that began earlier, in seconds since 1970")
      ->type_name("SECONDS");
  return {options, [folder, time] {
            const auto result = postmortem(since(read_records(*folder), *time));
            fmt::print("{}", to_string(result));
            return result.divergence || result.failure ? 1 : 0;
          }};
}

}  // namespace tessera::tools
