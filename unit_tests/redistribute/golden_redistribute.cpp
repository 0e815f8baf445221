// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// golden_redistribute FILE [--simulate]: runs the redistributions of a golden file (see
// unit_tests/data). With --simulate all ranks are played in this process; otherwise, under mpiexec,
// the cases run whose mesh fits. Fails if one case does.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include <Kokkos_Core.hpp>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include <tessera/tessera.hpp>

#include "../support/message_limit.hpp"
#include "../support/planned_traffic.hpp"
#include "../support/simulate.hpp"

namespace {

using nlohmann::json;
using tessera::DTensorSpec;
using tessera::Extents;

struct Piece {
  Extents shape;
  Extents offset;
  std::vector<double> values;

  tessera::ArrayRef array() {
    return tessera::row_major(reinterpret_cast<std::byte*>(values.data()),
                              tessera::element_type<double>(), shape, tessera::MemorySpace::host);
  }
};

struct Case {
  DTensorSpec source;
  DTensorSpec target;
  std::vector<Piece> source_pieces;
  std::vector<Piece> target_pieces;
  double tolerance;  ///< absolute
};

Piece read_piece(const json& object) {
  return {object["shape"].get<std::vector<std::int64_t>>(),
          object["offset"].get<std::vector<std::int64_t>>(),
          object["values"].get<std::vector<double>>()};
}

tessera::Placements read_placements(const json& list) {
  std::string text;
  for (const auto& placement : list)
    text += (text.empty() ? "" : ", ") + placement.get<std::string>();
  return tessera::parse_placements(text);
}

double largest_magnitude(const std::vector<Piece>& pieces) {
  double largest = 0.0;
  for (const auto& piece : pieces)
    for (const double value : piece.values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Everything is exact but averages. PyTorch divides once per mesh dim, so where contributions
/// cancel its own values are off by a rounding error of the contributions' size (line 176:
/// 0.16666666666666607 for 1/6): averages may differ by 4e-16 of the largest contribution.
Case read_case(const std::string& line) {
  const auto object = json::parse(line);
  const tessera::MeshLayout layout(object["mesh"].get<std::vector<int>>());
  const Extents shape = object["shape"].get<std::vector<std::int64_t>>();
  Case result{DTensorSpec(layout, read_placements(object["src"]), shape),
              DTensorSpec(layout, read_placements(object["dst"]), shape),
              {},
              {},
              0.0};
  for (const auto& piece : object["src_local"]) result.source_pieces.push_back(read_piece(piece));
  for (const auto& piece : object["dst_local"]) result.target_pieces.push_back(read_piece(piece));
  if (line.find("P(avg)") != std::string::npos)
    result.tolerance = 4e-16 * largest_magnitude(result.source_pieces);
  return result;
}

bool is_equal(const std::vector<double>& values, const std::vector<double>& expected,
              double tolerance) {
  if (values.size() != expected.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::abs(values[i] - expected[i]) <= tolerance)) return false;
  return true;
}

bool is_where_expected(const DTensorSpec& spec, int rank, const Piece& expected) {
  return spec.local_shape(rank) == expected.shape && spec.global_offset(rank) == expected.offset;
}

bool passes_simulated(Case& golden) {
  const auto plan =
      tessera::make_plan(golden.source, golden.target, tessera::element_type<double>());
  std::vector<tessera::ArrayRef> sources;
  std::vector<tessera::ArrayRef> destinations;
  auto results = golden.target_pieces;
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const int mesh_rank = static_cast<int>(rank);
    if (!is_where_expected(golden.source, mesh_rank, golden.source_pieces[rank])) return false;
    if (!is_where_expected(golden.target, mesh_rank, golden.target_pieces[rank])) return false;
    results[rank].values.assign(results[rank].values.size(), -1e300);
    sources.push_back(golden.source_pieces[rank].array());
    destinations.push_back(results[rank].array());
  }
  tessera::test::simulate(plan, sources, destinations);
  for (std::size_t rank = 0; rank < results.size(); ++rank)
    if (!is_equal(results[rank].values, golden.target_pieces[rank].values, golden.tolerance))
      return false;
  return true;
}

/// Whether what was traced is what the plan says.
template <class Source, class Result>
bool is_as_planned(const tessera::test::Traffic& traffic, const Source& source,
                   const Result& result) {
  const auto& mesh = source.device_mesh();
  using tessera::detail::plain_settings;
  const auto settings = plain_settings<typename Source::view_type, typename Result::view_type>();
  const auto redistributor = tessera::detail::cached_redistributor(
      mesh, source.spec(), result.spec(), tessera::element_type<double>(), settings);
  return moved(traffic) == tessera::test::planned(redistributor.plan(), mesh.rank());
}

template <class View>
bool passes_on_mesh(const tessera::DeviceMesh& mesh, Case& golden) {
  if (!mesh.coordinate()) {
    const auto source =
        tessera::from_local(View(), mesh, golden.source.placements(), golden.source.shape());
    return tessera::redistribute(source, golden.target.placements()).to_local().size() == 0;
  }
  const auto rank = static_cast<std::size_t>(mesh.rank());
  const auto view = tessera::detail::allocate<View>(golden.source_pieces[rank].shape, "source");
  tessera::detail::copy({}, golden.source_pieces[rank].array(), tessera::array_ref(view));
  const auto source =
      tessera::from_local(view, mesh, golden.source.placements(), golden.source.shape());
  const tessera::test::Traffic traffic;
  const auto result = tessera::redistribute(source, golden.target.placements());
  if (!is_as_planned(traffic, source, result)) return false;
  auto values = golden.target_pieces[rank];
  values.values.assign(values.values.size(), -1e300);
  tessera::detail::copy({}, tessera::array_ref(result.to_local()), values.array());
  return is_where_expected(result.spec(), mesh.rank(), golden.target_pieces[rank]) &&
         is_equal(values.values, golden.target_pieces[rank].values, golden.tolerance);
}

bool passes_under_mpi(Case& golden) {
  const auto mesh = tessera::init_device_mesh(MPI_COMM_WORLD, golden.source.layout().shape());
  switch (golden.source.shape().size()) {
    case 1:
      return passes_on_mesh<Kokkos::View<double*>>(mesh, golden);
    case 2:
      return passes_on_mesh<Kokkos::View<double**, Kokkos::LayoutLeft>>(mesh, golden);
    case 3:
      return passes_on_mesh<Kokkos::View<double***, Kokkos::LayoutRight>>(mesh, golden);
    case 4:
      return passes_on_mesh<Kokkos::View<double****, Kokkos::LayoutRight>>(mesh, golden);
    default:
      return false;
  }
}

bool passes_on_all_ranks(const tessera::DeviceMesh& world, bool passes_here) {
  const auto passes = tessera::all_gather_value(world.group(), passes_here ? 1 : 0,
                                                tessera::TraceKind::metadata, "golden");
  return std::ranges::all_of(passes, [](int each) { return each == 1; });
}

struct Count {
  int passed = 0;
  int failed = 0;
};

template <class Passes>
Count run_file(std::ifstream& file, int largest_mesh, bool reports, const Passes& passes) {
  Count count;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    auto golden = read_case(line);
    if (golden.source.layout().size() > largest_mesh) continue;
    if (passes(golden)) {
      ++count.passed;
      continue;
    }
    ++count.failed;
    if (reports)
      std::cerr << "line " << number << " failed: " << to_string(golden.source) << " -> "
                << to_string(golden.target) << "\n";
  }
  return count;
}

int report(const Count& count) {
  std::printf("%d passed, %d failed\n", count.passed, count.failed);
  return count.failed == 0 && count.passed > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_simulated = argc == 3 && std::strcmp(argv[2], "--simulate") == 0;
  std::ifstream file(argc >= 2 ? argv[1] : "");
  if (!file || (argc == 3 && !is_simulated) || argc > 3) {
    std::cerr << "usage: golden_redistribute FILE [--simulate], with a FILE that exists\n";
    return 2;
  }
  if (is_simulated) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    return report(run_file(file, 1 << 20, true, passes_simulated));
  }
  const tessera::ScopeGuard guard(argc, argv);
  const auto world = tessera::DeviceMesh::from_comm(MPI_COMM_WORLD);
  const auto limit = tessera::test::limit_of_messages();
  const auto count = run_file(file, world.size(), world.rank() == 0, [&](Case& golden) {
    return passes_on_all_ranks(world, passes_under_mpi(golden));
  });
  return world.rank() == 0 ? report(count) : count.failed;
}
