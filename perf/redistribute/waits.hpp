// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include <mpi.h>

namespace tessera::perf {

/// How a rank waits inside MPI: MPI's own way, which spins, or testing and leaving the core to
/// others.
enum class Waits { spinning, yielding };

/// "", "_yield": what names of rivals end in.
std::string suffix(Waits waits);
/// Ways that are worth measuring: yielding where ranks exceed cores.
std::vector<Waits> ways_to_wait(int ranks);

void wait_all(std::span<MPI_Request> requests, Waits waits);
/// Index of a request that completed; MPI_UNDEFINED if none is active.
int wait_any(std::span<MPI_Request> requests, Waits waits);

/// One number of all ranks' numbers. Collective.
double reduced(double mine, MPI_Op op);

/// A collective of MPI: blocking where the wait may spin, else its nonblocking form.
template <class Blocking, class Nonblocking, class... Arguments>
void collective(Waits waits, Blocking blocking, Nonblocking nonblocking, Arguments... arguments) {
  if (waits == Waits::spinning) {
    blocking(arguments...);
    return;
  }
  MPI_Request request;
  nonblocking(arguments..., &request);
  wait_all({&request, 1}, waits);
}

}  // namespace tessera::perf
