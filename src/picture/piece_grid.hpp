// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

/// A ShownPart is an interval of a tensor dim in a picture, or the gap between two of them where
/// others are left out. Under Cyclic and HeadTail, one part of the tensor dim has several.
struct ShownPart {
  int part = 0;  ///< part to which it belongs, in split order; -1: a gap
  Interval interval;
};

/// Lists the intervals of a tensor dim that are one part's, in ascending order. It finds those of
/// Cyclic by arithmetic, however many they are.
class PartIntervals {
 public:
  explicit PartIntervals(const DimSplit& split);

  std::int64_t count() const { return count_; }
  ShownPart at(std::int64_t index) const;
  /// Returns the interval with this index of the tensor dim.
  ShownPart with(std::int64_t index) const;

 private:
  std::vector<ShownPart> list_;  ///< empty under Cyclic
  std::int64_t count_ = 0;
  std::int64_t block_ = 0;  ///< block size of Cyclic
  std::int64_t extent_ = 0;
  int parts_ = 1;
};

/// Returns 0 … count−1 if these are at most `most` numbers; otherwise the first and the last of
/// them with -1 between, `most` numbers in all.
std::vector<std::int64_t> shown_indices(std::int64_t count, int most);

/// Formats an interval of indices: "3-7"; "3" for one index.
std::string range_text(Interval interval);

/// Formats ascending numbers as runs: "0-3, 6, 8-9". If there are more than 8 runs, it gives the
/// first and the last ones, and how many numbers there are.
std::string ranges_text(const std::vector<int>& ascending);

/// Returns the sizes of parts in a picture: proportional to their extents, none below `least`,
/// `total` in all if there is room for that. A gap takes `gap`.
std::vector<double> sizes_to_scale(const std::vector<ShownPart>& parts, double least, double gap,
                                   double total);

/// Describes a rank whose View does not have the shape of the piece that its spec gives it.
struct WrongPiece {
  int mesh_rank;
  Extents expected;
  Extents given;
};

/// Selects how ranks are numbered in a picture: in the mesh or in the communicator.
enum class RankNumbers { mesh, communicator };

/// Represents the pieces of a spec as a grid of cells, one for each piece with elements. A few
/// numbers name the ranks that hold a cell, however many they are. A cell is named by its part of
/// each tensor dim.
class PieceGrid {
 public:
  using Cell = std::vector<int>;

  /// Expects `wrong` to be ascending by rank.
  explicit PieceGrid(const DTensorSpec& spec, std::vector<WrongPiece> wrong = {},
                     RankNumbers numbers = RankNumbers::mesh);

  const DTensorSpec& spec() const { return spec_; }
  bool has_elements() const;
  /// Returns the tensor dim along rows (the last but one) or columns (the last); -1 if there is
  /// none.
  int row_dim() const { return spec_.tensor_dims() - 2 < 0 ? -1 : spec_.tensor_dims() - 2; }
  int column_dim() const { return spec_.tensor_dims() - 1; }

  /// Returns the parts with elements, at most `most` entries, see shown_indices(). For dim -1 it is
  /// one part that stands for the whole.
  std::vector<ShownPart> parts(int tensor_dim, int most) const;
  std::int64_t count(int tensor_dim) const;
  /// Returns the parts with elements of a tensor dim from 0 on.
  const PartIntervals& all_parts(int tensor_dim) const {
    return parts_[static_cast<std::size_t>(tensor_dim)];
  }

  /// Names the ranks that hold a cell: "3"; "0=4" for replicas; "0+4 P(sum)" for contributions;
  /// "0=2 +1=3 P(sum)" for replicated contributions; "0=1=…=7" for many. "!" marks ranks with a
  /// wrong View.
  std::string holders(const Cell& cell) const;
  /// Returns the number of the first rank in the mesh that holds a cell.
  int first_rank(const Cell& cell) const;
  Extents shape(const Cell& cell) const;

  /// Returns whether some ranks hold replicas of each other; has_contributions(), whether pieces
  /// are contributions.
  bool has_replicas() const;
  bool has_contributions() const { return spec_.placements().has_partial(); }

  const std::vector<WrongPiece>& wrong() const { return wrong_; }
  /// Lists the ranks without elements: "ranks 6-7 hold nothing"; "" if each rank holds some.
  std::string empty_ranks() const;
  /// Says what parts() leaves out: "not shown: 96 of 100 parts of dim 0"; "" if nothing.
  std::string parts_left_out(int tensor_dim, int most) const;

 private:
  std::vector<int> first_coordinate(const Cell& cell) const;
  int number_of(int mesh_rank) const;
  std::string rank_text(int mesh_rank) const;
  std::string contribution_text(std::vector<int> coordinate) const;
  std::string with_hidden_marks(const std::string& text, const Cell& cell) const;

  DTensorSpec spec_;
  std::vector<PartIntervals> parts_;  // one entry per tensor dim
  std::vector<int> replicated_;       // mesh dims with Replicate
  std::vector<int> partial_;
  std::vector<WrongPiece> wrong_;
  RankNumbers numbers_;
  std::map<Cell, int> wrong_in_;  // number of wrong pieces in a cell
};

/// A Slice is the cells of one picture: all cells with the same leading parts.
struct Slice {
  PieceGrid::Cell leading;  ///< parts of all tensor dims but the last two
  std::string heading;      ///< "[0-3, :, :]"; "" for tensors of up to 2 dims
};

struct Slices {
  std::vector<Slice> shown;
  std::int64_t left_out = 0;
};

/// Returns the slice at `index` (along the leading dims); if `index` is empty, the first `most`
/// slices.
///
/// Errors: InvalidArgument if there are not as many indices as leading dims, or
/// if one is out of range.
Slices slices(const PieceGrid& grid, const std::vector<std::int64_t>& index, int most);

/// Returns the cell of a slice at these parts of the last two tensor dims, as far as the tensor has
/// them.
PieceGrid::Cell cell_at(const PieceGrid& grid, const Slice& slice, int row, int column);

}  // namespace tessera::detail
