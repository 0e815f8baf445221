// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/tensor/array_ref.hpp>

#include "device/chosen_device.hpp"

namespace tessera {
namespace {

// Set before main(), because the first mesh asks for the device.
[[maybe_unused]] const auto no_query_before = detail::set_device_query([] {
  if (!Kokkos::is_initialized()) return -1;
  return detail::has_device ? Kokkos::device_id() : 0;
});

}  // namespace

ArrayRef ArrayRef::part(const Extents& offset, const Extents& shape) const {
  ArrayRef result = *this;
  std::int64_t distance = 0;
  for (std::size_t d = 0; d < offset.size(); ++d) distance += offset[d] * strides[d];
  result.data += distance * type.size;
  result.extents = shape;
  return result;
}

bool ArrayRef::is_row_major() const {
  if (size() == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    if (extents[d] != 1 && strides[d] != expected) return false;
    expected *= extents[d];
  }
  return true;
}

ArrayRef row_major(std::byte* data, ElementType type, const Extents& shape, MemorySpace space) {
  return {data, type, shape, row_major_strides(shape), space};
}

}  // namespace tessera
