// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tessera/engine/detail/recycler.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/view_traits.hpp>

#include "ops/temporaries.hpp"

namespace tessera::detail {
namespace {

/// Returns memory of an earlier call that nobody uses any more, else fresh memory, which is kept.
template <class Space>
OwnedArray reused(Recycler& memory, ElementType type, const Extents& shape, MemorySpace space,
                  const char* label) {
  using Bytes = Kokkos::View<std::byte*, Kokkos::LayoutRight, Space>;
  const Extents bytes{std::max<std::int64_t>(1, product(shape) * type.size)};
  const auto view = memory.view_for_any<Bytes>(bytes, label);
  return {row_major(view.data(), type, shape, space), held(view)};
}

}  // namespace

OwnedArray Temporaries::allocate(ElementType type, const Extents& shape, MemorySpace space,
                                 const char* label) {
  if (mesh_ == nullptr || execution_.is_given()) {
    is_fresh_on_device_ |= is_on_device(space);
    return allocate_array(type, shape, space, label);
  }
  auto& memory = recycler(*mesh_);
  if (!is_on_device(space)) return reused<Kokkos::HostSpace>(memory, type, shape, space, label);
  auto result =
      reused<Kokkos::DefaultExecutionSpace::memory_space>(memory, type, shape, space, label);
  given_.push_back(result.array.data);
  return result;
}

void Temporaries::finish() const {
  // What the recycler does not keep is freed: it was too large, or later memory has taken its place.
  const bool is_freed =
      std::ranges::any_of(given_, [&](const void* data) { return !recycler(*mesh_).keeps(data); });
  if (is_fresh_on_device_ || is_freed) execution_.fence("tessera::ops: memory of one call");
}

}  // namespace tessera::detail
