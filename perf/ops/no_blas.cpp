// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

namespace tessera::perf {

const bool has_blas = false;

void multiply_by_blas(const RowMajor& /*a*/, const RowMajor& /*b*/, const RowMajor& /*c*/) {}
void multiply_by_blas(const ColumnMajor& /*a*/, const ColumnMajor& /*b*/,
                      const ColumnMajor& /*c*/) {}
void multiply_by_blas(const RowMajor& /*a*/, const Vector& /*x*/, const Vector& /*y*/) {}

}  // namespace tessera::perf
