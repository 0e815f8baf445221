// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <streambuf>
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

/// Drops what is written to std::cout while it lives.
class SilentOutput : std::streambuf {
 public:
  SilentOutput() : before_(std::cout.rdbuf(this)) {}
  ~SilentOutput() override { std::cout.rdbuf(before_); }
  SilentOutput(const SilentOutput&) = delete;
  SilentOutput& operator=(const SilentOutput&) = delete;

 private:
  int_type overflow(int_type character) override { return traits_type::not_eof(character); }

  std::streambuf* before_;
};

/// Finalises MPI if Kokkos::initialize() calls exit(), as it does after --kokkos-help.
struct FinaliseAtExit {
  FinaliseAtExit() {
    is_pending = true;
    std::atexit([] { comm::finish({.initialised_mpi = is_pending}); });
  }
  ~FinaliseAtExit() { is_pending = false; }
  FinaliseAtExit(const FinaliseAtExit&) = delete;
  FinaliseAtExit& operator=(const FinaliseAtExit&) = delete;

  static inline bool is_pending = false;
};

/// Calls Kokkos::initialize(). Kokkos gives its help on every rank; only rank 0 prints it.
void initialise_kokkos(int& argc, char**& argv, const comm::Runtime& mpi) {
  const bool ends_after_help = is_among("--kokkos-help", argc, argv);
  const bool gives_help = ends_after_help || is_among("--help", argc, argv);
  std::optional<FinaliseAtExit> finalise;
  std::optional<SilentOutput> silent;
  if (ends_after_help && mpi.initialised_mpi) finalise.emplace();
  if (gives_help && detail::world_rank() != 0) silent.emplace();
  Kokkos::initialize(argc, argv);
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
