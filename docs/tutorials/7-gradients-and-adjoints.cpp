// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <tuple>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Matrix = Kokkos::View<double**>;
using Vector = Kokkos::View<double*>;

namespace {

using docs::check;
using docs::contains;

/// `count` on several ranks; one exchanges nothing.
std::int64_t on(const DeviceMesh& mesh, std::int64_t count) {
  return mesh.size() > 1 ? count : 0;
}

/// Returns the largest absolute value.
template <class V>
double largest(const DTensor<V>& tensor) {
  return item(ops::max(ops::abs(tensor)));
}

void descent(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, Shard(0), {60, 10});
  auto y = rand<Matrix>(mesh, Shard(0), {60, 4});
  auto weights = zeros<Matrix>(mesh, Replicate(), {10, 4});

  CommDebugMode mode;
  grad::Tape tape;
  auto w = tape.watch(weights);
  auto loss = ops::mean(ops::square(ops::matmul(x, w) - y));
  tape.backward(loss);        // 1 exchange: each rank has a part of the sum over the rows
  weights -= 0.1 * w.grad();  // the gradient is R, as the weights are

  check(mode.get_total_counts() == on(mesh, 1), "one reduction");
  const auto by_hand = reduce_partial(ops::matmul(transpose(x), y)) * (0.1 * 2 / 240);
  check(largest(weights - by_hand) < 1e-14, "a step of descent");
}

void accumulation(const DeviceMesh& mesh) {
  auto values = ones<Matrix>(mesh, Replicate(), {8, 3});
  grad::Tape tape;
  auto x = tape.watch(values, {.grad_placements = Placements{Shard(0)}});
  auto y = ops::sum(ops::square(x));
  tape.backward(y, {.retain = true});  // keeps the record for one more pass
  tape.backward(y);
  auto twice = x.grad();  // S(0); the sum over both passes
  tape.zero_grad();
  bool has_gradient = x.has_grad();  // false
  check(twice.placements() == Placements{Shard(0)}, "as asked for");
  check(largest(twice - 4.0) == 0 && !has_gradient, "sums");
}

void local_pieces(const DeviceMesh& mesh) {
  auto values = ones<Matrix>(mesh, Replicate(), {8, 3});
  CommDebugMode mode;
  grad::Tape tape;
  auto x = tape.watch(values);  // R: the same on all ranks
  auto mine = grad::to_local(x, {.grad_placements = Placements{Partial()}});
  auto scaled = ops::multiply(mine, mesh.rank() + 1.0);  // other values on each rank
  auto all = grad::from_local(scaled, mesh, Partial(), {8, 3});
  tape.backward(ops::sum(all));  // 1 exchange: the contributions of the ranks are summed up
  check(mode.get_total_counts() == on(mesh, 1), "one reduction");
  check(largest(x.grad() - mesh.size() * (mesh.size() + 1) / 2.0) == 0, "1 + 2 + …");
}

void kernels(const DeviceMesh& mesh) {
  auto scaled = grad::local_map(
      [](const Matrix& x, const Vector& scale) { return ops::multiply(x, scale); },
      [](const Matrix& x, const Vector& scale, const Matrix& /*y*/, const Matrix& dy) {
        return std::tuple(ops::multiply(dy, scale), ops::sum(ops::multiply(dy, x), 0));
      },
      {Shard(0)},                   // the result
      {{Shard(0)}, {Replicate()}},  // what the function takes
      {{Shard(0)}, {Partial()}});   // what the gradients of x and of scale are

  grad::Tape tape;
  auto x = tape.watch(rand<Matrix>(mesh, Shard(0), {12, 5}));
  auto scale = tape.watch(rand<Vector>(mesh, Replicate(), {5}));
  tape.backward(ops::sum(scaled(x, scale)));

  check(x.grad().placements() == Placements{Shard(0)}, "rows");
  check(scale.grad().placements() == Placements{Replicate()}, "reduced");
  const auto columns = reduce_partial(ops::sum(x.detach(), 0));
  check(largest(scale.grad() - columns) < 1e-13, "sums of columns");
}

