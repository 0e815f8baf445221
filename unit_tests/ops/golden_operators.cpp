// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// golden_operators FILE: runs, under mpiexec, the calls of a golden file (see unit_tests/data) whose
// mesh has as many ranks. Fails if a value differs from PyTorch's, or placements do without one of
// the reasons below.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <mpi.h>
#include <nlohmann/json.hpp>

#include <tessera/tessera.hpp>

namespace {

using namespace tessera;
using nlohmann::json;
using Vector = Kokkos::View<double*, Kokkos::LayoutRight>;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;
using Batch = Kokkos::View<double***, Kokkos::LayoutRight>;
using Indices = Kokkos::View<std::int64_t*, Kokkos::LayoutRight>;

Placements placements_of(const json& list) {
  std::string text;
  for (const auto& placement : list)
    text += (text.empty() ? "" : ", ") + placement.get<std::string>();
  return parse_placements(text);
}

/// Gives `factor` times the value with a global index, plus `added`.
template <class V>
struct ElementOf {
  static constexpr std::size_t tensor_dims = V::rank();

  Vector values;  ///< row-major
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
  std::vector<Placement> whole;
  for (const auto& placement : placements)
    whole.push_back(placement.is_partial() ? Placement(Replicate()) : placement);
  const auto values = operand["values"].get<std::vector<double>>();
  const Kokkos::View<double*, Kokkos::HostSpace> host("values", values.size());
  std::copy(values.begin(), values.end(), host.data());
  ElementOf<V> element{Kokkos::create_mirror_view_and_copy(Vector::memory_space(), host), {}, 1, 0};
  for (std::size_t d = 0; d != shape.size(); ++d) element.shape[d] = shape[d];
  for (std::size_t m = 0; m < placements.size(); ++m) {
    if (!placements[m].is_partial()) continue;
    const bool is_first = (*mesh.coordinate())[m] == 0;
    element.factor = is_first ? element.factor : 0;
    element.added = is_first ? element.added + 5.0 * (mesh.shape()[m] - 1) : -5.0;
  }
  const auto pieces = from_function<V>(mesh, whole, shape, element);
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

/// Calls `op` with the operands of a call, which have these View types.
template <class... Views, class Op>
Result called(const DeviceMesh& mesh, const json& call, const Op& op) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    // Braces make the operands in order, the same on all ranks.
    const std::tuple<DTensor<Views>...> operands{tensor_of<Views>(mesh, call["operands"][I])...};
    return result_of(op(std::get<I>(operands)...));
  }
  (std::index_sequence_for<Views...>());
}

Result run(const DeviceMesh& mesh, const json& call) {
  using Run = std::function<Result()>;
  const double number = call.value("number", 0.0);
  const auto offset = call.value("offset", std::int64_t{0});
  const auto dim = call.contains("dim") && !call["dim"].is_null() ? call["dim"].get<int>() : 0;
  const auto one = [&]<class Op>(const Op& op) -> Run {
    return [&mesh, &call, op] { return called<Matrix>(mesh, call, op); };
  };
  const auto two = [&]<class Op>(const Op& op) -> Run {
    return [&mesh, &call, op] { return called<Matrix, Matrix>(mesh, call, op); };
  };
  const auto over_dim = [&]<class Op>(const Op& op) -> Run {
    return one([op, dim](const auto& x) { return op(x, dim); });
  };
  const auto reduced = [&]<class Op>(const Op& op) -> Run {
    if (call.contains("dim") && call["dim"].is_null()) return one(op);
    if (call.value("keep_dim", false))
      return one([op, dim](const auto& x) { return op(x, KeepDims{dim}); });
    return over_dim(op);
  };
  const auto with_offset = [&]<class Op>(const Op& op) -> Run {
    return one([op, offset](const auto& x) { return op(x, offset); });
  };
  const bool is_vector = call["operands"][0]["shape"].size() == 1;
  const Run diag_of_vector = [&] {
    return called<Vector>(mesh, call, [&](const auto& x) { return ops::diag(x, offset); });
  };
  const Run take = [&] {
    return called<Matrix, Indices>(mesh, call, [&](const auto& table, const auto& indices) {
      return ops::take(table, indices, dim);
    });
  };
  const std::map<std::string, Run> operators{
      {"add", two([](const auto& a, const auto& b) { return a + b; })},
      {"subtract", two([](const auto& a, const auto& b) { return a - b; })},
      {"multiply", two([](const auto& a, const auto& b) { return a * b; })},
      {"divide", two([](const auto& a, const auto& b) { return a / b; })},
      {"maximum", two(ops::maximum)},
      {"less", two([](const auto& a, const auto& b) { return a < b; })},
      {"negate", one([](const auto& a) { return -a; })},
      {"abs", one(ops::abs)},
      {"exp", one(ops::exp)},
      {"relu", one(ops::relu)},
      {"square", one(ops::square)},
      {"tanh", one(ops::tanh)},
      {"add_number", one([number](const auto& a) { return a + number; })},
      {"multiply_number", one([number](const auto& a) { return a * number; })},
      {"sum", reduced(ops::sum)},
      {"mean", reduced(ops::mean)},
      {"max", reduced(ops::max)},
      {"min", reduced(ops::min)},
      {"softmax", over_dim(ops::softmax)},
      {"log_softmax", over_dim(ops::log_softmax)},
      {"logsumexp", over_dim(ops::logsumexp)},
      {"cumsum", over_dim(ops::cumsum)},
      {"tril", with_offset(ops::tril)},
      {"triu", with_offset(ops::triu)},
      {"diag", is_vector ? diag_of_vector : with_offset(ops::diag)},
      {"diagonal", with_offset(ops::diag)},
      {"trace", one(ops::trace)},
      {"mm", two(ops::matmul)},
      {"mv", [&] { return called<Matrix, Vector>(mesh, call, ops::matmul); }},
      {"bmm", [&] { return called<Batch, Batch>(mesh, call, ops::matmul); }},
      {"outer", [&] { return called<Vector, Vector>(mesh, call, ops::outer); }},
      {"embedding", take},
      {"index_select", take},
      {"cross_entropy", [&] { return called<Matrix, Indices>(mesh, call, ops::cross_entropy); }},
  };
  return operators.at(call["op"].get<std::string>())();
}

