// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// golden_operators FILE: runs, under mpiexec, the calls of a golden file (see unit_tests/data) whose
// mesh has as many ranks. Fails if a value differs from PyTorch's, or placements do without one of
// the reasons below.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tessera/tessera.hpp>

#include "../support/golden.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
using Vector = Kokkos::View<double*, Kokkos::LayoutRight>;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;
using Batch = Kokkos::View<double***, Kokkos::LayoutRight>;
using Indices = Kokkos::View<std::int64_t*, Kokkos::LayoutRight>;

/// Holds the result of a call, of any number of dims.
struct Result {
  DTensorSpec spec;
  std::vector<double> values;
};

template <class V>
Result result_of(const DTensor<V>& tensor) {
  return {tensor.spec(), elements_of(full_tensor(tensor))};
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

/// Compares values, and placements.
Comparison compare(const DeviceMesh& mesh, const json& call) {
  const auto result = run(mesh, call);
  const auto& expected = call["result"];
  const auto& ours = result.spec;
  const auto theirs = placements_of(expected["placements"]);
  const Extents shape = expected["shape"].get<std::vector<std::int64_t>>();
  Comparison comparison;
  bool fits = ours.shape() == shape &&
              are_close(result.values, expected["values"].get<std::vector<double>>());
  if (ours.placements() != theirs) {
    const auto why = reason(call, ours.placements(), theirs, fits_as_it_is(mesh, call));
    fits = fits && !why.empty();
    comparison.reasons.push_back(why);
  }
  if (!fits) comparison.mistake = to_string(ours);
  return comparison;
}

}  // namespace

int main(int argc, char** argv) {
  return run_golden(argc, argv, "with other placements", compare);
}
