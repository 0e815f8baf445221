// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the initial state of the heat equation from the state some time steps later. The initial
// state is a sum of three sine modes; gradient descent finds their amplitudes. A tape records the
// simulation, and gives the gradient. The program itself has the adjoint of a time step, which the
// tape does not know.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/tessera.hpp>

#include "heat.hpp"
#include "picture.hpp"

namespace {

using namespace tessera;
using heat::Cube;
using heat::Heat;
using heat::Matrix;
using heat::Vector;

constexpr int failed = 1;
constexpr double bound = 1e-3;            ///< largest error of amplitudes that counts as right
constexpr double dot_test_bound = 1e-13;  ///< relative

/// Gives the length of a step of gradient descent. The second derivative of the misfit is at most 9/8, so
/// that steps up to 16/9 converge.
constexpr double rate = 1;

struct Options {
  std::int64_t n = 32;         ///< inner points of the grid along each dim
  int steps = 50;              ///< time steps
  int iterations = 40;         ///< steps of gradient descent
  std::vector<int> mesh = {};  ///< its shape; empty for all ranks in one mesh dim
};

/// Gives the amplitudes that are to be found.
struct Expected {
  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 1>& mode) const {
    return mode[0] == 0 ? 1.0 : mode[0] == 1 ? -0.5 : 0.25;
  }
};

/// Returns the state after some calls of `step`.
template <class State, class Step>
State evolved(State u, const Step& step, int steps) {
  for (int i = 0; i < steps; ++i) u = step(u);
  return u;
}

/// Makes a time step that a tape can record.
auto recorded_step(const Heat& heat) {
  return grad::function([heat](const DTensor<Matrix>& u) { return heat.forward(u); },
                        [heat](const auto& /*u*/, const auto& /*v*/, const DTensor<Matrix>& dv) {
                          return heat.adjoint(dv);
                        });
}

/// Returns |<A x, y> - <x, A^T y>| / |<A x, y>| for random x and y, where A is the simulation.
double dot_test(const Heat& heat, const DTensor<Matrix>& like, int steps) {
  grad::Tape tape;
  const auto x = tape.watch(rand_like(like));
  const auto y = rand_like(like);
  const auto ax = evolved(x, recorded_step(heat), steps);
  tape.backward(ax, y);
  const auto [left, right] = items(ops::vdot(ax.detach(), y), ops::vdot(x.detach(), x.grad()));
  return std::abs(left - right) / std::abs(left);
}

/// Returns amplitudes whose state after some time steps is close to `observed`.
DTensor<Vector> recovered(const Heat& heat, const DTensor<Cube>& modes,
                          const DTensor<Matrix>& observed, const Options& options) {
  const bool prints = observed.device_mesh().rank() == 0;
  const auto step = recorded_step(heat);
  auto amplitudes = zeros<Vector>(observed.device_mesh(), all_replicate, {3});
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    grad::Tape tape;
    const auto a = tape.watch(amplitudes);
    const auto u = evolved(ops::matmul(modes, a), step, options.steps);
    const auto misfit = ops::mean(ops::square(u - observed));
    tape.backward(misfit);
    amplitudes -= rate * a.grad();
    if (iteration % 10 != 0) continue;
    const double value = item(misfit.detach());
    if (!prints) continue;
    fmt::print("iteration {}: misfit {:.3g}\n", iteration, value);
    std::fflush(
        stdout);  // the launcher reads it through a pipe: without this, lines would come late
  }
  return amplitudes;
}

DeviceMesh make_mesh(const std::vector<int>& shape) {
  const auto all = DeviceMesh::from_comm(MPI_COMM_WORLD);
  if (shape.empty()) return all;
  const auto ranks =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies{});
  require(shape.size() <= 2 && ranks == all.size(), [&] {
    return fmt::format("expected a mesh of 1 or 2 dims with all {} ranks, got {}", all.size(),
                       fmt::join(shape, "x"));
  });
  return init_device_mesh(MPI_COMM_WORLD, shape);
}

/// Returns the amplitudes as text.
std::string text_of(const DTensor<Vector>& amplitudes) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), amplitudes.to_local());
  return fmt::format("{:.4f} {:.4f} {:.4f}", host(0), host(1), host(2));
}

int run(const DeviceMesh& mesh, const Options& options) {
  const bool prints = mesh.rank() == 0;
  const bool is_grid = mesh.ndim() == 2;
  const Placements placements =
      is_grid ? Placements{Balanced(0), Balanced(1)} : Placements{Balanced(0)};
  const auto modes =
      from_function<Cube>(mesh, placements, {options.n, options.n, 3}, heat::Mode{options.n});
  const auto expected = from_function<Vector>(mesh, all_replicate, {3}, Expected());
  const auto begin = ops::matmul(modes, expected);
  const Heat heat(mesh, begin.spec());
  const auto observed = evolved(
      begin, [&](const auto& u) { return heat.forward(u); }, options.steps);
  if (prints) fmt::print("{}\n", to_string(begin.spec()));

  const double mismatch = dot_test(heat, begin, options.steps);
  const bool is_adjoint = mismatch <= dot_test_bound;
  if (prints)
    fmt::print("dot test: {:.2g}: {}, expected at most {}\n", mismatch,
               is_adjoint ? "right" : "WRONG", dot_test_bound);

  const auto found = recovered(heat, modes, observed, options);
  const double error = item(ops::max(ops::abs(found - expected)));
  const bool is_found = error <= bound;
  const auto picture =
      heat::picture({full_tensor(ops::matmul(modes, found)), full_tensor(observed)});
  if (prints) {
    fmt::print("amplitudes found:    {}\namplitudes expected: {}\n", text_of(found),
               text_of(expected));
    fmt::print("largest error {:.2g}: {}, expected at most {}\n", error,
               is_found ? "right" : "WRONG", bound);
    fmt::print("the state found at the beginning, and the one observed {} time steps later:\n{}",
               options.steps, picture);
  }
  return is_adjoint && is_found ? 0 : failed;
}

}  // namespace

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  const bool prints = DeviceMesh::from_comm(MPI_COMM_WORLD).rank() == 0;
  Options options;
  CLI::App app("Finds the initial state of the heat equation by an adjoint simulation");
  app.add_option("--n", options.n, "Inner points of the grid along each dim")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  app.add_option("--steps", options.steps,
                 "Time steps between the initial state and the observed one")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "Iterations of gradient descent")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--mesh", options.mesh,
                 "Shape of the mesh, such as 2x3; all ranks in one dim if left out")
      ->delimiter('x')
      ->check(CLI::Range(1, 1000000));
  try {
    app.parse(argc, argv);
    return run(make_mesh(options.mesh), options);
  } catch (const CLI::Success& help) {
    return prints ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    if (prints) fmt::print(stderr, "adjoint: {}\n", error.what());
    return failed;
  } catch (const Error& error) {
    if (prints) fmt::print(stderr, "adjoint: {}\n", error.what());
    return failed;
  }
}
