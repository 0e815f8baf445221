// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <Kokkos_Core.hpp>

#include <tessera/tensor/dtensor.hpp>

namespace tessera::perf {

using PeerMatrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

extern const bool has_costa;

/// Returns a call of COSTA that sets to = alpha from + beta to, where a matrix lies in rows or in columns
/// of all ranks; an empty function without COSTA.
std::function<void()> costa_scaled(const DTensor<PeerMatrix>& from, const DTensor<PeerMatrix>& to,
                                   double alpha, double beta);

}  // namespace tessera::perf
