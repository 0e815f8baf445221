// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// golden_operators FILE: runs, under mpiexec, the calls of a golden file (see unit_tests/data) whose
// mesh has as many ranks. Fails if a value differs from PyTorch's, or placements do without one of the
// reasons below.
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include <mpi.h>
#include <nlohmann/json.hpp>

#include <tessera/tessera.hpp>

namespace {

using namespace tessera;
using nlohmann::json;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;
using Index = Kokkos::Array<std::int64_t, 2>;

Placements placements_of(const json& list) {
  std::string text;
  for (const auto& placement : list)
    text += (text.empty() ? "" : ", ") + placement.get<std::string>();
  return parse_placements(text);
}

/// Returns the tensor of an operand. Along a Partial, the first coordinate has the value and 5 for each
/// other coordinate, and these have -5.
DTensor<Matrix> tensor_of(const DeviceMesh& mesh, const json& operand) {
  const Extents shape = operand["shape"].get<std::vector<std::int64_t>>();
  const auto placements = placements_of(operand["placements"]);
  std::vector<Placement> whole;
  for (const auto& placement : placements)
    whole.push_back(placement.is_partial() ? Placement(Replicate()) : placement);
  const auto values = operand["values"].get<std::vector<double>>();
  const Kokkos::View<double*, Kokkos::HostSpace> host("values", values.size());
  std::copy(values.begin(), values.end(), host.data());
  const auto view = Kokkos::create_mirror_view_and_copy(Matrix::memory_space(), host);
  double factor = 1, added = 0;
  for (std::size_t m = 0; m < placements.size(); ++m) {
    if (!placements[m].is_partial()) continue;
    const bool is_first = (*mesh.coordinate())[m] == 0;
    factor = is_first ? factor : 0;
    added = is_first ? added + 5.0 * (mesh.shape()[m] - 1) : -5.0;
  }
  const auto columns = shape[1];
  const auto pieces = from_function<Matrix>(
      mesh, whole, shape,
      KOKKOS_LAMBDA(const Index& i) { return factor * view(i[0] * columns + i[1]) + added; });
  return from_local(pieces.to_local(), mesh, placements, shape);
}

/// Holds the result of a call, of any number of dims.
struct Result {
  DTensorSpec spec;
  std::vector<double> values;
};

template <class V>
Result result_of(const DTensor<V>& tensor) {
  const auto full = full_tensor(tensor);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), full);
  Result result{tensor.spec(), {}};
  for (std::size_t i = 0; i < host.size(); ++i)
    result.values.push_back(static_cast<double>(host.data()[i]));
  return result;
}

template <class Op>
Result reduced(const Op& op, const DTensor<Matrix>& x, const json& call) {
  if (call["dim"].is_null()) return result_of(op(x));
  const auto dim = call["dim"].get<int>();
  return call["keep_dim"].get<bool>() ? result_of(op(x, KeepDims{dim})) : result_of(op(x, dim));
}

Result run(const DeviceMesh& mesh, const json& call) {
  using Run = std::function<Result(const DTensor<Matrix>&)>;
  const auto x = tensor_of(mesh, call["operands"][0]);
  const auto y = call["operands"].size() > 1 ? tensor_of(mesh, call["operands"][1]) : x;
  const double number = call.value("number", 0.0);
  const std::map<std::string, Run> operators{
      {"add", [&](const auto& a) { return result_of(a + y); }},
      {"subtract", [&](const auto& a) { return result_of(a - y); }},
      {"multiply", [&](const auto& a) { return result_of(a * y); }},
      {"divide", [&](const auto& a) { return result_of(a / y); }},
      {"maximum", [&](const auto& a) { return result_of(ops::maximum(a, y)); }},
      {"less", [&](const auto& a) { return result_of(a < y); }},
      {"negate", [](const auto& a) { return result_of(-a); }},
      {"abs", [](const auto& a) { return result_of(ops::abs(a)); }},
      {"exp", [](const auto& a) { return result_of(ops::exp(a)); }},
      {"relu", [](const auto& a) { return result_of(ops::relu(a)); }},
      {"square", [](const auto& a) { return result_of(ops::square(a)); }},
      {"tanh", [](const auto& a) { return result_of(ops::tanh(a)); }},
      {"add_number", [&](const auto& a) { return result_of(a + number); }},
      {"multiply_number", [&](const auto& a) { return result_of(a * number); }},
      {"sum", [&](const auto& a) { return reduced(ops::sum, a, call); }},
      {"mean", [&](const auto& a) { return reduced(ops::mean, a, call); }},
      {"max", [&](const auto& a) { return reduced(ops::max, a, call); }},
      {"min", [&](const auto& a) { return reduced(ops::min, a, call); }},
  };
  return operators.at(call["op"].get<std::string>())(x);
}

bool are_close(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-12 * std::max(1.0, std::abs(b[i])))) return false;
  return true;
}

/// Says why placements differ from PyTorch's; nothing if there is no reason.
std::string reason(const json& call, const Placements& ours, const Placements& theirs) {
  const auto has_partial = [](const json& operand) {
    return placements_of(operand["placements"]).has_partial();
  };
  for (std::size_t m = 0; m < ours.size(); ++m) {
    if (ours[m] == theirs[m]) continue;
    if (call["mesh"][m] == 1) return "one rank along a mesh dim holds the same by all placements";
    if (ours[m].is_partial(ReduceOp::avg) || theirs[m].is_partial(ReduceOp::avg))
      return "a mean is P(sum) of sums divided by the global size, right for uneven shards";
    if (ours[m].is_partial() && !theirs[m].is_partial())
      return "a Partial passes through a linear operator, where PyTorch reduces it";
  }
  for (const auto& operand : call["operands"])
    if (has_partial(operand))
      return "a Partial is reduced into the sharding that moves fewest bytes";
  if (call["operands"].size() > 1)
    return "of the rules that fit, the one that moves fewest bytes: PyTorch prices by its own "
           "model";
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int passed = 0, failed = 0;
  std::map<std::string, int> reasons;
  const RedistributionScope scope(Redistribution::any);
  std::ifstream file(argc > 1 ? argv[1] : "");
  std::map<std::vector<int>, DeviceMesh> meshes;
  for (std::string line; std::getline(file, line);) {
    const auto call = json::parse(line);
    const auto shape = call["mesh"].get<std::vector<int>>();
    if (MeshLayout(shape).size() != size) continue;
    auto& mesh = meshes[shape];
    if (mesh.is_null()) mesh = init_device_mesh(MPI_COMM_WORLD, shape);
    const auto result = run(mesh, call);
    const auto theirs = placements_of(call["result"]["placements"]);
    bool fits = are_close(result.values, call["result"]["values"].get<std::vector<double>>());
    if (fits && !(result.spec.placements() == theirs)) {
      const auto why = reason(call, result.spec.placements(), theirs);
      fits = !why.empty();
      ++reasons[why];
    }
    ++(fits ? passed : failed);
    if (!fits && mesh.rank() == 0)
      std::cout << "failed: " << to_string(result.spec) << " from " << line << "\n";
  }
  meshes.clear();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::cout << passed << " passed, " << failed << " failed\n";
    for (const auto& [why, count] : reasons)
      std::cout << count << " with other placements: " << why << "\n";
  }
  return failed == 0 && passed > 0 ? 0 : 1;
}
