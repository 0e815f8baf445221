// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/tensor/detail/owned_array.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera::detail {

/// Gives out memory that kernels of one call need.
///
/// To allocate and to free memory takes longer than many kernels, most of all on a device. So a call on a
/// mesh and without an instance reuses memory of earlier calls, as results do: its kernels run one after
/// another on the default instance. Any other call allocates memory; if that is a device's, it waits for its
/// kernels before it frees it.
class Temporaries {
 public:
  /// `mesh` is null where there is none.
  Temporaries(const Execution& execution, const DeviceMesh* mesh)
      : execution_(execution), mesh_(mesh) {}
  Temporaries(Execution&&, const DeviceMesh*) = delete;  // it would be gone
  Temporaries(const Temporaries&) = delete;
  Temporaries& operator=(const Temporaries&) = delete;

  /// Returns an array in row-major order, which is not initialised. It counts as in use while its
  /// `memory` is held.
  OwnedArray allocate(ElementType type, const Extents& shape, MemorySpace space, const char* label);

  /// Ends the use of all arrays: waits for the kernels if device memory is fresh.
  void finish() const;

 private:
  const Execution& execution_;
  const DeviceMesh* mesh_;
  bool is_fresh_on_device_ = false;
  std::vector<const void*> given_;  ///< memory on a device that the recycler has kept
};

}  // namespace tessera::detail
