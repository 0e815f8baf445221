// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::comm {

/// What start() did, for finish().
struct Runtime {
  bool initialised_mpi = false;
  int thread_level = 0;  ///< as MPI provides it
};

/// Initialises MPI unless someone has. Errors: MpiError if MPI was finalised, or provides less than
/// `thread_level`.
Runtime start(int& argc, char**& argv, int thread_level);

/// Finalises MPI if start() initialised it and nobody has finalised it since.
void finish(const Runtime& runtime) noexcept;

/// MPI is initialised and not finalised.
bool is_usable();

}  // namespace tessera::comm
