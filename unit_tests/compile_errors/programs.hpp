// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// What the programs beside this file use. A new user writes such programs: compile_errors_test.py compiles each of them
// alone, with the name of its #ifdef defined, and looks for the text after `expect:` in what the compiler says.
// `expect: compiles` is a program that works.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tessera/tessera.hpp>

using namespace tessera;
using Matrix = Kokkos::View<double**>;
using Vector = Kokkos::View<double*>;
using Index = Kokkos::Array<std::int64_t, 2>;

extern const DeviceMesh mesh;
extern const DTensor<Matrix> x, y;
extern const DTensor<Kokkos::View<float**>> f;
extern const DTensor<Kokkos::View<int**>> n;
extern const DTensor<Kokkos::View<Kokkos::complex<double>**>> c;
extern const DTensor<Kokkos::View<bool**>> flags;
extern const DTensor<Vector> v;
extern const Matrix view;
extern const grad::Variable<Matrix> variable;
