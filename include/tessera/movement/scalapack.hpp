// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera {

/// Holds the nine integers by which ScaLAPACK describes a matrix: DTYPE, CTXT, M, N, MB, NB, RSRC,
/// CSRC, LLD.
using ScalapackDescriptor = std::array<int, 9>;

namespace detail {

/// Makes the descriptor of a matrix whose local pieces have this leading dimension.
ScalapackDescriptor descriptor_of(const DTensorSpec& spec, std::int64_t leading_dimension,
                                  int context);

}  // namespace detail

/// Returns the descriptor of a matrix, so that ScaLAPACK works on the tensor's local pieces where they
/// are: pass to_local().data(). `context` is the BLACS context of the process grid, which is row-major
/// as meshes are ('R') and has the mesh's shape and ranks.
///
/// Local. Errors: InvalidArgument unless the tensor is a matrix on a mesh of 2 dims under
///        {Cyclic(0, mb), Cyclic(1, nb)}, with columns that are contiguous as those of a LayoutLeft View
///        are; for extents above 2^31 − 1.
template <LocalView V>
ScalapackDescriptor descriptor(const DTensor<V>& tensor, int context = 0) {
  static_assert(V::rank() == 2, "descriptor: expected a matrix");
  return detail::named("descriptor", [&] {
    const auto& view = tensor.to_local();
    const auto rows = static_cast<std::int64_t>(view.extent(0));
    require(rows <= 1 || view.stride(0) == 1,
            "expected contiguous columns, as those of a View in LayoutLeft are");
    // Where there is one column or none, Kokkos may give any stride.
    const auto stride = static_cast<std::int64_t>(view.stride(1));
    return detail::descriptor_of(tensor.spec(), view.extent(1) > 1 ? stride : rows, context);
  });
}

/// Returns the spec of the matrix that a descriptor describes, on a mesh that has the shape of its
/// process grid. Local.
///
/// Errors: InvalidArgument for a mesh of another number of dims than 2, a DTYPE other than 1, blocks
///         below 1, or a matrix whose first block is not on process (0, 0).
DTensorSpec spec_of(const ScalapackDescriptor& descriptor, const DeviceMesh& mesh);

}  // namespace tessera
