// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// golden_gradients FILE: runs, under mpiexec, the forward and backward passes of a golden file (see
// unit_tests/data) whose mesh has as many ranks. Fails if a value differs from PyTorch's, if a
// gradient has not the placements of its tensor, or if the number of exchanges of a backward pass
// differs from PyTorch's number of collectives by more than the reasons below allow.
#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <mpi.h>

#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/linear_algebra.hpp>
#include <tessera/grad/movement.hpp>
#include <tessera/grad/reductions.hpp>
#include <tessera/grad/tape.hpp>
#include <tessera/tessera.hpp>

#include "../support/golden.hpp"
#include "../support/traffic.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
using Matrix = detail::view_like_t<Kokkos::View<double**, Kokkos::LayoutRight>, double, 2>;
using Scalar = detail::view_like_t<Matrix, double, 0>;
using Tensor = grad::Variable<Matrix>;
using Number = grad::Variable<Scalar>;
using Local = grad::LocalVariable<Matrix>;
using Value = std::variant<Tensor, Number, Local>;

/// Returns the View that this rank has of a local value.
Matrix piece_of(const DeviceMesh& mesh, const json& local) {
  const auto& piece = local["pieces"][static_cast<std::size_t>(mesh.rank())];
  const auto shape = piece["shape"].get<std::vector<std::size_t>>();
  const auto values = piece["values"].get<std::vector<double>>();
  const Matrix result("piece", shape[0], shape[1]);
  const auto host = Kokkos::create_mirror_view(result);
  for (std::size_t i = 0; i < values.size(); ++i) host(i / shape[1], i % shape[1]) = values[i];
  Kokkos::deep_copy(result, host);
  return result;
}

grad::LocalOptions labels_of(const json& step) {
  if (!step.contains("grad_placements")) return {};
  return {placements_of(step["grad_placements"])};
}

[[noreturn]] void throw_unknown(const json& step) {
  throw std::invalid_argument("golden_gradients: no such step: " + step.dump());
}

/// Runs a step that moves a value.
Value moved(const DeviceMesh& mesh, const json& step, const Value& x) {
  const auto op = step["op"].get<std::string>();
  if (op == "redistribute")
    return grad::redistribute(std::get<Tensor>(x), placements_of(step["placements"]));
  if (op == "to_local") return grad::to_local(std::get<Tensor>(x), labels_of(step));
  if (op == "full_tensor") return grad::full_tensor(std::get<Tensor>(x), labels_of(step));
  if (op == "from_local")
    return grad::from_local(std::get<Local>(x), mesh, placements_of(step["placements"]),
                            labels_of(step));
  throw_unknown(step);
}

/// Runs an operator of one matrix, which may be local.
template <class X>
Value applied(const json& step, const X& x) {
  const auto op = step["op"].get<std::string>();
  if (op == "negate") return ops::negate(x);
  if (op == "abs") return ops::abs(x);
  if (op == "exp") return ops::exp(x);
  if (op == "relu") return ops::relu(x);
  if (op == "square") return ops::square(x);
  if (op == "tanh") return ops::tanh(x);
  if (op == "add_number") return ops::add(x, step["number"].get<double>());
  if (op == "multiply_number") return ops::multiply(x, step["number"].get<double>());
  throw_unknown(step);
}

/// Runs an operator of two matrices.
Value combined(const json& step, const Tensor& a, const Tensor& b) {
  const auto op = step["op"].get<std::string>();
  if (op == "add") return ops::add(a, b);
  if (op == "subtract") return ops::subtract(a, b);
  if (op == "multiply") return ops::multiply(a, b);
  if (op == "divide") return ops::divide(a, b);
  if (op == "mm") return ops::matmul(a, b);
  throw_unknown(step);
}

/// Runs a reduction or a softmax of a matrix.
Value along_dim(const json& step, const Tensor& x) {
  const auto op = step["op"].get<std::string>();
  const bool is_sum = op == "sum";
  if (step["dim"].is_null()) return is_sum ? Value(ops::sum(x)) : Value(ops::mean(x));
  const auto dim = step["dim"].get<int>();
  if (op == "softmax") return ops::softmax(x, dim);
  if (op == "log_softmax") return ops::log_softmax(x, dim);
  return is_sum ? Value(ops::sum(x, KeepDims{dim})) : Value(ops::mean(x, KeepDims{dim}));
}

Value run_step(const DeviceMesh& mesh, const json& step, const std::vector<Value>& values) {
  const auto of = step["of"].get<std::vector<std::size_t>>();
  const auto op = step["op"].get<std::string>();
  const auto& x = values[of[0]];
  constexpr std::array moves{"redistribute", "to_local", "full_tensor", "from_local"};
  if (std::find(moves.begin(), moves.end(), op) != moves.end()) return moved(mesh, step, x);
  if (of.size() == 2) return combined(step, std::get<Tensor>(x), std::get<Tensor>(values[of[1]]));
  if (step.contains("dim")) return along_dim(step, std::get<Tensor>(x));
  if (std::holds_alternative<Local>(x)) return applied(step, std::get<Local>(x));
  return applied(step, std::get<Tensor>(x));
}

