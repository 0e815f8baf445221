// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <tessera/mpi/detail/runtime.hpp>

namespace tessera {

/// Holds what ScopeGuard asks of MPI.
struct ScopeGuardOptions {
  int thread_level = MPI_THREAD_FUNNELED;  ///< level to request; MPI has to provide it
};

/// Initialises MPI and Kokkos unless that has been done, and finalises exactly what it initialised.
///
/// On device backends each rank takes the device of its node-local rank unless KOKKOS_DEVICE_ID or
/// the command line says otherwise. Only rank 0 prints the help that Kokkos gives on --help and
/// --kokkos-help. If an exception destroys the guard, it finalises nothing, so that the launcher
/// sees a rank fail and ends the job. After a first mesh on a communicator that not all its ranks
/// came to make, it says so on stderr and does not finalise MPI, which would wait.
/// Errors: MpiError if MPI was finalised, or does not provide the thread level.
class ScopeGuard {
 public:
  ScopeGuard(int& argc, char**& argv, ScopeGuardOptions options = {});
  ~ScopeGuard();
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  comm::Runtime mpi_;
  bool initialised_kokkos_ = false;
  int exceptions_;
};

}  // namespace tessera
