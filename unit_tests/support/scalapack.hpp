// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What tests and benchmarks call of ScaLAPACK, which has no headers.
#pragma once

extern "C" {
void Cblacs_get(int context, int request, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void Cpdgemr2d(int m, int n, const double* a, int ia, int ja, const int* descriptor_a, double* b,
               int ib, int jb, const int* descriptor_b, int context);
}

namespace tessera::test {

/// Owns a process grid of ScaLAPACK, row by row.
class ProcessGrid {
 public:
  ProcessGrid(int rows, int columns) {
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row", rows, columns);
  }
  ~ProcessGrid() { Cblacs_gridexit(context_); }
  ProcessGrid(const ProcessGrid&) = delete;
  ProcessGrid& operator=(const ProcessGrid&) = delete;

  int context() const { return context_; }

 private:
  int context_ = 0;
};

}  // namespace tessera::test
