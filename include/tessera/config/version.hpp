// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Gives the major version of these headers: the 1 of 1.2.3.
#define TESSERA_VERSION_MAJOR 0
/// Gives the minor version of these headers: the 2 of 1.2.3.
#define TESSERA_VERSION_MINOR 1
/// Gives the patch version of these headers: the 3 of 1.2.3.
#define TESSERA_VERSION_PATCH 0
/// Gives the version of these headers as one number: 10203 means 1.2.3.
#define TESSERA_VERSION \
  (TESSERA_VERSION_MAJOR * 10000 + TESSERA_VERSION_MINOR * 100 + TESSERA_VERSION_PATCH)

namespace tessera {

/// Returns the version of the library that the program is linked with: "0.1.0".
std::string version();

/// Returns one line that says how the linked library was built: "GNU 12.2.0, Release, static,
/// commit 1a2b3c4, Kokkos for OPENMP, MPI-4 large counts".
std::string build_info();

}  // namespace tessera
