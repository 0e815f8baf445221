// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tessera/debug/simulate.hpp>
#include <tessera/picture/plan_svg.hpp>

#include "arguments.hpp"
#include "commands.hpp"
#include "parse.hpp"
#include "report.hpp"

namespace tessera::tools {
namespace {

constexpr int found_a_mistake = 1;

void print_json(const Simulation& simulation) {
  const nlohmann::ordered_json result = {
      {"right", simulation.is_right()},      {"mistake", simulation.mistake},
      {"exchanges", simulation.exchanges},   {"messages", simulation.messages},
      {"bytes", simulation.bytes},           {"elements_checked", simulation.elements_checked},
      {"peak_bytes", simulation.peak_bytes}, {"bytes_received", simulation.bytes_received}};
  fmt::print("{}\n", result.dump(2));
}

void print_simulation(const RedistributePlan& plan, const Simulation& simulation) {
  fmt::print(
      "{}\n"
      "  {} messages of {} bytes in all\n"
      "  the largest rank holds {} bytes: source, target and what lies between steps\n"
      "  {}\n",
      to_string(plan), simulation.messages, simulation.bytes, simulation.peak_bytes,
      simulation.is_right() ? fmt::format("right: {} elements checked", simulation.elements_checked)
                            : "wrong: " + simulation.mistake);
}

int simulate(const RedistributeArguments& arguments) {
  const auto plan = plan_of(arguments);
  if (!arguments.svg.empty()) write_svg(arguments.svg, plan_svg(plan));
  const auto simulation = in_option("--shape", [&] { return tessera::simulate(plan); });
  if (arguments.json)
    print_json(simulation);
  else
    print_simulation(plan, simulation);
  return simulation.is_right() ? 0 : found_a_mistake;
}

}  // namespace

Command add_simulate(CLI::App& app) {
  auto* const options = app.add_subcommand(
      "simulate", "Run a redistribution on all ranks in this process and check the result");
  const auto arguments = std::make_shared<RedistributeArguments>();
  add_options(*options, *arguments);
  return {options, [arguments] { return simulate(*arguments); }};
}

}  // namespace tessera::tools
