// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/redistribute/collectives.hpp>

#include <fmt/format.h>

namespace tessera::detail {

int resolved_dim(int tensor_dim, std::size_t tensor_dims, const char* function) {
  const int count = static_cast<int>(tensor_dims);
  const int result = tensor_dim < 0 ? tensor_dim + count : tensor_dim;
  require(0 <= result && result < count, [&] {
    return fmt::format("{}: expected a dim of a {}-d View, got {}", function, count, tensor_dim);
  });
  return result;
}

Placements uniform(const DeviceMesh& mesh, Placement placement) {
  return std::vector<Placement>(static_cast<std::size_t>(mesh.ndim()), placement);
}

}  // namespace tessera::detail
