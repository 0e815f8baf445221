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

void require_pair(const DeviceMesh& source, const DeviceMesh& target) {
  require(!source.is_null(), [&] {
    return "expected a tensor on a mesh, also on ranks off it, which pass what the call that made "
           "it returned there; got a null handle";
  });
  require<MeshMismatch>(source.communicator() == target.communicator(), [&] {
    return fmt::format("expected a mesh of the communicator of {}, got mesh {} of another one",
                       to_string(source), to_string(target));
  });
  require<MeshMismatch>(!MeshAccess::is_part(source, target), [&] {
    return fmt::format(
        "expected a tensor on a mesh that is the same for all ranks of mesh {}, got one on its "
        "part {}, which is another mesh of {} ranks at each coordinate of the other mesh dims; "
        "where all of these hold the same tensor, use from_local on mesh {} with Replicate in "
        "those mesh dims",
        to_string(target), to_string(source), source.size(), to_string(target));
  });
}

std::string AcrossCall::operator()() const {
  return fmt::format("{} of a {}-d tensor of {} from mesh {} to {}{}", function, tensor_dims,
                     to_string(type), with_ranks(meshes.source.layout()), target,
                     in_words(settings));
}

std::uint64_t AcrossCall::hash() const {
  auto hash = hash_combine(hash_combine(source_hash, target_hash), tensor_dims);
  return hash_combine(hash_combine(hash, type), hash_of(settings));
}

namespace {

/// Returns whether every rank of the target is one of the source.
bool all_know_source(const Meshes& meshes) {
  return std::ssize(calls_of(meshes)->ranks) == meshes.source.size();
}

}  // namespace

AcrossCall across_call(const Operation& operation, const Meshes& meshes, const DTensorSpec& source,
                       const Target& target, ElementType type, const PlanSettings& settings) {
  AcrossCall call{operation.name(), meshes, settings, type, source.shape().size()};
  if (all_know_source(meshes)) call.source_hash = source.hash();
  if (target.spec() != nullptr) {
    call.target_hash = target.spec()->hash();
    call.target = to_string(*target.spec());
  } else {
    const auto placements = resolved(target.placements(meshes.target.ndim()), source.tensor_dims());
    call.target_hash = with_sizes(placements.hash(), target);
    call.target = fmt::format(
        "mesh {} as {}", to_string(meshes.target),
        target.sizes().empty() ? to_string(placements) : to_string(target, meshes.target.ndim()));
  }
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
    numbers.push_back(placement.is_shard() ? 0 : placement.is_partial() ? 1 : 2);
    numbers.push_back(placement.dim());
    numbers.push_back(static_cast<std::int64_t>(placement.op()));
    numbers.push_back(static_cast<std::int64_t>(placement.rule()));
    numbers.push_back(placement.block());
    numbers.push_back(placements.split_position(d));
  }
  for (const auto& list : spec.boundaries()) {
    numbers.push_back(std::ssize(list));
    numbers.insert(numbers.end(), list.begin(), list.end());
  }
  return numbers;
}

DTensorSpec from_numbers(const Numbers& numbers, const MeshLayout& layout, int tensor_dims) {
  auto next = numbers.begin();
  Extents shape;
  for (int d = 0; d < tensor_dims; ++d) shape.push_back(*next++);
  std::vector<Placement> placements;
  std::vector<int> positions;
  for (int d = 0; d < layout.ndim(); ++d) {
    const auto kind = *next++;
    const auto dim = static_cast<int>(*next++);
    const auto op = static_cast<ReduceOp>(*next++);
    const auto rule = static_cast<ShardingRule>(*next++);
    const auto block = *next++;
    placements.push_back(kind == 0   ? sharding_of(rule, dim, block)
                         : kind == 1 ? Placement(Partial(op))
                                     : Placement(Replicate()));
    positions.push_back(static_cast<int>(*next++));
  }
  Boundaries boundaries;
  for (int d = 0; d < tensor_dims; ++d) {
    const auto size = *next++;
    boundaries.emplace_back(next, next + size);
    next += size;
  }
  return make_spec(layout, Placements(std::move(placements), std::move(positions)), shape,
                   std::move(boundaries));
}

}  // namespace

DTensorSpec source_spec(const Meshes& meshes, const DTensorSpec& mine) {
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
  auto spec = from_numbers(numbers, source.layout(), mine.tensor_dims());
  require(!source.coordinate() || spec == mine, [&] {
    return fmt::format("expected the tensor that mesh rank 0 passes, {}, got {}", to_string(spec),
                       to_string(mine));
  });
  return spec;
}

DTensorSpec spec_on(const DeviceMesh& mesh, const DTensorSpec& source, const Target& target) {
  const auto& shape = target.spec() != nullptr ? target.spec()->shape() : source.shape();
  auto result = target_spec(mesh.layout(), shape, target);
  require(result.tensor_dims() == source.tensor_dims(), [&] {
    return fmt::format("expected a target of shape {}, got {}", to_string(source.shape()),
                       to_string(shape));
  });
  return result;
}

}  // namespace tessera::detail
