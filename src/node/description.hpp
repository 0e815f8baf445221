// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For tensor: the description of a communicator.
#pragma once

#include <string>

#include <tessera/comm/communicator.hpp>

namespace tessera::detail {

/// Returns the name and version of MPI, in one line. Local. Errors: MpiError.
std::string mpi_library();

/// Describes MPI, nodes, windows, staging and agreement, in lines that begin with two spaces.
/// Local.
std::string description(const Communicator& communicator);

}  // namespace tessera::detail
