// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <fmt/format.h>
#include <mpi.h>

#include <tessera/error/error.hpp>
#include <tessera/mpi/detail/runtime.hpp>
#include <tessera/mpi/detail/tags.hpp>

#include "mpi/check.hpp"
#include "mpi/world_rank.hpp"

namespace tessera::comm {
namespace {

bool is_initialized() {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}

bool is_finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

int unfinished = 0;

const char* name_of_level(int thread_level) {
  switch (thread_level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

Runtime initialise_or_query(int& argc, char**& argv, int thread_level) {
  Runtime runtime;
  if (is_initialized()) {
    detail::check_mpi(MPI_Query_thread(&runtime.thread_level), "MPI_Query_thread");
    return runtime;
  }
  detail::check_mpi(MPI_Init_thread(&argc, &argv, thread_level, &runtime.thread_level),
                    "MPI_Init_thread");
  runtime.initialised_mpi = true;
  return runtime;
}

}  // namespace

Runtime start(int& argc, char**& argv, int thread_level) {
  require<MpiError>(!is_finalized(), "ScopeGuard: expected MPI not to be finalised");
  const auto runtime = initialise_or_query(argc, argv, thread_level);
  if (runtime.thread_level >= thread_level) return runtime;
  finish(runtime);
  throw MpiError(fmt::format(
      "ScopeGuard: expected MPI with {} or more, got {}{}", name_of_level(thread_level),
      name_of_level(runtime.thread_level),
      runtime.initialised_mpi
          ? ", which is all that MPI_Init_thread provides"
          : " from a program that called MPI_Init or MPI_Init_thread itself: call MPI_Init_thread "
            "with that level, or ask for less by ScopeGuardOptions::thread_level"));
}

void count_unfinished(int change) {
  unfinished += change;
}

void finish(const Runtime& runtime) noexcept {
  if (!runtime.initialised_mpi || !is_usable()) return;
  if (unfinished == 0) {
    MPI_Finalize();
    return;
  }
  std::fputs(
      "tessera: ScopeGuard leaves MPI_Finalize out: MPI still duplicates a communicator, for a "
      "mesh that not all ranks came to make\n",
      stderr);
}

bool is_usable() {
  return is_initialized() && !is_finalized();
}

}  // namespace tessera::comm

int tessera::detail::world_rank() {
  int rank = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  return rank;
}

int tessera::detail::largest_tag() {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found), "MPI_Comm_get_attr");
  return found ? *static_cast<int*>(value) : 32767;
}
