// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <tessera/ops/items.hpp>
#include <tessera/redistribute/detail/redistribution.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

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

}  // namespace

void read_items(const Execution& execution, std::span<const ItemRequest> items,
                const OwnerRef& owner) {
  if (items.empty()) return;
  const auto& mesh = *items.front().mesh;
  std::vector<ArrayRef> arrays;
  bool has_partial = false;
  for (const auto& item : items) {
    arrays.push_back(item.array);
    has_partial |= item.spec->placements().has_partial();
    if (*item.mesh == mesh) continue;
    const auto [expected, got] = told_apart(mesh, *item.mesh);
    throw MeshMismatch(
        fmt::format("items: expected tensors on one mesh, got {} and {}", expected, got));
  }
  std::vector<OwnedArray> memory;
  const auto reduce = [&](Operation& operation) {
    std::uint64_t hash = items.size();
    for (const auto& item : items)
      hash = hash_combine(hash_combine(hash, item.spec->hash()), item.array.type);
    operation.agree(hash, [&] { return fmt::format("items of {} tensors", items.size()); });
    if (!mesh.coordinate()) return;
    std::vector<Redistributor> redistributors;
    std::vector<Pieces> pieces;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto& spec = *items[i].spec;
      if (!spec.placements().has_partial()) continue;
      const auto target = replicated(spec.layout(), spec.shape());
      redistributors.push_back(cached_redistributor(mesh, spec, target, arrays[i].type, {}));
      memory.push_back(allocate_array(arrays[i].type, {}, arrays[i].space, "tessera::items"));
      pieces.push_back({arrays[i], memory.back().array});
      arrays[i] = memory.back().array;
    }
    const auto keep = [&] {
      return std::make_shared<std::pair<std::shared_ptr<void>, std::vector<OwnedArray>>>(owner(),
                                                                                         memory);
    };
    keeping(
        mesh.communicator(),
        [&] { run_together(execution, redistributors, pieces, "tessera::items"); }, keep);
  };
  if (has_partial) collectively(mesh, "items", reduce);
  if (!mesh.coordinate()) return;
  execution.fence("tessera::items: before reading");
  for (std::size_t i = 0; i < items.size(); ++i) read_value(execution, arrays[i], items[i].value);
}

}  // namespace tessera::detail
