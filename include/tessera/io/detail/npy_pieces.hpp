// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tessera/io/npy_header.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/sharding/target.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

/// The functions here are the parts of read_npy and write_npy that need no View types. They are
/// collective over the mesh; off the mesh they return at once.
namespace tessera::detail {

/// Returns the header of the file, which it checks to hold `tensor_dims` dims of elements that
/// convert to `type`. Off the mesh its shape is all 0.
///
/// Errors: those of read_npy.
NpyHeader header_for(Operation& operation, const std::string& path, const DeviceMesh& mesh,
                     const Target& target, std::size_t tensor_dims, ElementType type);

/// Reads this rank's piece of `spec` into `piece`, new memory that no kernel has touched.
void read_piece(const Execution& execution, const std::string& path, const NpyHeader& header,
                const DeviceMesh& mesh, const DTensorSpec& spec, const ArrayRef& piece);

/// Writes the pieces of all ranks to one file, each element once.
void write_pieces(Operation& operation, const Execution& execution, const std::string& path,
                  const DeviceMesh& mesh, const DTensorSpec& spec, const ArrayRef& piece);

}  // namespace tessera::detail
