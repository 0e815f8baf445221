// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <tessera/redistribute/collectives.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {

/// Long enough that no message travels before its receiver asks for it.
inline const Extents many{3, 100'000};

inline DeviceMesh everyone() {
  return mesh_of({world_size()});
}

inline Matrix constant(double value, const Extents& shape = many) {
  const auto view = detail::allocate<Matrix>(shape, "constant");
  Kokkos::deep_copy(view, value);
  return view;
}

inline std::string wrong_constant(const Matrix& view, double value, const Extents& shape = many) {
  return wrong_view(view, shape, [&](const Extents&) { return value; });
}

inline Pending<Matrix> start_sum(const Matrix& mine, const DeviceMesh& mesh) {
  return all_reduce_async(mine, ReduceOp::sum, mesh, 0);
}

/// Calls `step` until it says that all is done, at most so long. Whether it did.
inline bool repeat_until(double seconds, const std::function<bool()>& step) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end)
    if (step()) return true;
  return false;
}

}  // namespace tessera::test
