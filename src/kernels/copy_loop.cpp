// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/copy_loop.hpp"

namespace tessera::detail {
namespace {

Extents in_bytes(const ArrayRef& array) {
  Extents result = array.strides;
  for (auto& stride : result) stride *= array.type.size;
  return result;
}

/// Returns the dim of extent > 1 with the smallest stride; the first one if several have it.
std::size_t innermost_dim(const ArrayRef& array) {
  std::size_t result = 0;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t d = 0; d < array.extents.size(); ++d) {
    const auto stride = std::abs(array.strides[d]);
    if (array.extents[d] == 1 || stride >= smallest) continue;
    result = d;
    smallest = stride;
  }
  return result;
}

}  // namespace

CopyLoop copy_loop(const CopyJob& job) {
  const auto& source = job.source;
  const auto& destination = job.destination;
  CopyLoop loop{source.data, destination.data, source.type.size, destination.extents, {},
                {},          job.stores};
  std::array strides{in_bytes(destination), in_bytes(source)};
  simplify(loop.extents, strides);
  loop.destination_strides = strides[0];
  loop.source_strides = strides[1];

  const auto ndims = loop.extents.size();
  if (ndims == 0 || strides[0][ndims - 1] != loop.run || strides[1][ndims - 1] != loop.run)
    return loop;
  loop.run *= loop.extents.pop_back();
  loop.destination_strides.pop_back();
  loop.source_strides.pop_back();
  return loop;
}

bool is_transposing(const ArrayRef& source, const ArrayRef& destination) {
  return innermost_dim(source) != innermost_dim(destination);
}

Extents dense_strides(const ArrayRef& array) {
  Extents strides = Extents::filled(array.extents.size(), 1);
  std::vector<std::size_t> order(array.extents.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(array.strides[a]) < std::abs(array.strides[b]);
  });
  std::int64_t size = 1;
  for (const auto dim : order) {
    strides[dim] = size;
    size *= array.extents[dim];
  }
  return strides;
}

}  // namespace tessera::detail
