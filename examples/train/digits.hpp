// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tessera/tessera.hpp>

/// This part of the program reads pictures of digits, and chooses those of each training step. All ranks of a
/// mesh with the dims "dp" and "tp" call its functions together. Rows of pictures are split along "dp".
namespace train {

using tessera::DeviceMesh, tessera::DTensor, tessera::IoError;
using tessera::Placements, tessera::Replicate, tessera::Shard;

using Device = Kokkos::DefaultExecutionSpace::device_type;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Device>;
using Cube = Kokkos::View<double***, Kokkos::LayoutRight, Device>;
using Numbers = Kokkos::View<std::int64_t*, Kokkos::LayoutRight, Device>;
using NumberMatrix = Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Device>;
using Number = Kokkos::View<double, Kokkos::LayoutRight, Device>;

using Rows = std::vector<std::int64_t>;

constexpr std::int64_t classes = 10;         ///< number of digits
constexpr std::int64_t held_out_period = 5;  ///< rows from one that is held out to the next one

struct Digits {
  DTensor<Matrix> pictures;  ///< one in each row, with numbers from 0 to 1; split along "dp"
  DTensor<Numbers> labels;   ///< the digit of each row; on all ranks
};

/// Throws IoError unless each row has a label, which is a digit.
inline void require_labels(const DTensor<Numbers>& labels, std::int64_t rows,
                           const std::string& path) {
  tessera::require<IoError>(labels.extent(0) == rows, [&] {
    return "'" + path + "': expected " + std::to_string(rows) + " labels, one for each row, got " +
           std::to_string(labels.extent(0));
  });
  if (rows == 0) return;
  const auto [least, most] = items(tessera::ops::min(labels), tessera::ops::max(labels));
  tessera::require<IoError>(least >= 0 && most < classes, [&, least = least, most = most] {
    return "'" + path + "': expected labels from 0 to " + std::to_string(classes - 1) +
           ", got labels from " + std::to_string(least) + " to " + std::to_string(most);
  });
}

/// Reads pictures and labels. Each rank reads its own rows of the pictures, and all labels.
inline Digits read_digits(const DeviceMesh& mesh, const std::string& input,
                          const std::string& labels) {
  const auto numbers = tessera::read_npy<Matrix>(input, mesh, {Shard(0), Replicate()});
  tessera::require<IoError>(numbers.extent(0) >= held_out_period && numbers.extent(1) >= 1, [&] {
    return "'" + input + "': expected at least " + std::to_string(held_out_period) +
           " rows and 1 column, got shape " + to_string(numbers.shape());
  });
  const double largest = item(tessera::ops::max(tessera::ops::abs(numbers)));
  tessera::require<IoError>(std::isfinite(largest) && largest > 0, [&] {
    return "'" + input + "': expected finite numbers that are not all 0, got others";
  });
  Digits digits{numbers / largest, tessera::read_npy<Numbers>(labels, mesh)};
  require_labels(digits.labels, numbers.extent(0), labels);
  return digits;
}

/// Returns the rows that are held out, or those to train with. This depends on their number alone.
inline Rows split_rows(std::int64_t rows, bool are_held_out) {
  Rows result;
  for (std::int64_t row = 0; row < rows; ++row)
    if ((row % held_out_period == held_out_period - 1) == are_held_out) result.push_back(row);
  return result;
}

/// Puts rows into a random order: the same one for a seed on all ranks, and with all compilers.
inline void shuffle(Rows& rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (auto left = rows.size(); left > 1; --left) std::swap(rows[left - 1], rows[random() % left]);
}

/// Returns row numbers, in rows of `batch`, as a tensor that all ranks have. The last ones that do not
/// fill a row are left out.
inline DTensor<NumberMatrix> in_batches(const DeviceMesh& mesh, const Rows& rows,
                                        std::int64_t batch) {
  const auto steps = static_cast<std::int64_t>(rows.size()) / batch;
  const NumberMatrix numbers("train::in_batches", static_cast<std::size_t>(steps),
                             static_cast<std::size_t>(batch));
  const auto host = Kokkos::create_mirror_view(numbers);
  for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] = rows[i];
  Kokkos::deep_copy(numbers, host);
  return tessera::from_local(numbers, mesh, tessera::all_replicate, {steps, batch});
}

/// Holds the digits of one epoch: batch after batch along the first dim. The second dim counts the pictures of
/// a batch, and is split along "dp".
struct Batches {
  DTensor<Cube> pictures;
  DTensor<NumberMatrix> labels;

  std::int64_t size() const { return labels.extent(0); }
};

/// Returns the digits of these rows. Each rank finds the pictures that it has read, and one exchange brings them
/// to where they are needed. No training step exchanges pictures then.
inline Batches batches_of(const Digits& digits, const DTensor<NumberMatrix>& rows) {
  const auto found = tessera::ops::take(digits.pictures, rows);  // P(sum) along "dp"
  const auto mine = redistribute(rows, {Shard(1), Replicate()});
  return {redistribute(found, {Shard(1), Replicate()}), tessera::ops::take(digits.labels, mine)};
}

/// Returns the batches of an epoch.
inline Batches shuffled(const Digits& digits, std::int64_t batch, std::uint64_t seed) {
  auto rows = split_rows(digits.labels.extent(0), false);
  shuffle(rows, seed);
  return batches_of(digits, in_batches(digits.labels.device_mesh(), rows, batch));
}

/// Returns the digits that are held out, in one batch.
inline Batches held_out(const Digits& digits) {
  const auto rows = split_rows(digits.labels.extent(0), true);
  return batches_of(digits, in_batches(digits.labels.device_mesh(), rows,
                                       static_cast<std::int64_t>(rows.size())));
}

}  // namespace train
