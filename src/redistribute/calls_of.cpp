// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/extents/hash.hpp>
#include <tessera/redistribute/redistributor.hpp>

#include "comm/communicator_state.hpp"
#include "plan/mesh_pair.hpp"

namespace tessera::detail {
namespace {

/// Holds the logs of the calls from one mesh to others.
struct CallsAcross {
  std::vector<std::pair<MeshLayout, OperationLog*>> by_target;
};

}  // namespace

OperationLog* calls_of(const Meshes& meshes) {
  const auto& [source, target] = meshes;
  if (source.layout() == target.layout()) return MeshAccess::calls(source);
  if (!source.coordinate() && !target.coordinate()) return nullptr;
  auto& control = *source.communicator().state().control;
  auto& known = MeshAccess::attachment<CallsAcross>(source).by_target;
  const auto found =
      std::ranges::find(known, target.layout(), &std::pair<MeshLayout, OperationLog*>::first);
  if (found != known.end()) return found->second;
  constexpr std::uint64_t pair = 2;
  const auto key = hash_combine(hash_combine(pair, source.layout().hash()), target.layout().hash());
  const MeshPair both(source.layout(), target.layout());
  auto& log =
      control.log(key, both.ranks(), fmt::format("{} to {}", to_string(source), to_string(target)));
  known.emplace_back(target.layout(), &log);
  return &log;
}

}  // namespace tessera::detail
