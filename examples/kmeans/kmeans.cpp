// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds clusters of handwritten digits by the k-means algorithm. Each row of the input is a square
// picture. The ranks share the rows, and all of them hold the centres. The result is compared with
// that of plain loops on one rank, to which it must be equal.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <tessera/tessera.hpp>

#include "clusters.hpp"
#include "pictures.hpp"
#include "serial.hpp"

namespace {

using namespace tessera;
using kmeans::HostMatrix, kmeans::Matrix;

using HostNumbers = Kokkos::View<std::int64_t*, Kokkos::LayoutRight, Kokkos::HostSpace>;
using HostNumberMatrix = Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Kokkos::HostSpace>;

constexpr int failed = 1;

struct Options {
  std::string input = KMEANS_DEFAULT_INPUT;
  std::string labels;  ///< file to read; "" for NAME_labels.npy beside the input, if it is there
  std::string picture = "centres.pgm";
  std::int64_t clusters = 10;
  int most_iterations = 300;
};

struct IsWhole {
  KOKKOS_FUNCTION bool operator()(double value) const { return Kokkos::floor(value) == value; }
};

/// Throws unless sums of rows, and sums of their squares, are exact: whole numbers below 2^53.
void require_exact_sums(const DTensor<Matrix>& x, const std::string& path) {
  const auto [is_whole, largest] = items(ops::all(map<bool>(IsWhole(), x)), ops::max(ops::abs(x)));
  require<IoError>(is_whole, "'" + path + "': expected whole numbers, got others");
  const double sum = static_cast<double>(x.extent(0)) * largest;
  require<IoError>(
      sum * sum * static_cast<double>(x.extent(1)) < 0x1p53,
      fmt::format("'{}': expected numbers whose sums are exact, got numbers up to {:g}", path,
                  largest));
}

DTensor<Matrix> read_pictures(const DeviceMesh& mesh, const Options& options) {
  auto x = read_npy<Matrix>(options.input, mesh, {Balanced(0)});
  const auto width = std::llround(std::sqrt(static_cast<double>(x.extent(1))));
  require<IoError>(width > 0 && width * width == x.extent(1), [&] {
    return fmt::format("'{}': expected square pictures, such as 64 columns for 8 x 8, got shape {}",
                       options.input, to_string(x.shape()));
  });
  require(options.clusters <= x.extent(0), [&] {
    return fmt::format("expected at most as many clusters as rows, got {} clusters of {} rows",
                       options.clusters, x.extent(0));
  });
  require_exact_sums(x, options.input);
  return x;
}

/// Returns the label of each row on every rank; nothing if there is no file.
HostNumbers read_labels(const DeviceMesh& mesh, const Options& options, std::int64_t rows) {
  auto path = options.labels;
  if (path.empty()) {
    std::filesystem::path beside(options.input);
    path = beside.replace_filename(beside.stem().string() + "_labels.npy").string();
    std::error_code error;
    const int exists = mesh.rank() == 0 && std::filesystem::exists(path, error) ? 1 : 0;
    if (all_reduce(exists, ReduceOp::max, mesh) == 0) return {};
  }
  const auto labels = read_npy<HostNumbers>(path, mesh);
  require<IoError>(labels.extent(0) == rows, [&] {
    return fmt::format("'{}': expected {} labels, one for each row, got {}", path, rows,
                       labels.extent(0));
  });
  return labels.to_local();
}

template <class V>
auto on_host(const V& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Returns the most frequent label of the rows of a cluster, and its share: "3 (97 %)".
std::string most_frequent_label(const HostNumberMatrix& nearest, std::int64_t cluster,
                                const HostNumbers& labels) {
  std::map<std::int64_t, std::int64_t> counts;
  std::int64_t rows = 0;
  for (std::size_t row = 0; row < labels.extent(0); ++row) {
    if (nearest(row, 0) != cluster) continue;
    ++counts[labels(row)];
    ++rows;
  }
  if (rows == 0) return "none";
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  return fmt::format("{} ({} %)", most->first, 100 * most->second / rows);
}

void print_clusters(const HostNumberMatrix& nearest, std::int64_t k, const HostNumbers& labels) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(k), 0);
  for (std::size_t row = 0; row < nearest.extent(0); ++row)
    ++sizes[static_cast<std::size_t>(nearest(row, 0))];
  fmt::print("cluster   rows{}\n", labels.extent(0) > 0 ? "  most frequent label" : "");
  for (std::int64_t cluster = 0; cluster < k; ++cluster) {
    fmt::print("{:7}  {:5}", cluster, sizes[static_cast<std::size_t>(cluster)]);
    if (labels.extent(0) > 0) fmt::print("  {}", most_frequent_label(nearest, cluster, labels));
    fmt::print("\n");
  }
}

