// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;

namespace {

using docs::check;
using docs::contains;

void direct() {
  MeshLayout mesh({2, 3}, {"dp", "tp"});
  DTensorSpec source(mesh, {Shard(0), Shard(1)}, {9, 14});
  DTensorSpec target(mesh, {Shard(1), Shard(0)}, {9, 14});
  auto plan = make_plan(source, target, element_type<double>());

  std::int64_t received = 0;
  for (const Step& step : plan.steps(0))  // what mesh rank 0 does
    for (const Phase& phase : step.phases)
      for (const auto& block : phase.receive)  // from whom, and what
        if (block.peer != 0) received += block.size();
  check(plan.exchanges() == 1 && received * 8 == 48, "48 bytes, as in the picture");

  Simulation run = simulate(plan);  // all six ranks, in this process
  check(run.is_right() && run.messages == 12 && run.bytes == 736, "12 messages of 736 bytes");
}

void reductions() {
  MeshLayout mesh({4});
  DTensorSpec partial(mesh, {Partial()}, {1000});
  DTensorSpec replicated(mesh, {Replicate()}, {1000});
  auto plan = make_plan(partial, replicated, element_type<double>());
  const auto steps = plan.steps(0);
  check(plan.exchanges() == 1 && steps.size() == 1, "one exchange");
  check(steps[0].kind == StepKind::reduce && steps[0].phases.size() == 2, "of two phases");
  check(steps[0].phases[0].contributions == 4, "of four contributions");
}

void two_exchanges() {
  MeshLayout mesh({3, 4});
  DTensorSpec source(mesh, {Partial(), Shard(0)}, {50, 70});
  DTensorSpec target(mesh, {Shard(1), Replicate()}, {50, 70});
  auto plan = make_plan(source, target, element_type<double>());
  check(plan.exchanges() == 2, "a reduction, then an exchange");
  check(simulate(plan).is_right(), "right");
}

void limits() {
  MeshLayout mesh({4});
  DTensorSpec source(mesh, {Shard(0)}, {4000, 4000});
  DTensorSpec target(mesh, {Shard(1)}, {4000, 4000});
  auto plan = make_plan(source, target, element_type<double>(), {.extra_memory = 1 << 20});
  check(plan.cost().extra_memory <= 1 << 20, "at most 1 MiB under way");
}

void models() {
  MeshLayout machine({1024});
  DTensorSpec source(machine, {Shard(0)}, {1024, 1024});
  DTensorSpec target(machine, {Shard(1)}, {1024, 1024});
  PlanOptions options{.ranks_per_node = {64}};
  auto by_nodes = make_plan(source, target, element_type<double>(), options);
  options.cost_model.seconds_per_inter_node_message = 0;
  options.cost_model.seconds_per_message = 0;
  auto direct = make_plan(source, target, element_type<double>(), options);
  check(by_nodes.exchanges() == 3 && direct.exchanges() == 1, "messages cost, or not");
}

}  // namespace

int main() {
  direct();
  reductions();
  two_exchanges();
  limits();
  models();
  return docs::status();
}
