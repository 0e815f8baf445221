// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// MPI keeps some of what it allocates when it starts, and a leak checker would report it in every program. By MPI's
// profiling interface these functions stand in front of MPI's own; programs built with AddressSanitizer have them.
#include <mpi.h>
#include <sanitizer/lsan_interface.h>

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const __lsan::ScopedDisabler disabled;
  return PMPI_Init(argc, argv);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const __lsan::ScopedDisabler disabled;
  return PMPI_Init_thread(argc, argv, required, provided);
}
}
