// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <tessera/tensor/array_ref.hpp>

namespace tessera::detail {

/// Holds an array and its memory.
struct OwnedArray {
  ArrayRef array;
  std::shared_ptr<void> memory;
};

/// Allocates an array in row-major order without initialising it. `label` is for the tools of Kokkos.
OwnedArray allocate_array(ElementType type, const Extents& shape, MemorySpace space,
                          const char* label);

}  // namespace tessera::detail
