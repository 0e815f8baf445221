// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/extents/box.hpp>

namespace tessera {

/// A Section is a regular part of one tensor dim: `count` blocks of `block` indices, whose
/// beginnings are `period` apart. The last block may be shorter; it has `last` indices.
///
/// Example: {2, 2, 6, 2, 2} is 2, 3, 8, 9. An interval is a Section of one block.
struct Section {
  std::int64_t begin = 0;
  std::int64_t block = 0;
  std::int64_t period = 0;
  std::int64_t count = 0;
  std::int64_t last = 0;

  constexpr std::int64_t size() const { return count == 0 ? 0 : (count - 1) * block + last; }
  /// Returns the index behind the last one.
  constexpr std::int64_t end() const {
    return count == 0 ? begin : begin + (count - 1) * period + last;
  }
  /// Returns the indices of block `i`.
  constexpr Interval interval(std::int64_t i) const {
    const auto first = begin + i * period;
    return {first, first + (i + 1 == count ? last : block)};
  }
  constexpr bool is_empty() const { return count == 0; }
  constexpr bool is_interval() const { return count <= 1; }
  friend constexpr bool operator==(const Section&, const Section&) = default;
};

/// Returns an interval as a Section.
constexpr Section section_of(Interval interval) {
  if (interval.is_empty()) return {interval.begin};
  return {interval.begin, interval.size(), interval.size(), 1, interval.size()};
}

/// Sections are what a rank holds along one tensor dim: at most two of them, in the order in which
/// the rank stores them. They are not empty, and have no index in common.
///
/// An interval comes of Shard and Balanced, two intervals of HeadTail, one periodic section of
/// Cyclic. Local index 0 is the first index of the first section; local indices have no gaps.
class Sections {
 public:
  Sections() = default;
  /// Makes the sections of an interval, which may be empty: hull() gives it back.
  explicit Sections(Interval interval) : sections_{section_of(interval)} {
    count_ = interval.is_empty() ? 0 : 1;
  }

  /// Adds a section behind the others. It leaves out an empty one, and joins intervals that follow
  /// each other. Expects at most two that do not.
  void push_back(const Section& section);

  const Section* begin() const { return sections_.data(); }
  const Section* end() const { return sections_.data() + count_; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const Section& operator[](std::size_t i) const { return sections_[i]; }

  /// Returns the number of indices.
  std::int64_t extent() const;
  /// Returns whether the indices are one interval, or none.
  bool is_interval() const { return count_ == 0 || (count_ == 1 && sections_[0].is_interval()); }
  /// Returns the smallest interval with all indices; an empty one if there are none.
  Interval hull() const;
  /// Returns the global index of a local one. Expects 0 ≤ local < extent().
  std::int64_t global_index(std::int64_t local) const;
  /// Returns the local index of a global one; none if it is not among these.
  std::optional<std::int64_t> local_index(std::int64_t global) const;
  /// Returns the number of indices below `global`.
  std::int64_t count_below(std::int64_t global) const;
  /// Returns the indices in `range`, counted from its beginning. Expects that there are no two
  /// periodic sections.
  Sections in(Interval range) const;

  friend bool operator==(const Sections& a, const Sections& b);

 private:
  std::array<Section, 2> sections_{};
  std::size_t count_ = 0;
};

/// Returns the sections as text: "0:4"; "0:2|6:8" for two intervals; "0:2|6:8|…|36:38" for many
/// blocks; "10:10" if there are no indices.
std::string to_string(const Sections& sections);

/// A Piece is what one rank holds of a tensor: the product of the sections of its tensor dims,
/// stored without gaps.
struct Piece {
  std::vector<Sections> sections;  ///< one entry per tensor dim

  /// Returns the extents of the local View.
  Extents shape() const;
  std::int64_t size() const { return product(shape()); }
  bool is_empty() const { return size() == 0; }
  bool is_box() const;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Returns the piece as text: "[0:4, 2:5]", "[0:2|6:8, 0:5]".
std::string to_string(const Piece& piece);

/// An IndexRun describes some of the indices of one tensor dim that lie on two ranks, as both store
/// them: `extent` indices in blocks of `block`, of which the last one may be shorter. On either
/// side, block i begins at local index `offset + i * stride`.
struct IndexRun {
  struct Side {
    std::int64_t offset = 0;
    std::int64_t stride = 0;
    friend constexpr bool operator==(Side, Side) = default;
  };

  std::int64_t extent = 0;
  std::int64_t block = 0;
  Side from;
  Side to;

  constexpr bool is_interval() const { return extent == block; }
  friend constexpr bool operator==(const IndexRun&, const IndexRun&) = default;
};

/// Returns the indices that lie in both lists of sections, each of which may be of any length. Both
/// ranks get the same list, in the same order.
///
/// It is found by arithmetic on the periods, and not by listing blocks: two periodic sections with
/// blocks b₁, b₂ and periods P₁, P₂ meet in at most ⌈(b₁ + b₂ − 1) / gcd(P₁, P₂)⌉ runs, an interval
/// and a periodic section in at most two.
std::vector<IndexRun> common_runs(std::span<const Section> from, std::span<const Section> to);

/// Returns the number of indices of all runs.
std::int64_t total_extent(std::span<const IndexRun> runs);

/// Returns the number of indices that lie in both lists.
std::int64_t common_extent(std::span<const Section> a, std::span<const Section> b);

/// Returns the number of elements that lie in both pieces of one tensor.
std::int64_t common_size(const Piece& a, const Piece& b);

}  // namespace tessera
