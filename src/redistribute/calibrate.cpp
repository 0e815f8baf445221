// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/redistribute/calibrate.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>

#include "comm/exchange.hpp"
#include "mpi/clock.hpp"
#include "plan/node_grid.hpp"
#include "redistribute/tuning.hpp"

namespace tessera {
namespace {

namespace calibration = detail::calibration;

constexpr auto label = "tessera::calibrate";
using Doubles = Kokkos::View<double*, Kokkos::HostSpace>;
constexpr double least = 1e-12;

/// Returns the seconds of the fastest of `repetitions` calls on this rank; ranks begin each one
/// together.
template <class Call>
double fastest(const DeviceMesh& mesh, int repetitions, const Call& call) {
  double result = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i) {
    barrier(mesh.group(), TraceKind::metadata, label);
    const double start = detail::seconds();
    call();
    result = std::min(result, detail::seconds() - start);
  }
  return result;
}

/// Returns the model with each number from the rank on which it is largest.
CostModel slowest(const DeviceMesh& mesh, CostModel model) {
  const auto all = all_gather_value(mesh.group(), model, TraceKind::metadata, label);
  for (const auto member :
       {&CostModel::seconds_per_message, &CostModel::seconds_per_byte,
        &CostModel::seconds_per_reduced_byte, &CostModel::seconds_per_inter_node_message,
        &CostModel::seconds_per_node_byte})
    for (const auto& other : all) model.*member = std::max(model.*member, other.*member);
  return model;
}

/// Returns the seconds of the fastest of `repetitions` redistributions on this rank.
double seconds_of(const DeviceMesh& mesh, Placement from, Placement to, const Extents& shape,
                  int repetitions) {
  const auto all = [&](Placement placement) {
    return Placements(std::vector<Placement>(static_cast<std::size_t>(mesh.ndim()), placement));
  };
  const DTensorSpec source(mesh.layout(), all(from), shape);
  const DTensorSpec target(mesh.layout(), all(to), shape);
  const auto redistributor = make_plan(source, target, element_type<double>()).bind(mesh);
  const auto shape_of = [&](const DTensorSpec& spec) { return spec.local_shape(mesh.rank()); };
  const auto memory_for = [&](const DTensorSpec& spec) {
    return Doubles(std::string(label), static_cast<std::size_t>(product(shape_of(spec))));
  };
  const auto array = [&](const Doubles& memory, const DTensorSpec& spec) {
    const auto flat = array_ref(memory);
    return row_major(flat.data, flat.type, shape_of(spec), flat.space);
  };
  const auto source_memory = memory_for(source);
  const auto target_memory = memory_for(target);
  const auto execute = [&] {
    detail::RedistributorAccess::execute(redistributor, Execution(), array(source_memory, source),
                                         array(target_memory, target), label);
  };
  return fastest(mesh, repetitions, [&] {
    detail::keeping(mesh.communicator(), execute,
                    [&] { return detail::held(source_memory, target_memory); });
  });
}

/// Returns the smallest shift for which no rank shares a node with the rank `shift` positions after
/// it; 0 if there is none.
int inter_node_shift(const DeviceMesh& mesh, const detail::NodeGrid& nodes) {
  for (int shift = 1; shift < mesh.size(); ++shift) {
    bool cross_nodes = true;
    for (int rank = 0; cross_nodes && rank < mesh.size(); ++rank)
      cross_nodes = !nodes.are_on_one_node(rank, (rank + shift) % mesh.size());
    if (cross_nodes) return shift;
  }
  return 0;
}

/// Returns the seconds in which every rank sends `messages` messages of `bytes` bytes to the rank
/// `shift` after it.
double seconds_of_messages(const DeviceMesh& mesh, int shift, std::size_t messages,
                           std::int64_t bytes) {
  const auto group = mesh.group();
  const int next = group.rank_at(shift);
  const int previous = group.rank_at(-shift);
  const auto size = messages * static_cast<std::size_t>(bytes);
  auto buffer = std::make_shared<std::vector<std::byte>>(2 * size);
  auto* const incoming = buffer->data();
  const auto* const outgoing = incoming + size;
  const auto exchange_all = [&] {
    Exchange exchange(mesh.communicator(), TraceKind::metadata, label, mesh.size());
    for (std::size_t i = 0; i < messages; ++i)
      exchange.receive(incoming + i * static_cast<std::size_t>(bytes), bytes, previous);
    for (std::size_t i = 0; i < messages; ++i)
      exchange.send(outgoing + i * static_cast<std::size_t>(bytes), bytes, next);
    exchange.wait();
    exchange.finish();
  };
  return fastest(mesh, calibration::repetitions, [&] {
    detail::keeping(mesh.communicator(), exchange_all, [&] { return buffer; });
  });
}

/// Measures the costs of data from other nodes, with all ranks of each node receiving at once.
void measure_between_nodes(const DeviceMesh& mesh, CostModel& model) {
  const detail::NodeGrid nodes(mesh.layout(), mesh.ranks_per_node());
  const int shift = inter_node_shift(mesh, nodes);
  if (shift == 0) return;
  const double tiny = seconds_of_messages(mesh, shift, calibration::tiny_messages, 8);
  const double large =
      seconds_of_messages(mesh, shift, calibration::large_messages, calibration::large_bytes);
  model.seconds_per_inter_node_message = std::max(least, tiny / calibration::tiny_messages);
  const double seconds_per_byte =
      (large - calibration::large_messages * model.seconds_per_inter_node_message) /
      (calibration::large_messages * calibration::large_bytes);
  model.seconds_per_node_byte =
      std::max(least, (seconds_per_byte - model.seconds_per_byte) / nodes.ranks_per_node());
}

/// Measures the costs within one node.
void measure_within_node(const DeviceMesh& mesh, CostModel& model) {
  constexpr double piece_bytes = calibration::rows * calibration::columns * sizeof(double);
  const std::int64_t n = mesh.size();
  const auto ranks = static_cast<double>(n);

  const double tiny = seconds_of(mesh, Shard(0), Shard(1), {n, n}, calibration::tiny_repetitions);
  const double moved =
      seconds_of(mesh, Shard(0), Shard(1), {calibration::rows * n, calibration::columns},
                 calibration::repetitions);
  const double reduced =
      seconds_of(mesh, Partial(), Shard(0), {calibration::rows, calibration::columns},
                 calibration::repetitions);
  const double received = piece_bytes * (ranks - 1) / ranks;
  model.seconds_per_message = std::max(least, tiny / (ranks - 1));
  model.seconds_per_byte = std::max(least, (moved - tiny) / received);
  model.seconds_per_reduced_byte =
      std::max(least, (reduced - tiny) / piece_bytes - model.seconds_per_byte);
}

}  // namespace

CostModel calibrate(const DeviceMesh& mesh) {
  if (!mesh.coordinate() || mesh.size() == 1) return {};
  return collectively(mesh, "calibrate", [&](Operation& operation) {
    operation.agree_always(0, [] { return std::string("calibrate"); });
    CostModel model;
    const auto node = mesh.on_node();
    if (node.size() > 1) measure_within_node(node, model);
    if (!mesh.ranks_per_node().empty()) measure_between_nodes(mesh, model);
    model = slowest(mesh, model);
    detail::set_cost_model(mesh, model);
    return model;
  });
}

}  // namespace tessera
