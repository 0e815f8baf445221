// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/tensor/detail/owned_array.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera::detail {

/// Gives out memory that kernels of one call need.
///
/// Fresh memory of a device takes longer to get and to give back than many kernels take. So a call on a mesh
/// and without an instance, whose kernels all run on the default instance, one after another, takes
/// memory of an earlier call. Other calls take fresh memory, and wait for their kernels at their end.
class Temporaries {
 public:
  /// `mesh` is null where there is none.
  Temporaries(const Execution& execution, const DeviceMesh* mesh)
      : execution_(execution), mesh_(mesh) {}
  Temporaries(const Temporaries&) = delete;
  Temporaries& operator=(const Temporaries&) = delete;

  /// Returns an array in row-major order, which is not initialised. It counts as in use while its
  /// `memory` is held.
  OwnedArray allocate(ElementType type, const Extents& shape, MemorySpace space, const char* label);

  /// Ends the use of all arrays: waits for the kernels if memory is fresh.
  void finish() const;

 private:
  const Execution& execution_;
  const DeviceMesh* mesh_;
  bool is_fresh_on_device_ = false;
};

}  // namespace tessera::detail
