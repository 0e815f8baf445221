// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tessera/mesh/device_mesh.hpp>

namespace tessera {

/// Returns some lines for a log that describe the library: version, Kokkos and the spaces that it
/// was built for, how the library was built, MPI. Local; callable also before MPI and Kokkos are
/// initialised.
std::string info();

/// Returns some lines for a log that say what the library found and decided for this mesh on this
/// rank: version, build, mesh, Kokkos' spaces, MPI, nodes and their window, how device memory goes
/// to MPI and why, and how calls are compared. Local. Decisions are the same on all ranks.
///
/// Errors: InvalidArgument for a null mesh; MpiError once its communicator was freed.
std::string info(const DeviceMesh& mesh);

}  // namespace tessera
