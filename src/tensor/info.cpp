// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/config/version.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/info.hpp>

#include "node/description.hpp"

namespace tessera {
namespace {

std::string position_of(const DeviceMesh& mesh) {
  if (!mesh.coordinate()) return "this rank is not on it";
  return fmt::format("this is mesh rank {}, ({})", mesh.rank(),
                     fmt::join(*mesh.coordinate(), ", "));
}

std::string device_of() {
  if (!detail::has_device) return "no device";
  return fmt::format("device by {}", Kokkos::DefaultExecutionSpace::name());
}

/// Returns the lines on Kokkos and the build. `threads` is text, such as ", 4 threads", or empty.
std::string library(const std::string& threads) {
  constexpr int major = KOKKOS_VERSION / 10000;
  constexpr int minor = KOKKOS_VERSION / 100 % 100;
  constexpr int patch = KOKKOS_VERSION % 100;
  return fmt::format(
      "  Kokkos {}.{}.{}: host by {}{}; {}\n"
      "  build: {}\n",
      major, minor, patch, Kokkos::DefaultHostExecutionSpace::name(), threads, device_of(),
      build_info());
}

}  // namespace

std::string info() {
  return fmt::format("Tessera {}\n{}  MPI: {}\n", version(), library(""), detail::mpi_library());
}

std::string info(const DeviceMesh& mesh) {
  const int threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  return fmt::format("Tessera {} on mesh {} of {} ranks; {}\n{}{}", version(), to_string(mesh),
                     mesh.size(), position_of(mesh), library(fmt::format(", {} threads", threads)),
                     detail::description(mesh.communicator()));
}

}  // namespace tessera