/// Starts the backward pass at a result, and returns the number of exchanges of this rank.
int run_backward(grad::Tape& tape, const DeviceMesh& mesh, const json& pass, const Value& result) {
  const auto count = [&](const auto& value, const auto&... gradient) {
    const Traffic traffic;
    tape.backward(value, gradient...);
    return traffic.exchanges();
  };
  if (const auto* const number = std::get_if<Number>(&result)) return count(*number);
  if (const auto* const tensor = std::get_if<Tensor>(&result))
    return count(*tensor, tensor_of<Matrix>(mesh, pass["gradient"]));
  return count(std::get<Local>(result), piece_of(mesh, pass["gradient"]));
}

/// Returns whether a condition holds on all ranks.
bool is_true_everywhere(bool is_true) {
  int result = is_true ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return result == 1;
}

/// Returns whether a tensor, or the View of each rank, has these values, each divided by `divisor`.
template <class T>
bool has_values(const DeviceMesh& mesh, const T& value, const json& expected, double divisor = 1) {
  const auto fits = [&](const auto& view, const json& values) {
    auto wanted = values.get<std::vector<double>>();
    for (auto& element : wanted) element /= divisor;
    return is_true_everywhere(are_close(elements_of(view), wanted));
  };
  if constexpr (is_dtensor_v<T>)
    return fits(full_tensor(value), expected["values"]);
  else
    return fits(value, expected["pieces"][static_cast<std::size_t>(mesh.rank())]["values"]);
}

/// Holds what one forward and backward pass gave.
struct Outcome {
  std::vector<Value> values;  ///< the inputs, then the results of all steps
  int exchanges = 0;          ///< in the backward pass, the most of any rank
};

