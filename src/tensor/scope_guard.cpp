// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <exception>
#include <string>

#include <Kokkos_Core.hpp>

#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/scope_guard.hpp>

#include "node/nodes.hpp"

namespace tessera {

namespace {

void choose_device() {
  if constexpr (detail::has_device) {
    const int devices = Kokkos::num_devices();
    if (devices > 0) {
      const auto device = std::to_string(detail::node_local_rank() % devices);
      setenv("KOKKOS_DEVICE_ID", device.c_str(), 0);
    }
  }
}

}  // namespace

ScopeGuard::ScopeGuard(int& argc, char**& argv, ScopeGuardOptions options)
    : mpi_(comm::start(argc, argv, options.thread_level)), exceptions_(std::uncaught_exceptions()) {
  if (Kokkos::is_initialized() || Kokkos::is_finalized()) return;
  choose_device();
  Kokkos::initialize(argc, argv);
  initialised_kokkos_ = true;
}

ScopeGuard::~ScopeGuard() {
  if (std::uncaught_exceptions() > exceptions_) return;
  if (initialised_kokkos_ && Kokkos::is_initialized()) Kokkos::finalize();
  comm::finish(mpi_);
}

}  // namespace tessera
