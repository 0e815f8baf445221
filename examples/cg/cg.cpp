// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Solves the Poisson equation on a square by the method of conjugate gradients, without a matrix.
// Each rank holds a part of the grid. An iteration exchanges twice: neighbours send each other the
// edges of their parts, and one reduction adds up both dot products.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/tessera.hpp>

#include "allocations.hpp"
#include "grid.hpp"

namespace {

using namespace tessera;
using cg::Matrix;

constexpr int failed = 1;
constexpr double bound = 1e-8;  ///< largest error of a solution that counts as right

struct Options {
  std::int64_t n = 64;         ///< inner points of the grid along each dim
  std::vector<int> mesh = {};  ///< its shape; empty for all ranks in one mesh dim
  int most_iterations = 10000;
  double tolerance = 1e-12;  ///< norm of the last residual, relative to that of the right-hand side
};

struct Solution {
  DTensor<Matrix> x;
  int iterations;            ///< how often x changed
  std::int64_t allocations;  ///< allocations of Views after iteration 2
};

/// Returns y + factor x.
struct PlusTimes {
  double factor;
  KOKKOS_FUNCTION double operator()(double y, double x) const { return y + factor * x; }
};

/// Solves A x = b from x = 0, where A is 4 on the diagonal and -1 for each neighbour.
///
/// The method forms w = A r in place of A p, so that both dot products of an iteration are there at
/// the same time. Source: Chronopoulos and Gear, s-step iterative methods for symmetric linear
/// systems (1989), with s = 1.
Solution solve(const DTensor<Matrix>& b, const Options& options) {
  auto x = zeros_like(b), p = zeros_like(b), s = zeros_like(b), w = zeros_like(b);  // s = A p
  const auto residual = cg::make_field(b.device_mesh(), b.spec());
  const auto& r = residual.tensor;
  deep_copy(r, b);
  const double goal = options.tolerance * options.tolerance * item(ops::vdot(b, b));

  const cg::Allocations allocations;
  std::int64_t allocations_before = 0;
  double alpha = 1, before = std::numeric_limits<double>::infinity();
  int iteration = 0;
  for (; iteration < options.most_iterations; ++iteration) {
    if (iteration == 2) allocations_before = allocations.count();
    residual.halo.fetch(r, residual.patch);
    cg::apply_laplacian(residual.padded, w.to_local());
    const auto [gamma, delta] = items(ops::vdot(r, r), ops::vdot(w, r));
    if (!(gamma > goal)) break;
    const double beta = gamma / before;
    alpha = gamma / (delta - beta * gamma / alpha);
    before = gamma;
    map_into(p, PlusTimes{beta}, r, p);
    map_into(s, PlusTimes{beta}, w, s);
    map_into(x, PlusTimes{alpha}, x, p);
    map_into(r, PlusTimes{-alpha}, r, s);
  }
  return {x, iteration, iteration < 2 ? 0 : allocations.count() - allocations_before};
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

std::int64_t exchanges_of(const CommDebugMode& mode, const std::string& operation) {
  return std::ranges::count_if(mode.records(), [&](const CommRecord& record) {
    return record.kind == TraceKind::exchange && record.operation == operation;
  });
}

int run(const DeviceMesh& mesh, const Options& options) {
  const bool is_grid = mesh.ndim() == 2;
  const Placements placements =
      is_grid ? Placements{Balanced(0), Balanced(1)} : Placements{Balanced(0)};
  const Extents shape{options.n, options.n};
  const auto b = from_function<Matrix>(mesh, placements, shape, cg::RightHandSide{options.n});
  const auto exact = from_function<Matrix>(mesh, placements, shape, cg::ExactSolution{options.n});

  const CommDebugMode mode;
  const auto solution = solve(b, options);
  const auto halos = exchanges_of(mode, "Fetcher::fetch"), reductions = exchanges_of(mode, "items");
  const double error = item(ops::max(ops::abs(solution.x - exact)));

  const bool is_right = error <= bound;
  if (mesh.rank() != 0) return is_right ? 0 : failed;
  // The last pair of dot products says that the residual is small enough.
  const bool has_converged = solution.iterations < options.most_iterations;
  const double pairs = solution.iterations + (has_converged ? 1 : 0);
  fmt::print("{}\n", to_string(b.spec()));
  fmt::print("{} iterations, largest error {:.2g}: {}, expected at most {}\n", solution.iterations,
             error, is_right ? "right" : "WRONG", bound);
  fmt::print("halo exchanges per iteration: {:g}\n", static_cast<double>(halos) / pairs);
  fmt::print("reductions per pair of dot products: {:g}\n",
             static_cast<double>(reductions) / pairs);
  fmt::print("allocations after iteration 2: {}\n", solution.allocations);
  return is_right ? 0 : failed;
}

}  // namespace

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  const bool prints = DeviceMesh::from_comm(MPI_COMM_WORLD).rank() == 0;
  Options options;
  CLI::App app(
      "Conjugate gradients for the 5-point Laplacian on a square with zero boundary values");
  app.add_option("--n", options.n, "Inner points of the grid along each dim")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--mesh", options.mesh,
                 "Shape of the mesh, such as 2x3; all ranks in one dim if left out")
      ->delimiter('x')
      ->check(CLI::Range(1, 1000000));
  app.add_option("--most-iterations", options.most_iterations, "Iterations after which to give up")
      ->check(CLI::Range(1, 1000000000))
      ->capture_default_str();
  app.add_option("--tolerance", options.tolerance,
                 "Norm of the last residual, relative to that of the right-hand side")
      ->check(CLI::Range(1e-15, 1.0))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    return run(make_mesh(options.mesh), options);
  } catch (const CLI::Success& help) {
    return prints ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    if (prints) fmt::print(stderr, "cg: {}\n", error.what());
    return failed;
  } catch (const Error& error) {
    if (prints) fmt::print(stderr, "cg: {}\n", error.what());
    return failed;
  }
}