bool are_close(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-12 * std::max(1.0, std::abs(b[i])))) return false;
  return true;
}

/// Returns whether no operand needs to be sliced, reduced or moved for a call. All ranks return the
/// same.
bool fits_as_it_is(const DeviceMesh& mesh, const json& call) {
  const RedistributionScope scope(Redistribution::none);
  try {
    run(mesh, call);
    return true;
  } catch (const PlacementMismatch&) {
    return false;
  }
}

/// Says why placements differ from PyTorch's; nothing if there is no reason. `fits` says whether
/// the operator takes the operands as they are.
std::string reason(const json& call, const Placements& ours, const Placements& theirs, bool fits) {
  const auto& operands = call["operands"];
  const auto op = call["op"].get<std::string>();
  const bool is_product = op == "mm" || op == "mv" || op == "bmm";
  const bool has_partial = std::any_of(operands.begin(), operands.end(), [](const json& operand) {
    return placements_of(operand["placements"]).has_partial();
  });
  const bool picks = op == "diag" || op == "diagonal" || op == "trace" || op == "embedding" ||
                     op == "index_select";
  const auto first = placements_of(operands[0]["placements"]);
  for (std::size_t m = 0; m < ours.size(); ++m) {
    if (ours[m] == theirs[m]) continue;
    if (call["mesh"][m] == 1) return "one rank along a mesh dim holds the same by all placements";
    if (ours[m].is_partial(ReduceOp::avg) || theirs[m].is_partial(ReduceOp::avg))
      return "a mean is P(sum) of sums divided by the global size, right for uneven shards";
    if (ours[m].is_partial() && !theirs[m].is_partial()) {
      if (has_partial)
        return "a Partial passes through a linear operator, where PyTorch reduces it";
      if (op == "cross_entropy" || op == "mean")
        return "a mean over a split dim stays Partial, where PyTorch reduces it";
      if (fits && picks)
        return "each rank gives its own elements as Partial, where PyTorch gathers the operand";
    }
    if (theirs[m].is_partial() && !ours[m].is_partial() && has_partial && is_product)
      return "a product reduces a Partial operand, where PyTorch passes it on";
    if (operands.size() == 1 && first[m].is_shard() && ours[m].is_shard() &&
        theirs[m].is_replicate())
      return "an operand stays split, where PyTorch gathers it";
  }
  if (has_partial) return "a Partial is reduced into the sharding that moves fewest bytes";
  if (operands.size() > 1 && !fits)
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
    const Extents expected_shape = call["result"]["shape"].get<std::vector<std::int64_t>>();
    bool fits = result.spec.shape() == expected_shape &&
                are_close(result.values, call["result"]["values"].get<std::vector<double>>());
    if (!(result.spec.placements() == theirs)) {
      const auto why = reason(call, result.spec.placements(), theirs, fits_as_it_is(mesh, call));
      fits = fits && !why.empty();
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
