// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// The first mesh on a communicator, which not all ranks come to make: the others throw Timeout
// when the time limit is over. Argument:
//
// absent: mesh rank 1 leaves instead.
// null: it passes MPI_COMM_NULL.
// order: it takes two communicators in the other order.
// late: it comes when the others have thrown; then all call again.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <mpi.h>

#include <tessera/tessera.hpp>

namespace {

using namespace tessera;

constexpr int odd_rank = 1;
constexpr auto time_limit = std::chrono::seconds(2);

/// What the call throws, "no error" if nothing.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Timeout& error) {
    return std::string("Timeout ") + error.what();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of_mesh_on(MPI_Comm comm) {
  return error_of([&] { DeviceMesh::from_comm(comm); });
}

/// In one piece, however many ranks write.
void say(int rank, const std::string& text) {
  std::printf("rank %d: %s\n", rank, text.c_str());
  std::fflush(stdout);
}

std::string error_of_swapped_communicators(int rank) {
  MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  return error_of_mesh_on(rank == odd_rank ? second : first);
}

void come_late(int rank) {
  if (rank == odd_rank) std::this_thread::sleep_for(2 * time_limit);
  say(rank, error_of_mesh_on(MPI_COMM_WORLD));
  say(rank, "again: " + error_of_mesh_on(MPI_COMM_WORLD));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  setenv("TESSERA_TIMEOUT", "2", 1);
  const std::string mode = argv[1];
  const ScopeGuard guard(argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_odd = rank == odd_rank;
  if (mode == "absent" && !is_odd) say(rank, error_of_mesh_on(MPI_COMM_WORLD));
  if (mode == "null") say(rank, error_of_mesh_on(is_odd ? MPI_COMM_NULL : MPI_COMM_WORLD));
  if (mode == "order") say(rank, error_of_swapped_communicators(rank));
  if (mode == "late") come_late(rank);
  // Launchers may end the others when one rank leaves without MPI_Finalize: all have time to speak.
  if (mode != "late" && !(mode == "absent" && is_odd)) std::this_thread::sleep_for(time_limit);
  return 0;
}
