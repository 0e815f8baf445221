// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/comm/detail/backoff.hpp>
#include <tessera/comm/detail/check.hpp>
#include <tessera/comm/detail/clock.hpp>
#include <tessera/comm/detail/wait.hpp>

namespace tessera::detail {

void wait_all(std::span<MPI_Request> requests, bool oversubscribed) {
  Backoff backoff(oversubscribed);
  for (auto& request : requests)
    for (;;) {
      int done = 0;
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done) break;
      backoff.pause();
    }
}

bool drain(std::span<MPI_Request> requests, double at_most) noexcept {
  Backoff backoff(true);
  const double end = seconds() + at_most;
  for (auto& request : requests)
    for (int done = 0; !done;) {
      if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      if (!done && seconds() > end) return false;
      if (!done) backoff.pause();
    }
  return true;
}

}  // namespace tessera::detail
