// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tessera/grad/shapes.hpp>
#include <tessera/sharding/detail/shapes.hpp>

namespace tessera::detail {

std::vector<int> inverse_order(const std::vector<int>& order, int tensor_dims) {
  const auto dims = resolved_order(order, tensor_dims);
  std::vector<int> result(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d)
    result[static_cast<std::size_t>(dims[d])] = static_cast<int>(d);
  return result;
}

std::int64_t opposite_shift(std::int64_t shift, std::int64_t extent) {
  return extent == 0 ? 0 : -(shift % extent);  // -shift may have no number
}

Range range_along(const Extents& shape, std::size_t dim, int tensor_dim, const Range& range) {
  return dim == static_cast<std::size_t>(tensor_dim) ? range : Range{0, shape[dim]};
}

}  // namespace tessera::detail
