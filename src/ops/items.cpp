// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <tessera/ops/items.hpp>
#include <tessera/redistribute/detail/redistribution.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

#include "ops/temporaries.hpp"

namespace tessera::detail {
namespace {

void read_value(const Execution& execution, const ArrayRef& array, void* value) {
  const auto size = static_cast<std::size_t>(array.type.size);
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  if (array.space == MemorySpace::host) {
    std::memcpy(value, array.data, size);
    return;
  }
  const Kokkos::View<std::byte*, Kokkos::HostSpace, Unmanaged> to(static_cast<std::byte*>(value),
                                                                  size);
  const Kokkos::View<const std::byte*, Kokkos::DefaultExecutionSpace::memory_space, Unmanaged> from(
      array.data, size);
  Kokkos::deep_copy(execution.instance<MemorySpace::device>(), to, from);
  execution.instance<MemorySpace::device>().fence("tessera::items: before the host reads");
}

const DeviceMesh& mesh_of(std::span<const ItemRequest> items) {
  const auto& mesh = *items.front().mesh;
  for (const auto& item : items) {
    require(!item.mesh->is_null(),
            "items: expected tensors, got an empty DTensor, which has no mesh");
    if (*item.mesh == mesh) continue;
    const auto [expected, got] = told_apart(mesh, *item.mesh);
    throw MeshMismatch(
        fmt::format("items: expected tensors on one mesh, got {} and {}", expected, got));
  }
  return mesh;
}

bool has_partial(std::span<const ItemRequest> items) {
  return std::ranges::any_of(
      items, [](const ItemRequest& item) { return item.spec->placements().has_partial(); });
}

/// Holds what an exchange of items moves, and where their values are after it.
struct ItemMoves {
  std::vector<Redistributor> redistributors;
  std::vector<Pieces> pieces;
  std::vector<ArrayRef> arrays;
  std::shared_ptr<std::vector<OwnedArray>> memory = std::make_shared<std::vector<OwnedArray>>();
};

/// Agrees on the items, and prepares the moves that reduce them.
ItemMoves moves_of(Operation& operation, const Execution& execution, const DeviceMesh& mesh,
                   std::span<const ItemRequest> items) {
  Temporaries temporaries(execution, &mesh);
  std::uint64_t hash = items.size();
  for (const auto& item : items)
    hash = hash_combine(hash_combine(hash, item.spec->hash()), item.array.type);
  operation.agree(hash, [&] { return fmt::format("items of {} tensors", items.size()); });
  ItemMoves moves;
  for (const auto& item : items) {
    moves.arrays.push_back(item.array);
    if (!mesh.coordinate() || !item.spec->placements().has_partial()) continue;
    const auto& spec = *item.spec;
    const auto target = replicated(spec.layout(), spec.shape());
    const auto type = item.array.type;
    moves.redistributors.push_back(cached_redistributor(mesh, spec, target, type, {}));
    moves.memory->push_back(temporaries.allocate(type, {}, item.array.space, "tessera::items"));
    moves.pieces.push_back({item.array, moves.memory->back().array});
    moves.arrays.back() = moves.memory->back().array;
  }
  return moves;
}

std::shared_ptr<void> held_with_memory(const std::shared_ptr<void>& tensors,
                                       const ItemMoves& moves) {
  using Both = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
  return std::make_shared<Both>(tensors, moves.memory);
}

void read_values(const Execution& execution, std::span<const ArrayRef> arrays,
                 std::span<void* const> values) {
  for (std::size_t i = 0; i < arrays.size(); ++i) read_value(execution, arrays[i], values[i]);
}

std::vector<void*> values_of(std::span<const ItemRequest> items) {
  std::vector<void*> result;
  for (const auto& item : items) result.push_back(item.value);
  return result;
}

}  // namespace

void read_items(const Execution& execution, std::span<const ItemRequest> items,
                const OwnerRef& owner) {
  if (items.empty()) return;
  const auto& mesh = mesh_of(items);
  ItemMoves moves;
  if (has_partial(items))
    collectively(mesh, "items", [&](Operation& operation) {
      moves = moves_of(operation, execution, mesh, items);
      if (!mesh.coordinate()) return;
      keeping(
          mesh.communicator(),
          [&] { run_together(execution, moves.redistributors, moves.pieces, "tessera::items"); },
          [&] { return held_with_memory(owner(), moves); });
    });
  else
    for (const auto& item : items) moves.arrays.push_back(item.array);
  if (!mesh.coordinate()) return;
  execution.fence("tessera::items: before reading");
  read_values(execution, moves.arrays, values_of(items));
}

std::optional<PendingWork> start_items(Operation& operation, const Execution& execution,
                                       std::span<const ItemRequest> items,
                                       const std::shared_ptr<void>& owner) {
  const auto& mesh = mesh_of(items);
  if (!has_partial(items)) {
    read_items(execution, items, [&] { return owner; });
    return {};
  }
  const auto moves = moves_of(operation, execution, mesh, items);
  if (!mesh.coordinate()) return {};
  PendingWork work{{}, execution, held_with_memory(owner, moves), "tessera::items"};
  for (std::size_t i = 0; i < moves.redistributors.size(); ++i)
    work.moves.push_back(RedistributorAccess::move(moves.redistributors[i], moves.pieces[i]));
  work.complete = [arrays = moves.arrays, values = values_of(items)](const Execution& on) {
    on.fence("tessera::items: before reading");
    read_values(on, arrays, values);
  };
  return work;
}

}  // namespace tessera::detail
