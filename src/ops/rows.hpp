// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/placement/placement.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/tensor/detail/owned_array.hpp>
#include <tessera/tensor/execution.hpp>

#include "ops/temporaries.hpp"

namespace tessera::detail {

/// Combines what ranks have of a dim of a tensor: one number for each row along it.
class Rows {
 public:
  /// `mesh` and `spec` are null where this rank has all.
  Rows(const Execution& execution, Temporaries& temporaries, const DeviceMesh* mesh,
       const DTensorSpec* spec, std::int64_t dim, const char* label);

  /// Returns whether several ranks have parts of a row.
  bool are_split() const { return are_split_; }

  /// Returns the largest numbers, or the sums, of all ranks. The array has extent 1 along the dim.
  /// Collective over the mesh where rows are split, in a call that the ranks have agreed on.
  OwnedArray combined(const OwnedArray& mine, ReduceOp op) const;

 private:
  const Execution& execution_;
  Temporaries& temporaries_;
  const DeviceMesh* mesh_;
  const DTensorSpec* spec_;
  std::int64_t dim_;
  const char* label_;
  bool are_split_ = false;
};

}  // namespace tessera::detail
