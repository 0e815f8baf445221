// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <sched.h>

#include "waits.hpp"

namespace tessera::perf {

std::string suffix(Waits waits) {
  return waits == Waits::spinning ? "" : "_yield";
}

std::vector<Waits> ways_to_wait(int ranks) {
  if (ranks <= static_cast<int>(std::thread::hardware_concurrency())) return {Waits::spinning};
  return {Waits::spinning, Waits::yielding};
}

void wait_all(std::span<MPI_Request> requests, Waits waits) {
  const auto count = static_cast<int>(requests.size());
  if (waits == Waits::spinning) {
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    return;
  }
  int is_complete = 0;
  for (;;) {
    MPI_Testall(count, requests.data(), &is_complete, MPI_STATUSES_IGNORE);
    if (is_complete) return;
    sched_yield();
  }
}

int wait_any(std::span<MPI_Request> requests, Waits waits) {
  const auto count = static_cast<int>(requests.size());
  int index = MPI_UNDEFINED;
  if (waits == Waits::spinning) {
    MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
    return index;
  }
  int is_complete = 0;
  for (;;) {
    MPI_Testany(count, requests.data(), &index, &is_complete, MPI_STATUS_IGNORE);
    if (is_complete) return index;
    sched_yield();
  }
}

double reduced(double mine, MPI_Op op) {
  double result = 0;
  collective(Waits::yielding, MPI_Allreduce, MPI_Iallreduce, &mine, &result, 1, MPI_DOUBLE, op,
             MPI_COMM_WORLD);
  return result;
}

}  // namespace tessera::perf
