// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {

/// What the calls work on: all ranks in one mesh dim "x", and the rows of a (16, 24) tensor.
struct Given {
  DeviceMesh mesh;
  DTensor<Matrix> tensor;
};

using Call = std::function<void(const Given&)>;

/// Says who is notified of the mistake.
enum class Reach {
  all,        ///< all ranks throw, also if one alone is wrong
  cold,       ///< so they do where the call is new to them; else a rank may have left before
  together,   ///< the call is made of several: one rank alone would be ahead of the others
  this_rank,  ///< a value is made: no other rank takes part
};

/// A call that must fail. To add one: its name, what is thrown, a part of the text, the call.
struct Case {
  std::string name;
  const char* type;
  std::string text;
  Call call;
  Reach reach = Reach::all;
  int ranks = 1;                ///< of the smallest mesh on which it is wrong
  bool is_right_alone = false;  ///< wrong only because the other ranks call something else
};

inline constexpr auto invalid_argument = "InvalidArgument";
inline constexpr auto mesh_mismatch = "MeshMismatch";
inline constexpr auto placement_mismatch = "PlacementMismatch";
inline constexpr auto mpi_error = "MpiError";
inline constexpr auto io_error = "IoError";

struct Particle {
  double position;
  std::int32_t charge;
};

using Integers = Kokkos::View<int**, Kokkos::LayoutRight, TestSpace>;
using Flags = Kokkos::View<bool**, Kokkos::LayoutRight, TestSpace>;
using Floats = Kokkos::View<float**, Kokkos::LayoutRight, TestSpace>;
using Complexes = Kokkos::View<Kokkos::complex<double>**, Kokkos::LayoutRight, TestSpace>;
using Particles = Kokkos::View<Particle*, Kokkos::LayoutRight, TestSpace>;
using WideColumns = Kokkos::View<double* [24], Kokkos::LayoutRight, TestSpace>;

inline const Extents shape{16, 24};

/// The mesh of the same ranks, the last one first. Collective over MPI_COMM_WORLD at first use.
DeviceMesh reversed(const DeviceMesh& mesh);

std::vector<Case> mesh_cases();
std::vector<Case> tensor_cases();
std::vector<Case> redistribute_cases();
std::vector<Case> collective_cases();
std::vector<Case> local_map_cases();
std::vector<Case> io_cases();
/// Calls that are right but for what the other ranks call.
std::vector<Case> differing_cases();

}  // namespace tessera::test
