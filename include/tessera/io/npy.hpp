// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tessera/io/detail/npy_pieces.hpp>
#include <tessera/io/npy_header.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/sharding/target.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>
#include <tessera/tensor/execution.hpp>
#include <tessera/tensor/factories.hpp>

/// Tessera reads and writes NumPy's .npy files with elements b1, i1 to i8, u1 to u8, f2 to f8, c8,
/// c16, and long double if it has 16 bytes (f16, c32). It reads versions 1.0 to 3.0, in both
/// storage orders and both byte orders.
namespace tessera {

namespace detail {

template <class V>
DTensor<V> read_npy(const Execution& execution, const std::string& path, const DeviceMesh& mesh,
                    const Target& target) {
  if constexpr (expect_allocatable<V>()) {
    constexpr auto type = element_type<typename V::value_type>();
    return collectively(mesh, "read_npy", [&](Operation& operation) {
      const auto header = header_for(operation, path, mesh, target, V::rank(), type);
      if (!mesh.coordinate())
        return allocate_dtensor<V>(
            mesh, make_spec(mesh.layout(), target.placements(mesh.ndim()), header.shape),
            "tessera::read_npy");
      const auto spec = target_spec(mesh.layout(), header.shape, target);
      require_representable<V>(spec);
      auto result = allocate_dtensor<V>(mesh, spec, "tessera::read_npy");
      read_piece(execution, path, header, mesh, spec, array_ref(result.to_local()));
      return result;
    });
  }
  return {};
}

template <class V>
void write_npy(const Execution& execution, const std::string& path, const DTensor<V>& tensor) {
  const auto& mesh = tensor.device_mesh();
  auto* const calls = mesh.is_null() ? nullptr : MeshAccess::calls(mesh);
  collectively(calls, "write_npy", [&](Operation& operation) {
    write_pieces(operation, execution, path, mesh, tensor.spec(), array_ref(tensor.to_local()));
  });
}

}  // namespace detail

/// Reads an .npy file straight into the local pieces: each rank reads its own elements by MPI-IO.
///
/// V is a managed, non-const View type in LayoutLeft or LayoutRight. Elements convert to those of
/// V: bool to any number, integers to integers that hold all their values, real numbers to
/// floating-point and complex ones (rounded), complex numbers to complex ones. Without a mesh it
/// takes that of the DeviceMeshScope; without a target all placements are Replicate. The result is
/// complete on return. Each rank also reads the header, and compares it and the size of the file
/// with those of mesh rank 0, as a relative path may lead elsewhere on each.
/// Example: auto x = read_npy<Kokkos::View<double**>>("x.npy", mesh, {Shard(0)});
/// Collective over the mesh. Off the mesh the result is empty and has shape 0.
/// Errors: IoError as in read_npy_header, for a file of another number of dims than V, for elements
/// that do not convert as above, for another file than rank 0 has; MpiError where MPI has no
/// communicator left for the file; InvalidArgument for a Partial, placements that do not fit, a spec
/// of another shape, static extents of V that differ or would be split, arguments that differ
/// between ranks; MeshMismatch for a spec on another mesh. All ranks throw the same error.
template <class V>
DTensor<V> read_npy(const std::string& path, const DeviceMesh& mesh,
                    const Target& target = all_replicate) {
  return detail::read_npy<V>(Execution(), path, mesh, target);
}
/// Takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> read_npy(const std::string& path, const Target& target = all_replicate) {
  return detail::read_npy<V>(Execution(), path, detail::named("read_npy", detail::mesh_of_scope),
                             target);
}
/// Runs the kernels that copy elements into the local pieces on `exec`, and waits for them.
template <class V>
DTensor<V> read_npy(const Execution& exec, const std::string& path, const DeviceMesh& mesh,
                    const Target& target = all_replicate) {
  return detail::read_npy<V>(exec, path, mesh, target);
}
/// Runs copies on `exec`, and takes the mesh of the current DeviceMeshScope.
template <class V>
DTensor<V> read_npy(const Execution& exec, const std::string& path,
                    const Target& target = all_replicate) {
  return detail::read_npy<V>(exec, path, detail::named("read_npy", detail::mesh_of_scope), target);
}

/// Writes the full tensor, of any View type, as one .npy file of version 1.0 in C order and native
/// byte order. The bytes are those that numpy.save writes.
///
/// Each element is written once, along Replicate mesh dims by coordinate 0. Until the file is
/// complete it has another name in the same folder. Then it replaces the file of this name, whose
/// mode stays; a file with other hard links is overwritten instead. Symbolic links are followed. A
/// relative path is one of the first mesh rank's folder.
/// Collective over the mesh.
/// Errors: IoError, after which no new file is left, also for what is no regular file or is
/// write-protected; InvalidArgument for a Partial, an element type that .npy does not have, a DTensor
/// without a mesh, arguments that differ between ranks. All ranks throw the same error.
template <LocalView V>
void write_npy(const std::string& path, const DTensor<V>& tensor) {
  detail::write_npy(Execution(), path, tensor);
}
/// Waits for the work on `exec` before it reads the elements.
template <LocalView V>
void write_npy(const Execution& exec, const std::string& path, const DTensor<V>& tensor) {
  detail::write_npy(exec, path, tensor);
}

}  // namespace tessera