HostMatrix centres_of(const kmeans::Clusters& clusters) {
  const auto sums = on_host(clusters.sums.to_local());
  const auto counts = on_host(clusters.counts.to_local());
  HostMatrix result("centres", sums.extent(0), sums.extent(1));
  for (std::size_t cluster = 0; cluster < result.extent(0); ++cluster)
    for (std::size_t j = 0; j < result.extent(1); ++j)
      result(cluster, j) = sums(cluster, j) / counts(cluster, 0);
  return result;
}

/// Returns whether plain loops assign each row to the same cluster.
bool equals_serial(const HostMatrix& x, const HostNumberMatrix& nearest, std::int64_t k,
                   int iterations) {
  const auto serial = kmeans::serial_assignment(x, static_cast<std::size_t>(k), iterations);
  std::int64_t different = 0;
  for (std::size_t row = 0; row < serial.size(); ++row)
    if (serial[row] != nearest(row, 0)) ++different;
  if (different == 0) fmt::print("equal to the serial assignment\n");
  if (different > 0)
    fmt::print("WRONG: {} of {} rows are in other clusters than by the serial program\n", different,
               serial.size());
  return different == 0;
}

/// Prints and writes what was found, and returns whether all went well.
bool report(const Options& options, const kmeans::Result& result, const HostMatrix& x,
            const HostNumberMatrix& nearest, const HostNumbers& labels) {
  print_clusters(nearest, options.clusters, labels);
  const kmeans::Pictures centres(centres_of(result.clusters));
  fmt::print("{}", kmeans::as_text(centres));
  const bool is_written = kmeans::write_pgm(options.picture, centres);
  if (!is_written) fmt::print(stderr, "kmeans: cannot write '{}'\n", options.picture);
  return equals_serial(x, nearest, options.clusters, result.iterations) && is_written;
}

int run(const DeviceMesh& mesh, const Options& options) {
  const auto x = read_pictures(mesh, options);
  const auto labels = read_labels(mesh, options, x.extent(0));
  const CommDebugMode mode;
  const auto result = kmeans::find_clusters(x, options.clusters, options.most_iterations);
  const auto exchanges = mode.get_total_counts();

  const HostMatrix all_rows = on_host(gather_to(x, 0));
  const HostNumberMatrix nearest = on_host(gather_to(result.nearest, 0));
  int wrong = 0;
  if (mesh.rank() == 0) {
    fmt::print("{} in {}\n", to_string(x.spec()), options.input);
    fmt::print("{} clusters after {} iterations and {} exchanges{}\n", options.clusters,
               result.iterations, exchanges, result.is_stable ? "" : "; centres still move");
    wrong = report(options, result, all_rows, nearest, labels) ? 0 : 1;
  }
  return all_reduce(wrong, ReduceOp::sum, mesh) == 0 ? 0 : failed;
}

}  // namespace

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const bool prints = mesh.rank() == 0;
  Options options;
  CLI::App app("k-means clusters of square pictures in the rows of an .npy matrix");
  app.add_option("--input", options.input, "2-d .npy file of whole numbers, one picture per row")
      ->capture_default_str();
  app.add_option("--labels", options.labels,
                 "1-d .npy file with an integer for each row; NAME_labels.npy beside the input, if "
                 "it is there");
  app.add_option("--picture", options.picture, "PGM file for the centres")->capture_default_str();
  app.add_option("--clusters", options.clusters, "How many")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--most-iterations", options.most_iterations, "Iterations after which to stop")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    return run(mesh, options);
  } catch (const CLI::Success& help) {
    return prints ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    if (prints) fmt::print(stderr, "kmeans: {}\n", error.what());
    return failed;
  } catch (const Error& error) {
    if (prints) fmt::print(stderr, "kmeans: {}\n", error.what());
    return failed;
  }
}
