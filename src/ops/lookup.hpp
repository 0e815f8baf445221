// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For take and cross_entropy: copies elements that indices name.
#pragma once

#include <cstdint>

#include <tessera/sharding/sections.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera::detail {

/// Describes a copy of elements of `table` to `result`, where an index says which element along one
/// dim of the table is copied. The other dims of the table, and those of the indices, are dims of
/// the result. Strides count elements.
struct Lookup {
  const char* function;  ///< name in errors
  const char* label;     ///< name in the tools of Kokkos
  const char* what;      ///< what the indices are, in errors: "an index"
  ArrayRef table;
  ArrayRef indices;
  ArrayRef result;
  Extents table_strides = {};  ///< one for each dim of the result; 0 along a dim of the indices
  Extents index_strides = {};  ///< one for each dim of the result; 0 along a dim of the table
  std::int64_t dim_stride;     ///< stride of the table along the dim that is indexed
  Sections sections;           ///< global indices that this rank has along this dim
  std::int64_t extent;         ///< global extent of this dim
  std::int64_t least;          ///< smallest index allowed; negative ones count from the end
};

/// Copies the elements. Where this rank lacks an index, the result is 0.
/// Errors: InvalidArgument for an index that is not in [least, extent), before anything is written.
/// In memory of a device the kernel aborts the program instead.
void look_up(const Execution& execution, const Lookup& lookup);

}  // namespace tessera::detail
