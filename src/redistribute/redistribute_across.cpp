// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include <tessera/comm/collectives.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/redistribute/redistribute.hpp>

#include "agreement/control.hpp"

namespace tessera::detail {

void require_pair(const DeviceMesh& source, const DeviceMesh& target, const char* function) {
  require(!source.is_null(), [&] {
    return fmt::format(
        "{}: expected a tensor on a mesh, also on ranks off it, which pass what the call that made "
        "it returned there; got a null handle",
        function);
  });
  require<MeshMismatch>(source.communicator() == target.communicator(), [&] {
    return fmt::format("{}: expected a mesh of the communicator of {}, got mesh {} of another one",
                       function, to_string(source), to_string(target));
  });
}

std::string AcrossCall::operator()() const {
  return fmt::format(
      "{} of a {}-d tensor of {} from mesh {} to {}{}{}", function, tensor_dims, to_string(type),
      to_string(meshes.source), target,
      options.wire_order == WireOrder::first_dim_fastest ? ", first dim fastest" : "",
      space_in_words(options.on_device));
}

std::uint64_t AcrossCall::hash() const {
  auto hash = hash_combine(hash_combine(source_hash, target_hash), tensor_dims);
  return hash_combine(hash_combine(hash, type), hash_of(options));
}

namespace {

/// Returns whether every rank of the target is one of the source.
bool all_know_source(const Meshes& meshes) {
  return std::ssize(calls_of(meshes)->ranks) == meshes.source.size();
}

/// Returns the call without its target.
AcrossCall started_call(const char* function, const Meshes& meshes, const DTensorSpec& source,
                        ElementType type, const RedistributeOptions& options) {
  AcrossCall call{function, meshes, options, type, source.shape().size()};
  if (all_know_source(meshes)) call.source_hash = source.hash();
  return call;
}

}  // namespace

AcrossCall across_call(const char* function, const Meshes& meshes, const DTensorSpec& source,
                       const Placements& target, ElementType type,
                       const RedistributeOptions& options) {
  auto call = started_call(function, meshes, source, type, options);
  const auto resolved = target.resolved(source.tensor_dims(), function);
  call.target_hash = resolved.hash();
  call.target = fmt::format("mesh {} as {}", to_string(meshes.target), to_string(resolved));
  return call;
}

AcrossCall across_call(const char* function, const Meshes& meshes, const DTensorSpec& source,
                       const DTensorSpec& target, ElementType type,
                       const RedistributeOptions& options) {
  auto call = started_call(function, meshes, source, type, options);
  call.target_hash = target.hash();
  call.target = to_string(target);
  return call;
}

namespace {

using Numbers = std::vector<std::int64_t>;

/// Encodes all of a spec but the layout.
Numbers to_numbers(const DTensorSpec& spec) {
  Numbers numbers(spec.shape().begin(), spec.shape().end());
  const auto& placements = spec.placements();
  for (int d = 0; d < std::ssize(placements); ++d) {
    const auto& placement = placements[static_cast<std::size_t>(d)];
    const bool is_shard = placement.is_shard();
    numbers.push_back(is_shard ? 0 : placement.is_partial() ? 1 : 2);
    numbers.push_back(is_shard                 ? placement.dim()
                      : placement.is_partial() ? static_cast<std::int64_t>(placement.op())
                                               : 0);
    numbers.push_back(placements.split_position(d));
  }
  for (const auto& list : spec.boundaries()) {
    numbers.push_back(std::ssize(list));
    numbers.insert(numbers.end(), list.begin(), list.end());
  }
  return numbers;
}

DTensorSpec from_numbers(const Numbers& numbers, const MeshLayout& layout, int tensor_dims,
                         const char* function) {
  auto next = numbers.begin();
  Extents shape;
  for (int d = 0; d < tensor_dims; ++d) shape.push_back(*next++);
  std::vector<Placement> placements;
  std::vector<int> positions;
  for (int d = 0; d < layout.ndim(); ++d) {
    const auto kind = *next++;
    const auto value = static_cast<int>(*next++);
    placements.push_back(kind == 0   ? Placement(Shard(value))
                         : kind == 1 ? Placement(Partial(static_cast<ReduceOp>(value)))
                                     : Placement(Replicate()));
    positions.push_back(static_cast<int>(*next++));
  }
  Boundaries boundaries;
  for (int d = 0; d < tensor_dims; ++d) {
    const auto size = *next++;
    boundaries.emplace_back(next, next + size);
    next += size;
  }
  return DTensorSpec(layout, Placements(std::move(placements), std::move(positions)), shape,
                     std::move(boundaries), function);
}

}  // namespace

DTensorSpec source_spec(const Meshes& meshes, const DTensorSpec& mine, const char* function) {
  if (all_know_source(meshes)) return mine;
  const auto& source = meshes.source;
  const auto& calls = *calls_of(meshes);
  const Group group{source.communicator(), calls.ranks, calls.position};
  const auto first = std::ranges::find(calls.ranks, source.layout().ranks().front());
  const auto root = static_cast<int>(first - calls.ranks.begin());
  Numbers numbers;
  if (calls.position == root) numbers = to_numbers(mine);
  auto size = static_cast<std::int64_t>(numbers.size());
  const auto from_root = [&](std::span<std::byte> data) {
    broadcast(group, data, root, TraceKind::metadata, "tessera::redistribute");
  };
  from_root(std::as_writable_bytes(std::span(&size, 1)));
  numbers.resize(static_cast<std::size_t>(size));
  from_root(std::as_writable_bytes(std::span(numbers)));
  auto spec = from_numbers(numbers, source.layout(), mine.tensor_dims(), function);
  require(!source.coordinate() || spec == mine, [&] {
    return fmt::format("{}: expected the tensor that mesh rank 0 passes, {}, got {}", function,
                       to_string(spec), to_string(mine));
  });
  return spec;
}

DTensorSpec spec_on(const DeviceMesh& mesh, const DTensorSpec& source, const DTensorSpec& target,
                    const char* function) {
  require<MeshMismatch>(target.layout() == mesh.layout(), [&] {
    return fmt::format("{}: expected a spec on mesh {}, got one on mesh {}", function,
                       to_string(mesh), to_string(target.layout()));
  });
  require(target.tensor_dims() == source.tensor_dims(), [&] {
    return fmt::format("{}: expected a target of shape {}, got {}", function,
                       to_string(source.shape()), to_string(target.shape()));
  });
  return target;
}

DTensorSpec spec_on(const DeviceMesh& mesh, const DTensorSpec& source, const Placements& target,
                    const char* function) {
  return DTensorSpec(mesh.layout(), target, source.shape(), {}, function);
}

}  // namespace tessera::detail
