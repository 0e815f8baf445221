// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <Kokkos_Core.hpp>

namespace tessera::perf {

using PeerMatrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

extern const bool has_costa;

/// Returns a call of COSTA that sets to = alpha from + beta to, where a square matrix lies in rows
/// (from) and in columns (to) of all ranks; an empty function without COSTA.
std::function<void()> costa_scaled(const PeerMatrix& from, const PeerMatrix& to, double alpha,
                                   double beta);

}  // namespace tessera::perf
