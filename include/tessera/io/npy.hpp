// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tessera/io/detail/npy_pieces.hpp>
#include <tessera/io/npy_header.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>
#include <tessera/tensor/factories.hpp>

/// NumPy's .npy files, versions 1.0 to 3.0, both storage and byte orders, elements b1, i1 to i8, u1
/// to u8, f2 to f8, c8, c16, and long double where it has 16 bytes (f16, c32).
namespace tessera {

namespace detail {

template <class V>
DTensor<V> read_npy(const Execution& execution, const std::string& path, const DeviceMesh& mesh,
                    const Placements& placements) {
  static_assert(is_allocatable<V>,
                "expected a managed, non-const View in LayoutLeft or LayoutRight");
  constexpr auto type = element_type<typename V::value_type>();
  return collectively(mesh.calls(), "read_npy", [&](Operation& operation) {
    const auto header = header_for(operation, path, mesh, placements, V::rank(), type);
    const DTensorSpec spec(mesh.layout(), placements, header.shape, {}, "read_npy");
    if (mesh.coordinate()) require_representable<V>(spec, "read_npy");
    auto result = allocate_dtensor<V>(mesh, spec, "tessera::read_npy");
    read_piece(execution, path, header, mesh, spec, array_ref(result.to_local()));
    return result;
  });
}

template <class V>
void write_npy(const Execution& execution, const std::string& path, const DTensor<V>& tensor) {
  const auto& mesh = tensor.device_mesh();
  auto* const calls = mesh.is_null() ? nullptr : mesh.calls();
  collectively(calls, "write_npy", [&](Operation& operation) {
    write_pieces(operation, execution, path, mesh, tensor.spec(), array_ref(tensor.to_local()));
  });
}

}  // namespace detail

/// Reads an .npy file straight into the pieces: each rank its own elements, through MPI-IO.
///
/// V is a managed, non-const View type in LayoutLeft or LayoutRight. Elements become V's: bool any
/// number, integers wider integers, real numbers floating and complex ones (rounded), complex
/// numbers complex ones. Without a mesh the DeviceMeshScope's is taken; placements left out: all
/// Replicate. The result is complete on return.
/// Example: auto x = read_npy<Kokkos::View<double**>>("x.npy", mesh, {Shard(0)});
/// Collective over the mesh. Off the mesh the result is empty, of shape 0.
/// Errors: IoError as read_npy_header, for a file of another number of dims than V, for elements
/// that do not convert as above; InvalidArgument for a Partial, placements that do not fit, static
/// extents of V that differ or would be split, arguments that differ between ranks. The same on
/// every rank.
template <class V>
DTensor<V> read_npy(const std::string& path, const DeviceMesh& mesh, const Placements& placements) {
  return detail::read_npy<V>(Execution(), path, mesh, placements);
}
/// The same, all Replicate.
template <class V>
DTensor<V> read_npy(const std::string& path, const DeviceMesh& mesh) {
  return detail::read_npy<V>(Execution(), path, mesh, detail::all_replicate(mesh));
}
/// The same on the mesh of the DeviceMeshScope.
template <class V>
DTensor<V> read_npy(const std::string& path, const Placements& placements) {
  return read_npy<V>(path, default_device_mesh("read_npy"), placements);
}
/// The same on the mesh of the DeviceMeshScope, all Replicate.
template <class V>
DTensor<V> read_npy(const std::string& path) {
  return read_npy<V>(path, default_device_mesh("read_npy"));
}
/// The same; what copies elements into the pieces runs on `exec`, and is waited for.
template <class V, detail::ExecutionSpace E>
DTensor<V> read_npy(const E& exec, const std::string& path, const DeviceMesh& mesh,
                    const Placements& placements) {
  return detail::read_npy<V>(Execution(exec), path, mesh, placements);
}
/// The same with `exec`, all Replicate.
template <class V, detail::ExecutionSpace E>
DTensor<V> read_npy(const E& exec, const std::string& path, const DeviceMesh& mesh) {
  return detail::read_npy<V>(Execution(exec), path, mesh, detail::all_replicate(mesh));
}
/// The same with `exec`, on the mesh of the DeviceMeshScope.
template <class V, detail::ExecutionSpace E>
DTensor<V> read_npy(const E& exec, const std::string& path, const Placements& placements) {
  return read_npy<V>(exec, path, default_device_mesh("read_npy"), placements);
}
/// The same with `exec`, on the mesh of the DeviceMeshScope, all Replicate.
template <class V, detail::ExecutionSpace E>
DTensor<V> read_npy(const E& exec, const std::string& path) {
  return read_npy<V>(exec, path, default_device_mesh("read_npy"));
}

/// Writes the whole tensor as one .npy file: version 1.0, C order, native byte order, the bytes
/// that numpy.save writes. Any View type.
///
/// Each element is written once, along Replicate mesh dims by coordinate 0. The file appears under
/// its name when it is complete, in the place of what was there; until then it has another name in
/// the same folder.
/// Collective over the mesh.
/// Errors: IoError, after which no new file is left; InvalidArgument for a Partial, an element type
/// that .npy does not have, no tensor at all, arguments that differ between ranks. The same on
/// every rank.
template <class V>
void write_npy(const std::string& path, const DTensor<V>& tensor) {
  detail::write_npy(Execution(), path, tensor);
}
/// The same; before the elements are read, the work on `exec` is waited for.
template <detail::ExecutionSpace E, class V>
void write_npy(const E& exec, const std::string& path, const DTensor<V>& tensor) {
  detail::write_npy(Execution(exec), path, tensor);
}

}  // namespace tessera
