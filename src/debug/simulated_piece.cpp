// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include "debug/simulated_contributions.hpp"
#include "debug/simulated_piece.hpp"
#include "plan/cells.hpp"

namespace tessera::detail {
namespace {

/// Returns all combinations of one number per dim, each number times the stride of its dim,
/// row-major.
template <class Number>
std::vector<Number> combined_offsets(const std::vector<std::vector<std::int64_t>>& numbers,
                                     const Extents& strides) {
  std::vector<Number> result{0};
  for (std::size_t d = 0; d < numbers.size(); ++d) {
    std::vector<Number> next;
    next.reserve(result.size() * numbers[d].size());
    for (const auto before : result)
      for (const auto number : numbers[d])
        next.push_back(before + static_cast<Number>(number * strides[d]));
    result = std::move(next);
  }
  return result;
}

/// Calls visit(flat global index, position in the piece) for every element of `piece`.
template <class Visit>
void for_each_element(const DTensorSpec& spec, const SimulatedPiece& piece, const Visit& visit) {
  std::vector<std::vector<std::int64_t>> indices;
  for (const auto& sections : piece.piece.sections) {
    auto& list = indices.emplace_back();
    for (std::int64_t i = 0; i < sections.extent(); ++i) list.push_back(sections.global_index(i));
  }
  std::size_t position = 0;
  for (const auto flat : combined_offsets<std::int64_t>(indices, row_major_strides(spec.shape())))
    visit(flat, position++);
}

/// Reduces the contributions of `rank` and of all ranks that differ from it only along Partial mesh
/// dims.
SimulatedPiece reduced(const DTensorSpec& spec, const SimulatedContributions& contributions,
                       int rank, std::span<const SimulatedPiece> pieces) {
  const auto& layout = spec.layout();
  auto result = SimulatedPiece::filled(pieces[at(rank)].piece, identity_of(contributions.op));
  auto coordinate = layout.coordinate(rank);
  for_each_coordinate(layout, contributions.mesh_dims, coordinate, [&](int) {
    const auto& values = pieces[at(layout.mesh_rank(coordinate))].values;
    for (std::size_t i = 0; i < values.size(); ++i)
      result.values[i] = combined(contributions.op, result.values[i], values[i]);
  });
  return result;
}

std::string piece_mistake(const DTensorSpec& spec, std::span<const SimulatedPiece> pieces) {
  for (int rank = 0; rank < spec.layout().size(); ++rank) {
    const auto expected = spec.sections(spec.layout().coordinate(rank));
    const auto& piece = pieces[at(rank)].piece;
    if (piece != expected)
      return fmt::format("rank {}: expected a piece {}, got {}", rank, to_string(expected),
                         to_string(piece));
  }
  return "";
}

std::string described(std::int64_t value) {
  return value == not_written ? "nothing" : std::to_string(value);
}

}  // namespace

SimulatedPiece SimulatedPiece::filled(Piece piece, std::int64_t value) {
  const auto size = static_cast<std::size_t>(piece.size());
  return {std::move(piece), std::vector<std::int64_t>(size, value)};
}

std::vector<std::size_t> positions(const Blocks& blocks, const Block& block, BlockEnd end,
                                   const Piece& piece) {
  std::vector<std::vector<std::int64_t>> indices(block.shape.size());
  for (std::size_t d = 0; d < indices.size(); ++d)
    for (const auto& run : blocks.runs(block, d)) {
      const auto [offset, stride] = end == BlockEnd::sender ? run.from : run.to;
      for (std::int64_t i = 0; i < run.extent; ++i)
        indices[d].push_back(offset + i / run.block * stride + i % run.block);
    }
  return combined_offsets<std::size_t>(indices, row_major_strides(piece.shape()));
}

bool lies_in(const Blocks& blocks, const Block& block, BlockEnd end, const Piece& piece) {
  const auto shape = piece.shape();
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (const auto& run : blocks.runs(block, d)) {
      const auto [offset, stride] = end == BlockEnd::sender ? run.from : run.to;
      const auto last =
          offset + (run.extent - 1) / run.block * stride + (run.extent - 1) % run.block;
      if (offset < 0 || last >= shape[d]) return false;
    }
  return true;
}

SimulatedPiece source_piece(const DTensorSpec& spec, int mesh_rank) {
  const SimulatedContributions contributions(spec);
  const auto coordinate = spec.layout().coordinate(mesh_rank);
  const auto contribution = contributions.contribution_of(coordinate);
  auto piece = SimulatedPiece::filled(spec.sections(coordinate), not_written);
  for_each_element(spec, piece, [&](std::int64_t flat, std::size_t position) {
    piece.values[position] = contributions.value(contribution, flat);
  });
  return piece;
}

Comparison compared(const DTensorSpec& spec, std::span<const SimulatedPiece> pieces) {
  Comparison result{0, piece_mistake(spec, pieces)};
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
                                   to_string(piece.piece), described(value));
    });
  }
  return result;
}

}  // namespace tessera::detail
