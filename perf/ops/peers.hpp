// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// The BLAS and ScaLAPACK, beside which products of matrices are measured.
#pragma once

#include <cstdint>
#include <functional>

#include <Kokkos_Core.hpp>

#include <tessera/tensor/dtensor.hpp>

namespace tessera::perf {

using RowMajor = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using ColumnMajor = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
using Vector = Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Says whether this build has a BLAS; without one the functions below do nothing.
extern const bool has_blas;

/// Sets c = a b by one call of dgemm.
void multiply_by_blas(const RowMajor& a, const RowMajor& b, const RowMajor& c);
void multiply_by_blas(const ColumnMajor& a, const ColumnMajor& b, const ColumnMajor& c);
/// Sets y = a x by one call of dgemv.
void multiply_by_blas(const RowMajor& a, const Vector& x, const Vector& y);

/// Says whether this build has ScaLAPACK.
extern const bool has_scalapack;

/// Returns a call of pdgemm that sets c = a b, where the matrices are; an empty function without
/// ScaLAPACK. The matrices are block-cyclic ones on one mesh of 2 dims: see descriptor().
std::function<void()> pdgemm(const DTensor<ColumnMajor>& a, const DTensor<ColumnMajor>& b,
                             const DTensor<ColumnMajor>& c);

/// Holds what this rank receives from other ranks.
struct Received {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
};

/// Runs a call of ScaLAPACK, and returns what this rank receives by MPI in it; nothing without
/// ScaLAPACK. A reduction counts as one operand for each rank that gets its result: what its
/// algorithm moves besides is not seen.
Received received_by_scalapack(const std::function<void()>& call);

}  // namespace tessera::perf
