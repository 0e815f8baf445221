// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tessera/plan/detail/transfer.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// Holds the elements of one simulated rank, row-major in local indices.
struct SimulatedPiece {
  Piece piece;
  std::vector<std::int64_t> values;

  static SimulatedPiece filled(Piece piece, std::int64_t value);
};

/// Selects the sender's or the receiver's piece.
enum class BlockEnd { sender, receiver };

/// Returns the positions of a block's elements in the values of a piece, in the order in which they
/// travel.
std::vector<std::size_t> positions(const Blocks& blocks, const Block& block, BlockEnd end,
                                   const Piece& piece);
/// Returns whether the block lies in a piece.
bool lies_in(const Blocks& blocks, const Block& block, BlockEnd end, const Piece& piece);

/// Marks an element that nothing was written to.
inline constexpr std::int64_t not_written = INT64_MIN;

/// Returns the source piece of a rank. Each element is its flat global index or, if the spec is
/// Partial, a contribution to it. Averages divide without remainder, in whatever order mesh dims
/// are reduced.
SimulatedPiece source_piece(const DTensorSpec& spec, int mesh_rank);

struct Comparison {
  std::int64_t elements = 0;
  std::string mistake = {};  ///< first mistake found; empty if there is none
};

/// Compares pieces, indexed by mesh rank, with `spec`: each piece must have its sections, and each
/// element, reduced if `spec` is Partial, must be its flat global index (for avg, times the
/// divisor).
Comparison compared(const DTensorSpec& spec, std::span<const SimulatedPiece> pieces);

}  // namespace tessera::detail
