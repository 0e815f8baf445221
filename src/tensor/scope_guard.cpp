// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include <Kokkos_Core.hpp>

#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/scope_guard.hpp>

#include "mpi/world_rank.hpp"
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

bool is_among(std::string_view word, int argc, char** argv) {
  return std::any_of(argv, argv + argc, [&](const char* argument) { return argument == word; });
}

/// Keeps std::cout silent while it lives.
class SilentOutput {
 public:
  SilentOutput() : buffer_(std::cout.rdbuf(nullptr)) {}
  ~SilentOutput() { std::cout.rdbuf(buffer_); }
  SilentOutput(const SilentOutput&) = delete;
  SilentOutput& operator=(const SilentOutput&) = delete;

 private:
  std::streambuf* buffer_;
};

/// Initialises Kokkos. Kokkos answers --help and --kokkos-help on every rank; here the first rank
/// alone prints the answer. After --kokkos-help Kokkos calls exit(), which then finalises MPI too.
void initialise_kokkos(int& argc, char**& argv, const comm::Runtime& mpi) {
  const bool ends_after_help = is_among("--kokkos-help", argc, argv);
  if (ends_after_help && mpi.initialised_mpi)
    std::atexit([] { comm::finish({.initialised_mpi = true}); });
  if ((ends_after_help || is_among("--help", argc, argv)) && detail::world_rank() != 0) {
    const SilentOutput silent;
    Kokkos::initialize(argc, argv);
  } else {
    Kokkos::initialize(argc, argv);
  }
}

}  // namespace

ScopeGuard::ScopeGuard(int& argc, char**& argv, ScopeGuardOptions options)
    : mpi_(comm::start(argc, argv, options.thread_level)), exceptions_(std::uncaught_exceptions()) {
  if (Kokkos::is_initialized() || Kokkos::is_finalized()) return;
  choose_device();
  initialise_kokkos(argc, argv, mpi_);
  initialised_kokkos_ = true;
}

ScopeGuard::~ScopeGuard() {
  if (std::uncaught_exceptions() > exceptions_) return;
  if (initialised_kokkos_ && Kokkos::is_initialized()) Kokkos::finalize();
  comm::finish(mpi_);
}

}  // namespace tessera
