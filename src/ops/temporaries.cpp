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

template <class Space>
OwnedArray recycled_in(Recycler& recycler, ElementType type, const Extents& shape,
                       MemorySpace space, const char* label) {
  using Bytes = Kokkos::View<std::byte*, Kokkos::LayoutRight, Space>;
  const Extents bytes{std::max<std::int64_t>(1, product(shape) * type.size)};
  if (const auto* view = recycler.find_any<Bytes>(bytes))
    return {row_major(view->data(), type, shape, space), held(*view)};
  const auto view = allocate<Bytes>(bytes, label);
  recycler.keep_for_any(view);
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
  if (space == MemorySpace::host)
    return recycled_in<Kokkos::HostSpace>(memory, type, shape, space, label);
  return recycled_in<Kokkos::DefaultExecutionSpace::memory_space>(memory, type, shape, space,
                                                                  label);
}

void Temporaries::finish() const {
  if (is_fresh_on_device_) execution_.fence("tessera::ops: memory of one call");
}

}  // namespace tessera::detail
