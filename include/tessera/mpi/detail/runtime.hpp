// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::comm {

/// Records what start() did, so that finish() can undo it.
struct Runtime {
  bool initialised_mpi = false;
  int thread_level = 0;  ///< thread level that MPI provides
};

/// Makes MPI usable: initialises it unless it is initialised already. Errors: MpiError if MPI was
/// finalised, or provides less than `thread_level`.
Runtime start(int& argc, char**& argv, int thread_level);

/// Counts what MPI still works on, waits for other ranks and cannot be cancelled.
void count_unfinished(int change);

/// Finalises MPI if start() initialised it and it has not been finalised since. While anything is
/// unfinished, MPI_Finalize may wait for ever: then this says on stderr that it is left out.
void finish(const Runtime& runtime) noexcept;

/// Returns whether MPI is initialised and not finalised.
bool is_usable();

}  // namespace tessera::comm