Outcome run(const DeviceMesh& mesh, const json& pass) {
  Outcome outcome;
  auto& values = outcome.values;
  grad::Tape tape;
  for (const auto& input : pass["inputs"]) {
    if (input.contains("pieces"))
      values.emplace_back(tape.watch_local(piece_of(mesh, input)));
    else
      values.emplace_back(tape.watch(tensor_of<Matrix>(mesh, input)));
  }
  for (const auto& step : pass["steps"]) values.push_back(run_step(mesh, step, values));
  outcome.exchanges = run_backward(tape, mesh, pass, values.back());
  MPI_Allreduce(MPI_IN_PLACE, &outcome.exchanges, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return outcome;
}

/// Returns by what PyTorch's gradient of an input is divided to be ours: the number of ranks along
/// each P(avg) that the pass makes of local values without `grad_placements`.
double divisor_of_averages(const json& pass) {
  const auto& step = pass["steps"][0];
  double result = 1;
  if (step["op"] != "from_local" || step.contains("grad_placements")) return result;
  const auto placements = placements_of(step["placements"]);
  for (std::size_t m = 0; m < placements.size(); ++m)
    if (placements[m].is_partial(ReduceOp::avg)) result *= pass["mesh"][m].get<double>();
  return result;
}

/// Returns how often PyTorch's adjoints reduce an operand that is Partial, and that they read: once
/// for each mesh dim.
int reductions_of_operands(const json& pass) {
  constexpr std::array readers{"abs", "square", "multiply", "divide", "mm"};
  const auto& inputs = pass["inputs"];
  const auto& steps = pass["steps"];
  int result = 0;
  for (const auto& step : steps) {
    if (std::find(readers.begin(), readers.end(), step["op"].get<std::string>()) == readers.end())
      continue;
    for (const auto k : step["of"].get<std::vector<std::size_t>>()) {
      const bool is_input = k < inputs.size();
      const auto& operand = is_input ? inputs[k] : steps[k - inputs.size()];
      const auto placements = operand.find(is_input ? "placements" : "result");
      if (placements == operand.end()) continue;  // a local value
      for (const auto& placement : placements_of(*placements))
        if (placement.is_partial()) ++result;
    }
  }
  return result;
}

/// Returns how many softmaxes have operands that are split along their dim.
int split_softmaxes(const json& pass, const std::vector<Value>& values) {
  int result = 0;
  for (const auto& step : pass["steps"]) {
    const auto op = step["op"].get<std::string>();
    if (op != "softmax" && op != "log_softmax") continue;
    const auto& x = std::get<Tensor>(values[step["of"][0].get<std::size_t>()]);
    const auto dim = step["dim"].get<int>();
    const auto& placements = x.placements();
    if (std::any_of(placements.begin(), placements.end(),
                    [dim](const Placement& placement) { return placement.is_shard(dim); }))
      ++result;
  }
  return result;
}

/// Returns how many products are placed otherwise than PyTorch's. Both systems choose among placements
/// of equal cost on meshes of several dims.
int products_placed_otherwise(const json& pass, const std::vector<Value>& values) {
  int result = 0;
  for (std::size_t k = 0; k < pass["steps"].size(); ++k) {
    const auto& step = pass["steps"][k];
    if (step["op"] != "mm") continue;
    const auto& product = std::get<Tensor>(values[pass["inputs"].size() + k]);
    if (product.placements() != placements_of(step["result"])) ++result;
  }
  return result;
}

/// Compares the gradient of an input. Returns whether it is placed as PyTorch's.
bool compare_gradient(Comparison& comparison, const DeviceMesh& mesh, const Value& leaf,
                      const json& pass, const json& expected) {
  if (const auto* const local = std::get_if<Local>(&leaf)) {
    const auto divisor = divisor_of_averages(pass);
    if (!has_values(mesh, local->grad(), expected, divisor)) comparison.mistake = "a gradient";
    if (divisor != 1)
      comparison.reasons.emplace_back(
          "from_local() divides the gradient of an average by the number of ranks, where PyTorch "
          "passes it on as it is");
    return true;
  }
  const auto& tensor = std::get<Tensor>(leaf);
  const auto& ours = tensor.grad().placements();
  const auto theirs = placements_of(expected["placements"]);
  if (!has_values(mesh, tensor.grad(), expected)) comparison.mistake = "a gradient";
  if (ours != with_whole(tensor.placements()))
    comparison.mistake = "a gradient with placements " + to_string(ours);
  if (ours == theirs) return true;
  comparison.reasons.emplace_back(
      theirs.has_partial()
          ? "the gradient of a watched tensor is reduced, where PyTorch leaves it Partial"
          : "the gradient of a watched tensor gets the placements of the tensor, where PyTorch "
            "leaves those that the operator gave");
  return false;
}

/// Compares the number of exchanges with PyTorch's number of collectives. `are_alike` tells whether
/// the gradients of all watched tensors are placed as PyTorch's.
void compare_exchanges(Comparison& comparison, const json& pass, const Outcome& outcome,
                       bool are_alike) {
  const int ours = outcome.exchanges;
  int theirs = 0;
  for (const auto& count : pass["collectives"]) theirs += count.get<int>();
  const int mesh_dims = static_cast<int>(pass["mesh"].size());
  const int reductions = reductions_of_operands(pass);
  const int sums = split_softmaxes(pass, outcome.values);
  const int products = products_placed_otherwise(pass, outcome.values);
  const int least = (theirs - reductions + mesh_dims - 1) / mesh_dims;
  const int most = theirs + sums + products + (are_alike ? 0 : 1);
  if (ours < least || ours > most) {
    comparison.mistake = std::to_string(ours) + " exchanges where " + std::to_string(least) +
                         " to " + std::to_string(most) + " are expected";
    return;
  }
  auto& reasons = comparison.reasons;
  if (ours < theirs && reductions > 0)
    reasons.emplace_back(
        "fewer exchanges: an operand is reduced in the forward pass alone, where PyTorch reduces "
        "it again in the backward pass");
  else if (ours < theirs)
    reasons.emplace_back(
        "fewer exchanges: one goes along all mesh dims, where PyTorch takes one for each");
  if (ours > theirs && sums > 0)
    reasons.emplace_back(
        "one exchange more: softmax leaves its dim split and adds up over ranks, where PyTorch has "
        "gathered the dim in the forward pass");
  if (ours > theirs + sums + (are_alike ? 0 : 1))
    reasons.emplace_back(
        "one exchange more: a product is placed otherwise, and a factor moves in its adjoint");
  else if (ours > theirs + sums)
    reasons.emplace_back(
        "one exchange more gives the gradients of all watched tensors the placements of the "
        "tensors, where PyTorch leaves others");
}

/// Runs a case, and compares it.
Comparison compare(const DeviceMesh& mesh, const json& pass) {
  const auto outcome = run(mesh, pass);
  Comparison comparison;
  bool are_alike = true;
  for (std::size_t k = 0; k < pass["inputs"].size(); ++k)
    are_alike &= compare_gradient(comparison, mesh, outcome.values[k], pass, pass["gradients"][k]);
  compare_exchanges(comparison, pass, outcome, are_alike);
  const auto is_right = [&](const auto& value) {
    return has_values(mesh, value.detach(), pass["result"]);
  };
  if (!std::visit(is_right, outcome.values.back())) comparison.mistake = "the result";
  return comparison;
}

}  // namespace

int main(int argc, char** argv) {
  return run_golden(argc, argv, "otherwise", compare);
}
