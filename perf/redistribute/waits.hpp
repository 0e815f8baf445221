// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include <mpi.h>

namespace tessera::perf {

/// Says how a rank waits inside MPI: MPI's own way, which spins, or by tests between which it
/// yields the core.
enum class Waits { spinning, yielding };

/// Returns the ending of a hand-written variant's name: "" or "_yield".
std::string suffix(Waits waits);
/// Returns the ways to wait that are worth measuring; yielding is one only if ranks exceed cores.
std::vector<Waits> ways_to_wait(int ranks);

void wait_all(std::span<MPI_Request> requests, Waits waits);
/// Waits for a request and returns its index; MPI_UNDEFINED if none is active.
int wait_any(std::span<MPI_Request> requests, Waits waits);

/// Returns the reduction of one number per rank, on every rank. Collective.
double reduced(double mine, MPI_Op op);

/// Calls a collective of MPI: the blocking form if the wait may spin, otherwise the nonblocking
/// form.
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
