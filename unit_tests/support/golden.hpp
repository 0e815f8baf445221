// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include <tessera/tessera.hpp>

namespace tessera::test {

using nlohmann::json;

inline Placements placements_of(const json& list) {
  std::string text;
  for (const auto& placement : list)
    text += (text.empty() ? "" : ", ") + placement.get<std::string>();
  return parse_placements(text);
}

/// Returns placements with Replicate for Partial.
inline Placements with_whole(const Placements& placements) {
  std::vector<Placement> result;
  for (const auto& placement : placements)
    result.push_back(placement.is_partial() ? Placement(Replicate()) : placement);
  return Placements(std::move(result));
}

/// Gives `factor` times the value with a global index, plus `added`.
template <class V>
struct ElementOf {
  static constexpr std::size_t tensor_dims = V::rank();

  Kokkos::View<double*, Kokkos::LayoutRight> values;  ///< row-major
  Kokkos::Array<std::int64_t, tensor_dims> shape;
  double factor, added;

  KOKKOS_FUNCTION typename V::value_type operator()(
      const Kokkos::Array<std::int64_t, tensor_dims>& index) const {
    std::int64_t at = 0;
    for (std::size_t d = 0; d != tensor_dims; ++d) at = at * shape[d] + index[d];
    return static_cast<typename V::value_type>(factor * values(at) + added);
  }
};

/// Returns the tensor of an operand. Along a Partial, the first coordinate has the value and 5 for
/// each other coordinate, and these have -5.
template <class V>
DTensor<V> tensor_of(const DeviceMesh& mesh, const json& operand) {
  const Extents shape = operand["shape"].get<std::vector<std::int64_t>>();
  const auto placements = placements_of(operand["placements"]);
  const auto values = operand["values"].get<std::vector<double>>();
  const Kokkos::View<double*, Kokkos::HostSpace> host("values", values.size());
  std::copy(values.begin(), values.end(), host.data());
  using Space = typename decltype(ElementOf<V>::values)::memory_space;
  ElementOf<V> element{Kokkos::create_mirror_view_and_copy(Space(), host), {}, 1, 0};
  for (std::size_t d = 0; d != shape.size(); ++d) element.shape[d] = shape[d];
  for (std::size_t m = 0; m < placements.size(); ++m) {
    if (!placements[m].is_partial()) continue;
    const bool is_first = (*mesh.coordinate())[m] == 0;
    element.factor = is_first ? element.factor : 0;
    element.added = is_first ? element.added + 5.0 * (mesh.shape()[m] - 1) : -5.0;
  }
  const auto pieces = from_function<V>(mesh, with_whole(placements), shape, element);
  return from_local(pieces.to_local(), mesh, placements, shape);
}

/// Returns the elements of a View, row-major.
template <class V>
std::vector<double> elements_of(const V& view) {
  const auto host = detail::row_major_copy(view);
  std::vector<double> result;
  for (std::size_t i = 0; i < host.size(); ++i)
    result.push_back(static_cast<double>(host.data()[i]));
  return result;
}

inline bool are_close(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-12 * std::max(1.0, std::abs(b[i])))) return false;
  return true;
}

/// Says how a case compares with PyTorch. All ranks have the same.
struct Comparison {
  std::string mistake = {};               ///< what is wrong; empty if nothing is
  std::vector<std::string> reasons = {};  ///< why it differs from PyTorch where it may
};

/// Runs compare(mesh, case) for each case of the file argv[1] whose mesh has as many ranks as there
/// are. Rank 0 prints how many cases passed, and how often `difference` has which reason. Returns 0
/// if none failed.
template <class Compare>
int run_golden(int argc, char** argv, const std::string& difference, const Compare& compare) {
  const ScopeGuard guard(argc, argv);
  const RedistributionScope scope(Redistribution::any);
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int passed = 0, failed = 0, skipped = 0;
  std::map<std::string, int> reasons;
  std::map<std::vector<int>, DeviceMesh> meshes;
  std::ifstream file(argc > 1 ? argv[1] : "");
  for (std::string line; std::getline(file, line);) {
    const auto golden = json::parse(line);
    const auto shape = golden["mesh"].get<std::vector<int>>();
    if (MeshLayout(shape).size() != size) {
      ++skipped;
      continue;
    }
    auto& mesh = meshes[shape];
    if (mesh.is_null()) mesh = init_device_mesh(MPI_COMM_WORLD, shape);
    const Comparison result = compare(mesh, golden);
    ++(result.mistake.empty() ? passed : failed);
    for (const auto& why : result.reasons) ++reasons[why];
    if (!result.mistake.empty() && rank == 0)
      std::cout << "failed: " << result.mistake << " from " << line << "\n";
  }
  if (rank == 0) {
    std::cout << passed << " passed, " << failed << " failed\n";
    std::cout << skipped << " skipped: their meshes have another number of ranks\n";
    for (const auto& [why, count] : reasons)
      std::cout << count << " " << difference << ": " << why << "\n";
  }
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace tessera::test
