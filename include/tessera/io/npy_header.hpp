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

/// An NpyHeader holds what the header of an .npy file says.
struct NpyHeader {
  ElementType type;
  std::endian byte_order = std::endian::native;
  StorageOrder order = StorageOrder::row_major;
  Extents shape;
  std::int64_t data_offset = 0;  ///< position of the first element in the file, bytes
  std::int64_t file_bytes = 0;   ///< size of the file, bytes

  friend bool operator==(const NpyHeader&, const NpyHeader&) = default;
};

/// Returns the header of an .npy file, for callers that do not know what is in it.
///
/// Mesh rank 0 reads it. Collective over the mesh; off the mesh the header is empty.
/// Errors: IoError for a file that is missing, damaged, shorter than its shape says, of another
/// format, or with elements or more dims than the library supports; InvalidArgument if ranks give
/// different paths. All ranks throw the same error.
NpyHeader read_npy_header(const std::string& path, const DeviceMesh& mesh);
/// Takes the mesh of the current DeviceMeshScope.
NpyHeader read_npy_header(const std::string& path);

}  // namespace tessera