auto make_average() {
  return grad::function(
      [](const DTensor<Matrix>& x) { return 0.5 * (x + roll(x, 1, 0)); },
      [](const DTensor<Matrix>& /*x*/, const DTensor<Matrix>& /*y*/, const DTensor<Matrix>& dy) {
        return 0.5 * (dy + roll(dy, -1, 0));  // rolls back
      });
}

void functions(const DeviceMesh& mesh) {
  auto average = make_average();
  grad::Tape tape;
  auto x = tape.watch(rand<Matrix>(mesh, Shard(0), {12, 5}));
  auto y = rand<Matrix>(mesh, Shard(0), {12, 5});
  auto ax = average(x);
  tape.backward(ax, y);  // the gradient of x is Aᵀ y
  auto [left, right] = items(ops::vdot(ax.detach(), y), ops::vdot(x.detach(), x.grad()));
  bool is_adjoint = std::abs(left - right) <= 1e-13 * std::abs(left);
  check(is_adjoint, "dot test");
}

void checkpoints(const DeviceMesh& mesh) {
  const auto average = make_average();
  auto start = rand<Matrix>(mesh, Shard(0), {12, 5});
  grad::Tape tape;
  auto u = tape.watch(start);
  auto step = [&](const grad::Variable<Matrix>& state, auto...) {
    return average(ops::sin(state));
  };
  auto once = grad::checkpoint(step, u);  // runs again in the backward pass
  auto end = grad::checkpoint(step, once, {.steps = 100, .snapshots = 5});
  tape.backward(ops::sum(end));

  grad::Tape plain;
  const auto v = plain.watch(start);
  auto state = step(v);
  for (int i = 0; i < 100; ++i) state = step(state);
  plain.backward(ops::sum(state));
  check(largest(u.grad() - v.grad()) < 1e-13, "same gradient");
}

void with_parameters(const DeviceMesh& mesh) {
  grad::Tape tape;
  auto x = tape.watch(rand<Matrix>(mesh, Shard(0), {12, 5}));
  auto w = tape.watch(rand<Matrix>(mesh, Shard(0), {12, 5}, {.seed = 1}));
  {
    auto layer = [](const auto& x, const auto& w) { return ops::tanh(x * w); };
    auto y = grad::checkpoint(layer, x, w);
    tape.backward(ops::sum(y));
    check(w.has_grad(), "a parameter is an input");
  }
  const auto &u0 = x, &c = w;
  {
    auto step = [](const auto& u, int, const auto& c) { return u - 0.1 * c * u * u; };
    auto u = grad::checkpoint(step, u0, {.steps = 1000, .snapshots = 10}, c);
    check(largest(u.detach()) < 1, "it decays");
  }
  auto cube =
      grad::function([](const auto& x) { return x * x * x; },
                     [](const auto& x, const auto&, const auto& dy) { return 3 * x * x * dy; });
  auto y = cube(x);
  tape.zero_grad();
  tape.backward(ops::sum(y));
  check(largest(x.grad() - 3 * x.detach() * x.detach()) < 1e-13, "3 x x");
}

void errors(const DeviceMesh& mesh) {
  auto values = rand<Matrix>(mesh, Shard(0), {12, 5});
  std::string text;
  {
    grad::Tape tape;
    auto x = tape.watch(values);
    auto y = ops::sum(ops::square(x));
    tape.backward(y);
    try {
      tape.backward(y);
    } catch (const InvalidArgument& error) {  // on every rank
      text = error.what();
    }
    check(contains(text, "{.retain = true}"), "second pass");
    const grad::NoRecordScope plain;
    auto z = ops::square(x);  // a variable that no tape records
    check(!z.has_grad() && x.has_grad(), "not recorded");
  }
  grad::Tape tape({.check_saved = true});
  auto x = tape.watch(values);
  auto y = ops::sum(ops::square(x));
  Kokkos::deep_copy(values.to_local(), 2.0);  // the adjoint of square needs what was there
  try {
    tape.backward(y);
  } catch (const InvalidArgument& error) {  // on every rank
    text = error.what();
  }
  check(contains(text, "was changed after it was recorded"), "changed");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  descent(mesh);
  accumulation(mesh);
  local_pieces(mesh);
  kernels(mesh);
  functions(mesh);
  checkpoints(mesh);
  with_parameters(mesh);
  errors(mesh);
  return docs::status();
}
