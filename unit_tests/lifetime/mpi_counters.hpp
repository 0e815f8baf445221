// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::test {

/// What this process has asked of MPI and not given back, counted by wrappers of MPI's functions.
struct MpiCounters {
  int communicators = 0;
  int requests = 0;
  int groups_made = 0;  ///< by MPI_Comm_create_group, freed or not

  friend bool operator==(const MpiCounters&, const MpiCounters&) = default;
};

MpiCounters& mpi_counters();

}  // namespace tessera::test
