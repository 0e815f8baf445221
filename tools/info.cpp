// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <fmt/format.h>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/tensor/info.hpp>
#include <tessera/tensor/scope_guard.hpp>

#include "commands.hpp"

namespace tessera::tools {
namespace {

int info() {
  // The advice of Kokkos on threads is for programs that compute.
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  int argc = 0;
  char* no_arguments[] = {nullptr};
  char** argv = no_arguments;
  const ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  if (mesh.rank() == 0) fmt::print("{}", tessera::info(mesh));
  return 0;
}

}  // namespace

Command add_info(CLI::App& app) {
  auto* const options = app.add_subcommand(
      "info", "Version, build, Kokkos, MPI, and how device memory travels; starts MPI and Kokkos");
  return {options, info};
}

}  // namespace tessera::tools
