// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sharding/strided_parts.hpp"

namespace tessera::detail {
namespace {

/// Describes `count` blocks of equal length. Several blocks of one index need one dim, as an
/// interval does; several longer ones need two.
struct EqualBlocks {
  std::int64_t count;
  std::int64_t block;
  IndexRun::Side from;
  IndexRun::Side to;

  bool needs_two_dims() const { return count > 1 && block > 1; }
  EqualBlocks one(std::int64_t i) const {
    return {1, block, {from.offset + i * from.stride, 0}, {to.offset + i * to.stride, 0}};
  }
};

/// Returns the runs with a shorter last block as an entry of its own.
std::vector<EqualBlocks> equal_blocks(const std::vector<IndexRun>& runs) {
  std::vector<EqualBlocks> result;
  for (const auto& run : runs) {
    const EqualBlocks all{run.extent / run.block, run.block, run.from, run.to};
    result.push_back(all);
    if (const auto rest = run.extent % run.block; rest > 0) {
      result.push_back(all.one(all.count));
      result.back().block = rest;
    }
  }
  return result;
}

class PartsOfProduct {
 public:
  PartsOfProduct(std::span<const std::vector<IndexRun>* const> runs, const Extents& from_strides,
                 const Extents& to_strides)
      : from_strides_(from_strides), to_strides_(to_strides) {
    for (const auto* list : runs) blocks_.push_back(equal_blocks(*list));
  }

  std::vector<StridedPart> all() {
    choose(0);
    return std::move(parts_);
  }

 private:
  /// Chooses one entry for each tensor dim from `d` on, in all ways.
  void choose(std::size_t d) {
    if (d == blocks_.size()) return add(0);
    for (const auto& entry : blocks_[d]) {
      chosen_.push_back(entry);
      choose(d + 1);
      chosen_.pop_back();
    }
  }

  /// Adds what is chosen, in several parts if it has too many dims. Tensor dims before `d` need one
  /// dim each.
  void add(std::size_t d) {
    const auto repeated = std::ranges::count_if(chosen_, &EqualBlocks::needs_two_dims);
    if (std::ssize(chosen_) + repeated <= max_tensor_dims) return parts_.push_back(part());
    while (!chosen_[d].needs_two_dims()) ++d;
    const auto all = chosen_[d];
    for (std::int64_t i = 0; i < all.count; ++i) {
      chosen_[d] = all.one(i);
      add(d + 1);
    }
    chosen_[d] = all;
  }

  StridedPart part() const {
    StridedPart result;
    for (std::size_t d = 0; d < chosen_.size(); ++d) {
      const auto& entry = chosen_[d];
      result.from.offset += entry.from.offset * from_strides_[d];
      result.to.offset += entry.to.offset * to_strides_[d];
      if (entry.count > 1) {
        result.extents.push_back(entry.count);
        result.from.strides.push_back(entry.from.stride * from_strides_[d]);
        result.to.strides.push_back(entry.to.stride * to_strides_[d]);
      }
      if (entry.count > 1 && !entry.needs_two_dims()) continue;
      result.extents.push_back(entry.block);
      result.from.strides.push_back(from_strides_[d]);
      result.to.strides.push_back(to_strides_[d]);
    }
    return result;
  }

  const Extents& from_strides_;
  const Extents& to_strides_;
  std::vector<std::vector<EqualBlocks>> blocks_;
  std::vector<EqualBlocks> chosen_;
  std::vector<StridedPart> parts_;
};

}  // namespace

std::vector<StridedPart> strided_parts(std::span<const std::vector<IndexRun>* const> runs,
                                       const Extents& from_strides, const Extents& to_strides) {
  return PartsOfProduct(runs, from_strides, to_strides).all();
}

std::vector<IndexRun> runs_of(const Sections& sections) {
  std::vector<IndexRun> result;
  std::int64_t local = 0;
  for (const auto& section : sections) {
    result.push_back(
        {section.size(), section.block, {local, section.block}, {section.begin, section.period}});
    local += section.size();
  }
  return result;
}

std::vector<StridedPart> strided_parts(const Piece& piece, const Extents& from_strides,
                                       const Extents& to_strides) {
  std::vector<std::vector<IndexRun>> runs;
  for (const auto& sections : piece.sections) runs.push_back(runs_of(sections));
  std::vector<const std::vector<IndexRun>*> lists;
  for (const auto& list : runs) lists.push_back(&list);
  return strided_parts(lists, from_strides, to_strides);
}

}  // namespace tessera::detail
