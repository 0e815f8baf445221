// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tessera/picture/plan_svg.hpp>

#include "arguments.hpp"
#include "commands.hpp"
#include "debug/rank_loads.hpp"
#include "report.hpp"

namespace tessera::tools {
namespace {

using detail::RankLoad, detail::RankLoads;
using Json = nlohmann::ordered_json;

std::vector<Quantity> quantities_of(const RankLoads& loads) {
  std::vector<Quantity> result = {{"elements before"}, {"elements after"}, {"bytes received"},
                                  {"bytes needed"},    {"messages"},       {"memory"}};
  for (int rank = 0; rank < loads.size(); ++rank) {
    const auto load = loads.of(rank);
    const std::int64_t values[] = {load.source_elements,   load.target_elements,
                                   load.bytes_received,    load.bytes_needed,
                                   load.messages_received, load.memory};
    for (std::size_t i = 0; i < result.size(); ++i) result[i].by_rank.push_back(values[i]);
  }
  return result;
}

std::string list_of_loads(const RankLoads& loads) {
  std::vector<std::vector<std::string>> rows = {
      {"rank", "before", "after", "received", "needed", "messages", "memory"}};
  for (int rank = 0; rank < loads.size(); ++rank) {
    const auto load = loads.of(rank);
    rows.push_back({std::to_string(rank), to_string(load.source), to_string(load.target),
                    std::to_string(load.bytes_received), std::to_string(load.bytes_needed),
                    std::to_string(load.messages_received), std::to_string(load.memory)});
  }
  return table(rows);
}

Json list_json(const RankLoads& loads) {
  Json result = Json::array();
  for (int rank = 0; rank < loads.size(); ++rank) {
    const auto load = loads.of(rank);
    result.push_back({{"rank", rank},
                      {"before", to_json(load.source)},
                      {"after", to_json(load.target)},
                      {"bytes_received", load.bytes_received},
                      {"bytes_needed", load.bytes_needed},
                      {"messages", load.messages_received},
                      {"memory", load.memory}});
  }
  return result;
}

Json plan_json(const RedistributePlan& plan, const RankLoads& loads) {
  const auto cost = plan.cost();
  Json result = {{"source", to_string(plan.source())},
                 {"target", to_string(plan.target())},
                 {"element_type", to_string(plan.element_type())},
                 {"ranks", loads.size()},
                 {"exchanges", plan.exchanges()},
                 {"seconds", cost.seconds},
                 {"message_memory", cost.extra_memory}};
  if (loads.size() <= most_ranks_listed)
    result["by_rank"] = list_json(loads);
  else
    result["summary"] = summary_json(quantities_of(loads));
  return result;
}

void print_plan(const RedistributePlan& plan, const RankLoads& loads) {
  fmt::print("{}\n", plan.explain());
  if (loads.size() <= most_ranks_listed)
    fmt::print("{}", list_of_loads(loads));
  else
    fmt::print("{} ranks\n{}", loads.size(), summary(quantities_of(loads)));
  const auto cost = plan.cost();
  fmt::print(
      "\nIn bytes. Received: from other ranks; needed: the least that it could be. Memory: source, "
      "target and\nwhat lies between steps; messages under way need at most {} besides.\n"
      "Estimated time: {:.3g} s.\n",
      cost.extra_memory, cost.seconds);
}

int explain(const RedistributeArguments& arguments) {
  const auto plan = plan_of(arguments);
  const RankLoads loads(plan);
  if (!arguments.svg.empty()) write_svg(arguments.svg, plan_svg(plan));
  if (arguments.json)
    fmt::print("{}\n", plan_json(plan, loads).dump(2));
  else
    print_plan(plan, loads);
  return 0;
}

}  // namespace

Command add_explain(CLI::App& app) {
  auto* const options = app.add_subcommand(
      "explain", "What a redistribution does: steps, bytes, memory and time of every rank");
  const auto arguments = std::make_shared<RedistributeArguments>();
  add_options(*options, *arguments);
  return {options, [arguments] { return explain(*arguments); }};
}

}  // namespace tessera::tools
