// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <utility>

#include <tessera/comm/detail/clock.hpp>
#include <tessera/redistribute/calibrate.hpp>
#include <tessera/redistribute/redistributor.hpp>

namespace tessera {
namespace {

constexpr auto label = "tessera::calibrate";
using Bytes = Kokkos::View<double*, Kokkos::HostSpace>;

/// Seconds of the fastest of some executions, those of the slowest rank.
double seconds_of(const DeviceMesh& mesh, Placement from, Placement to, const Extents& shape,
                  int repetitions) {
  const auto all = [&](Placement placement) {
    return Placements(std::vector<Placement>(static_cast<std::size_t>(mesh.ndim()), placement));
  };
  const DTensorSpec source(mesh.layout(), all(from), shape);
  const DTensorSpec target(mesh.layout(), all(to), shape);
  const auto redistributor = make_plan(source, target, element_type<double>()).bind(mesh);
  const auto piece = [&](const DTensorSpec& spec) {
    const auto shape = spec.local_shape(mesh.rank());
    return std::pair(Bytes(label, static_cast<std::size_t>(product(shape))), shape);
  };
  const auto [source_data, source_shape] = piece(source);
  const auto [target_data, target_shape] = piece(target);
  const auto array = [](const Bytes& data, const Extents& shape) {
    auto result = array_ref(data);
    return row_major(result.data, result.type, shape, result.space);
  };
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i) {
    barrier(mesh.group(), TraceKind::metadata, label);
    const double start = detail::seconds();
    redistributor.execute(Execution(), array(source_data, source_shape),
                          array(target_data, target_shape), label);
    fastest = std::min(fastest, detail::seconds() - start);
  }
  const auto each = all_gather_value(mesh.group(), fastest, TraceKind::metadata, label);
  return *std::ranges::max_element(each);
}

}  // namespace

CostModel calibrate(const DeviceMesh& mesh) {
  CostModel model;
  if (!mesh.coordinate() || mesh.size() == 1) return model;
  constexpr std::int64_t rows = 256;
  constexpr std::int64_t columns = 2048;
  constexpr double piece_bytes = rows * columns * sizeof(double);
  constexpr double least = 1e-12;
  constexpr int repetitions = 5;
  const std::int64_t n = mesh.size();
  const auto ranks = static_cast<double>(n);

  const double tiny = seconds_of(mesh, Shard(0), Shard(1), {n, n}, 4 * repetitions);
  const double moved = seconds_of(mesh, Shard(0), Shard(1), {rows * n, columns}, repetitions);
  const double reduced = seconds_of(mesh, Partial(), Shard(0), {rows, columns}, repetitions);
  const double received = piece_bytes * (ranks - 1) / ranks;
  model.seconds_per_message = std::max(least, tiny / (ranks - 1));
  model.seconds_per_byte = std::max(least, (moved - tiny) / received);
  model.seconds_per_reduced_byte =
      std::max(least, (reduced - tiny) / piece_bytes - model.seconds_per_byte);
  detail::set_cost_model(mesh, model);
  return model;
}

}  // namespace tessera
