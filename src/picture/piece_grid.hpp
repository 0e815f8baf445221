// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// A part of a tensor dim in a picture, or what is left out between two parts.
struct ShownPart {
  int part = 0;  ///< in split order; -1: parts left out
  Interval interval;
};

/// 0 … count−1 where `most` numbers suffice; else the first and the last of them with -1 between.
std::vector<int> shown_indices(std::size_t count, int most);

/// "3-7"; "3" for one index.
std::string range_text(Interval interval);

/// "0-3, 6, 8-9" for ascending numbers; the first runs and how many there are where they are many.
std::string ranges_text(const std::vector<int>& ascending);

/// Sizes in a picture: proportional to the extents, none below `least`, `total` in all where there
/// is room for that; what is left out takes `gap`.
std::vector<double> sizes_to_scale(const std::vector<ShownPart>& parts, double least, double gap,
                                   double total);

/// A rank whose View is not the piece that its spec says.
struct WrongPiece {
  int mesh_rank;
  Extents expected;
  Extents given;
};

/// How ranks are numbered in a picture.
enum class RankNumbers { mesh, communicator };

/// The pieces of a spec as a grid of cells, one for each piece with elements; who holds it is told
/// in few numbers, however many ranks do. A cell is named by its part of each tensor dim.
class PieceGrid {
 public:
  using Cell = std::vector<int>;

  /// `wrong` ascending by rank.
  explicit PieceGrid(const DTensorSpec& spec, std::vector<WrongPiece> wrong = {},
                     RankNumbers numbers = RankNumbers::mesh);

  const DTensorSpec& spec() const { return spec_; }
  bool has_elements() const;
  /// Tensor dim along rows and columns, -1 where there is none: the last two.
  int row_dim() const { return spec_.tensor_dims() - 2 < 0 ? -1 : spec_.tensor_dims() - 2; }
  int column_dim() const { return spec_.tensor_dims() - 1; }

  /// Parts with elements, at most `most` of them; that of the whole for dim -1.
  std::vector<ShownPart> parts(int tensor_dim, int most) const;
  std::size_t count(int tensor_dim) const;

  /// The ranks that hold a cell: "3"; "0=4" for replicas; "0+4 P(sum)" for terms; "0=2 +1=3 P(sum)"
  /// for replicated terms; "0=1=…=7" for many. "!" marks wrong ones.
  std::string holders(const Cell& cell) const;
  /// The first of them in the mesh.
  int first_rank(const Cell& cell) const;
  Extents shape(const Cell& cell) const;

  /// More than one rank has the same, or terms of the same.
  bool has_replicas() const;
  bool has_terms() const { return spec_.placements().has_partial(); }

  const std::vector<WrongPiece>& wrong() const { return wrong_; }
  /// "ranks 6-7 hold nothing"; "" where each rank holds something.
  std::string empty_ranks() const;
  /// "not shown: 96 of 100 parts of dim 0", for parts left out at `most`; "" where there are none.
  std::string parts_left_out(int tensor_dim, int most) const;

 private:
  std::vector<int> first_coordinate(const Cell& cell) const;
  int number_of(int mesh_rank) const;
  std::string rank_text(int mesh_rank) const;
  std::string term_text(std::vector<int> coordinate) const;
  std::string with_hidden_marks(const std::string& text, const Cell& cell) const;

  DTensorSpec spec_;
  std::vector<std::vector<ShownPart>> parts_;  // by tensor dim
  std::vector<int> replicated_;                // mesh dims
  std::vector<int> partial_;
  std::vector<WrongPiece> wrong_;
  RankNumbers numbers_;
  std::map<Cell, int> wrong_in_;  // how many hold that cell
};

/// The cells of one picture: all those with the same leading parts.
struct Slice {
  PieceGrid::Cell leading;  ///< parts of all tensor dims but the last two
  std::string heading;      ///< "[0-3, :, :]"; "" for tensors of up to 2 dims
};

struct Slices {
  std::vector<Slice> shown;
  std::int64_t left_out = 0;
};

/// The one at `index` (along the leading dims); where that is empty the first `most`.
///
/// Errors: InvalidArgument, naming `function`, for another number of indices than leading dims or
/// one out of range.
Slices slices(const PieceGrid& grid, const std::vector<std::int64_t>& index, int most,
              const char* function);

/// The cell of a slice at these parts of the last two tensor dims, as far as there are any.
PieceGrid::Cell cell_at(const PieceGrid& grid, const Slice& slice, int row, int column);

}  // namespace tessera::detail
