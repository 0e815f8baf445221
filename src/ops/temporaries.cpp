// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tessera/engine/detail/recycler.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/view_traits.hpp>

#include "ops/temporaries.hpp"

namespace tessera::detail {
OwnedArray Temporaries::allocate(ElementType type, const Extents& shape, MemorySpace space,
                                 const char* label) {
  if (!is_on_device(space)) return allocate_array(type, shape, space, label);
  if (mesh_ == nullptr || execution_.is_given()) {
    is_fresh_on_device_ = true;
    return allocate_array(type, shape, space, label);
  }
  using Bytes =
      Kokkos::View<std::byte*, Kokkos::LayoutRight, Kokkos::DefaultExecutionSpace::memory_space>;
  auto& memory = recycler(*mesh_);
  const Extents bytes{std::max<std::int64_t>(1, product(shape) * type.size)};
  const auto view = memory.view_for_any<Bytes>(bytes, label);
  is_fresh_on_device_ |= !memory.keeps(view.data());
  return {row_major(view.data(), type, shape, space), held(view)};
}

void Temporaries::finish() const {
  if (is_fresh_on_device_) execution_.fence("tessera::ops: memory of one call");
}

}  // namespace tessera::detail
