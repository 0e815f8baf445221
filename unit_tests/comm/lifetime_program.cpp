// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens after MPI_Finalize, which a test inside GoogleTest's main cannot reach: exit status
// 0 if all checks hold.
#include <cstdio>
#include <optional>

#include <mpi.h>

#include <tessera/comm/communicator.hpp>
#include <tessera/error/error.hpp>
#include <tessera/file/file.hpp>
#include <tessera/mpi/detail/runtime.hpp>

#include "comm/exchange.hpp"
#include "node/nodes.hpp"

namespace {

using namespace tessera;

int failures = 0;
Communicator of_static_storage;
std::optional<File> file_of_static_storage;

void check(bool condition, const char* what) {
  if (condition) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

template <class E>
bool throws(const auto& action) {
  try {
    action();
  } catch (const E&) {
    return true;
  }
  return false;
}

void open_and_forget(const Communicator& communicator, const char* program) {
  const auto group = all_ranks(communicator);
  file_of_static_storage.emplace(File::open(group, program, FileAccess::read));
}

}  // namespace

int main(int argc, char** argv) {
  check(!comm::is_usable(), "not usable before start");
  check(throws<MpiError>([] { detail::communicator_on_nodes(MPI_COMM_WORLD); }),
        "throws before start");

  const auto runtime = comm::start(argc, argv, MPI_THREAD_FUNNELED);
  check(runtime.initialised_mpi && comm::is_usable(), "start initialises MPI");
  of_static_storage = detail::communicator_on_nodes(MPI_COMM_WORLD);
  const auto of_self = detail::communicator_on_nodes(MPI_COMM_SELF);
  MPI_Comm user = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &user);
  const auto never_freed = detail::communicator_on_nodes(user);
  const int rank = never_freed.rank();
  const auto nested = detail::communicator_on_nodes(never_freed.group({&rank, 1}));
  open_and_forget(of_static_storage, argv[0]);
  comm::finish(runtime);

  check(!comm::is_usable(), "not usable after finish");
  for (const auto& communicator : {of_static_storage, of_self, never_freed, nested}) {
    check(communicator.is_freed(), "freed by MPI_Finalize");
    check(throws<MpiError>([&] { communicator.handle(); }), "use after MPI_Finalize throws");
  }
  check(throws<MpiError>([] { detail::communicator_on_nodes(MPI_COMM_WORLD); }),
        "throws after finish");
  check(throws<MpiError>([&] { comm::start(argc, argv, MPI_THREAD_SINGLE); }), "no second start");
  comm::finish(runtime);
  return failures;
}
