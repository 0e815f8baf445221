// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the principal components of a matrix that no rank holds in full. Each row of the input
// is an observation, each column a variable.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <tessera/tessera.hpp>

#include "analysis.hpp"

namespace {

using namespace tessera;
using pca::HostMatrix, pca::Matrix, pca::Region;

constexpr int failed = 1;
constexpr int cannot_run = 2;

struct Options {
  std::string input = PCA_DEFAULT_INPUT;
  std::string output = "components.npy";
  std::int64_t components = 5;
  std::string trace;  ///< file to write; "" for no trace
};

struct Component {
  double eigenvalue;
  double ratio;  ///< share of the variance that it explains
};

/// NumPy computes these components for the default input.
constexpr Component references[] = {{179.006930098, 0.148905935841},
                                    {163.717746882, 0.136187712396},
                                    {141.788439092, 0.117945937640},
                                    {101.100375203, 0.084099794210},
                                    {69.513165591, 0.057824146640}};
constexpr double tolerance = 1e-9;

bool is_default_input(const std::string& path) {
  std::error_code error;
  return std::filesystem::equivalent(path, Options().input, error);
}

bool agrees_with_reference(const std::vector<Component>& components) {
  bool agrees = true;
  for (std::size_t i = 0; i < std::min(components.size(), std::size(references)); ++i)
    agrees = agrees && std::abs(components[i].eigenvalue - references[i].eigenvalue) <= tolerance &&
             std::abs(components[i].ratio - references[i].ratio) <= tolerance;
  return agrees;
}

DTensor<Matrix> read_observations(const DeviceMesh& mesh, const std::string& path) {
  const Region region("read");
  auto data = read_npy<Matrix>(path, mesh, {Shard(0)});
  require<IoError>(data.extent(0) >= 2 && data.extent(1) >= 1, [&] {
    return fmt::format("'{}': expected at least 2 rows and 1 column, got shape {}", path,
                       to_string(data.shape()));
  });
  return data;
}

void print_owners(const DTensor<Matrix>& data, const std::string& path) {
  fmt::print("{} observations of {} variables in {}\n", data.extent(0), data.extent(1), path);
  for (int rank = 0; rank < data.device_mesh().size(); ++rank) {
    const auto first = data.spec().global_offset(rank)[0];
    const auto rows = data.spec().local_shape(rank)[0];
    fmt::print("  rank {} holds {}\n", rank,
               rows == 0 ? "no row" : fmt::format("rows {} to {}", first, first + rows - 1));
  }
}

std::vector<Component> components_of(const pca::EigenPairs& pairs, double variance,
                                     std::int64_t count) {
  std::vector<Component> result;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = std::max(0.0, pairs.values[static_cast<std::size_t>(i)]);
    result.push_back({value, variance > 0 ? value / variance : 0});
  }
  return result;
}

void print_components(const std::vector<Component>& components, bool has_reference) {
  fmt::print("component    eigenvalue  explained variance{}\n",
             has_reference ? "  NumPy: eigenvalue  explained variance" : "");
  for (std::size_t i = 0; i < components.size(); ++i) {
    fmt::print("{:9}  {:12.9f}  {:18.12f}", i + 1, components[i].eigenvalue, components[i].ratio);
    if (has_reference && i < std::size(references))
      fmt::print("  {:17.9f}  {:18.12f}", references[i].eigenvalue, references[i].ratio);
    fmt::print("\n");
  }
  if (has_reference)
    fmt::print("{} to {}\n", agrees_with_reference(components) ? "agrees" : "DOES NOT AGREE",
               tolerance);
}

/// Returns one component per row, with the sign that makes its entry of largest magnitude positive.
HostMatrix vectors_of(const pca::EigenPairs& pairs, std::int64_t count) {
  HostMatrix result("vectors", count, pairs.vectors.extent(0));
  for (std::int64_t row = 0; row < count; ++row) {
    double largest = 0;
    for (std::int64_t i = 0; i < pca::columns_of(result); ++i)
      if (std::abs(pairs.vectors(i, row)) > std::abs(largest)) largest = pairs.vectors(i, row);
    for (std::int64_t i = 0; i < pca::columns_of(result); ++i)
      result(row, i) = std::copysign(1.0, largest) * pairs.vectors(i, row);
  }
  return result;
}

int analyse(const DeviceMesh& mesh, const Options& options) {
  const auto data = read_observations(mesh, options.input);
  const auto count = std::min(options.components, data.extent(1));
  const bool prints = mesh.rank() == 0;
  if (prints) print_owners(data, options.input);

  pca::centre(data);
  const double variance = pca::total_variance(data);
  require<IoError>(std::isfinite(variance),
                   "'" + options.input + "': expected finite numbers, got others");
  const auto pairs = pca::leading_eigenpairs(pca::covariance(data), count);

  const Region region("write");
  write_npy(options.output,
            from_local(vectors_of(pairs, count), mesh, {Replicate()}, {count, data.extent(1)}));
  const bool has_reference = is_default_input(options.input);
  const auto components = components_of(pairs, variance, count);
  if (prints) print_components(components, has_reference);
  return has_reference && !agrees_with_reference(components) ? failed : 0;
}

int traced(const DeviceMesh& mesh, const Options& options) {
  if (options.trace.empty()) return analyse(mesh, options);
  const CommDebugMode mode;
  const int status = analyse(mesh, options);
  mode.write_chrome_trace(mesh, options.trace);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const bool prints = mesh.rank() == 0;
  Options options;
  CLI::App app("Principal component analysis of an .npy matrix, observations in rows");
  app.add_option("--input", options.input, "2-d .npy file of real numbers")->capture_default_str();
  app.add_option("--output", options.output, ".npy file for the components, one per row")
      ->capture_default_str();
  app.add_option("--components", options.components, "How many")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--trace", options.trace, "File for a trace of what each rank communicates");
  try {
    app.parse(argc, argv);
    return traced(mesh, options);
  } catch (const CLI::Success& help) {
    return prints ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    if (prints) fmt::print(stderr, "pca: {}\n", error.what());
    return cannot_run;
  } catch (const Error& error) {
    if (prints) fmt::print(stderr, "pca: {}\n", error.what());
    return cannot_run;
  }
}
