// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include <tessera/extents/element_type.hpp>
#include <tessera/extents/extents.hpp>
#include <tessera/file/file.hpp>
#include <tessera/mesh/device_mesh.hpp>

namespace tessera {

/// What the header of an .npy file says.
struct NpyHeader {
  ElementType type;
  std::endian byte_order = std::endian::native;
  StorageOrder order = StorageOrder::row_major;
  Extents shape;
  std::int64_t data_offset = 0;  ///< of the first element, in bytes

  friend bool operator==(const NpyHeader&, const NpyHeader&) = default;
};

/// The header of an .npy file, for callers that do not know what is in it.
///
/// Mesh rank 0 reads it. Collective over the mesh; off the mesh: an empty header.
/// Errors: IoError for a file that is missing, damaged, shorter than its shape says, of another
/// format, or of elements or more dims than the library has; InvalidArgument if ranks give
/// different paths. The same on every rank.
NpyHeader read_npy_header(const std::string& path, const DeviceMesh& mesh);
/// On the mesh of the DeviceMeshScope.
NpyHeader read_npy_header(const std::string& path);

}  // namespace tessera
