// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "debug/simulated_contributions.hpp"
#include "debug/simulated_piece.hpp"
#include "plan/cells.hpp"

namespace tessera::detail {
namespace {

std::int64_t flat_index(const Extents& shape, const Extents& index) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return flat;
}

/// Calls visit(flat global index, position in the piece) for every element of `piece`.
template <class Visit>
void for_each_element(const DTensorSpec& spec, const SimulatedPiece& piece, const Visit& visit) {
  std::size_t position = 0;
  for_each_row(piece.box, [&](const Extents& index) {
    const auto first = flat_index(spec.shape(), index);
    for (std::size_t i = 0; i < row_size(piece.box); ++i)
      visit(first + static_cast<std::int64_t>(i), position++);
  });
}

/// Reduces the contributions of `rank` and of all ranks that differ from it only along Partial mesh
/// dims.
SimulatedPiece reduced(const DTensorSpec& spec, const SimulatedContributions& contributions,
                       int rank, std::span<const SimulatedPiece> pieces) {
  const auto& layout = spec.layout();
  auto result = SimulatedPiece::filled(pieces[at(rank)].box, identity_of(contributions.op));
  auto coordinate = layout.coordinate(rank);
  for_each_coordinate(layout, contributions.mesh_dims, coordinate, [&](int) {
    const auto& values = pieces[at(layout.mesh_rank(coordinate))].values;
    for (std::size_t i = 0; i < values.size(); ++i)
      result.values[i] = combined(contributions.op, result.values[i], values[i]);
  });
  return result;
}

std::string box_mistake(const DTensorSpec& spec, std::span<const SimulatedPiece> pieces) {
  for (int rank = 0; rank < spec.layout().size(); ++rank) {
    const auto expected = spec.piece(spec.layout().coordinate(rank));
    const auto& box = pieces[at(rank)].box;
    if (box != expected)
      return fmt::format("rank {}: expected a piece {}, got {}", rank, to_string(expected),
                         to_string(box));
  }
  return "";
}

std::string described(std::int64_t value) {
  return value == not_written ? "nothing" : std::to_string(value);
}

}  // namespace

SimulatedPiece SimulatedPiece::filled(const Box& box, std::int64_t value) {
  return {box, std::vector<std::int64_t>(static_cast<std::size_t>(box.size()), value)};
}

std::size_t SimulatedPiece::position(const Extents& index) const {
  std::int64_t result = 0;
  for (std::size_t d = 0; d < index.size(); ++d)
    result = result * box.shape[d] + index[d] - box.offset[d];
  return static_cast<std::size_t>(result);
}

SimulatedPiece source_piece(const DTensorSpec& spec, int mesh_rank) {
  const SimulatedContributions contributions(spec);
  const auto coordinate = spec.layout().coordinate(mesh_rank);
  const auto contribution = contributions.contribution_of(coordinate);
  auto piece = SimulatedPiece::filled(spec.piece(coordinate), not_written);
  for_each_element(spec, piece, [&](std::int64_t flat, std::size_t position) {
    piece.values[position] = contributions.value(contribution, flat);
  });
  return piece;
}

Comparison compared(const DTensorSpec& spec, std::span<const SimulatedPiece> pieces) {
  Comparison result{0, box_mistake(spec, pieces)};
  const SimulatedContributions contributions(spec);
  const auto& layout = spec.layout();
  for (int rank = 0; rank < layout.size() && result.mistake.empty(); ++rank) {
    if (contributions.contribution_of(layout.coordinate(rank)) != 0) continue;
    const auto piece =
        contributions.number == 1 ? pieces[at(rank)] : reduced(spec, contributions, rank, pieces);
    for_each_element(spec, piece, [&](std::int64_t flat, std::size_t position) {
      ++result.elements;
      const auto value = piece.values[position];
      if (value == flat * contributions.divisor || !result.mistake.empty()) return;
      result.mistake = fmt::format("rank {}: expected {} in element {} of its piece {}, got {}",
                                   rank, flat * contributions.divisor, position,
                                   to_string(piece.box), described(value));
    });
  }
  return result;
}

}  // namespace tessera::detail
