// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For debug: which parts of a sharding a piece meets.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <tessera/plan/detail/transfer.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

struct Need;

constexpr std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Lists, for each tensor dim, the parts of the other side of a transfer that have indices in
/// common with the piece of one rank: the parts of `from` for a receiver, those of `to` for a
/// sender. In a plan to needs: the parts of the source that a rank needs.
class Cells {
 public:
  /// Finds the parts that the rank of `to` at `coordinate` receives. Adds their runs to `blocks`.
  static Cells of_receiver(const Transfer& transfer, std::span<const int> coordinate,
                           Blocks& blocks);
  /// Finds the parts that the rank of `from` at `coordinate` sends. If fixed[mesh_dim] ≥ 0, only
  /// receivers with this coordinate are looked for. Adds their runs to `blocks`.
  static Cells of_sender(const Transfer& transfer, std::span<const int> coordinate,
                         std::span<const int> fixed, Blocks& blocks);

  /// Finds the parts of `source` of which a need consists. Adds their runs to `blocks`.
  static Cells of_need(const DTensorSpec& source, const Need& need, Blocks& blocks);

  /// Calls visit(block) for every combination of one of these parts per tensor dim, with
  /// `coordinate` set to the coordinates of the parts. Shape and runs of `block` are set.
  template <class Visit>
  void for_each(std::vector<int>& coordinate, const Visit& visit) const {
    Block block{};
    block.shape = others_.shape();
    const auto choose = [&](const auto& self, std::size_t d) -> void {
      if (d == dims_.size()) return visit(block);
      const auto& split = others_.split(d);
      for (const auto& part : dims_[d]) {
        block.shape[d] = part.extent;
        block.runs[d] = part.runs;
        for (std::size_t k = 0; k < split.mesh_dims.size(); ++k)
          coordinate[at(split.mesh_dims[k])] = split.coordinate(part.index, k);
        self(self, d + 1);
      }
    };
    choose(choose, 0);
  }

 private:
  struct MeetingPart {
    int index;
    std::int64_t extent;
    std::int32_t runs;
  };

  explicit Cells(const DTensorSpec& others) : others_(others), dims_(others.shape().size()) {}
  void add(std::size_t tensor_dim, int index, std::vector<IndexRun> runs, Blocks& blocks);

  const DTensorSpec& others_;
  std::vector<std::vector<MeetingPart>> dims_;
};

/// Calls visit(position) for every coordinate of `mesh_dims`, row-major.
template <class Visit>
void for_each_coordinate(const MeshLayout& layout, const std::vector<int>& mesh_dims,
                         std::vector<int>& coordinate, const Visit& visit) {
  int position = 0;
  const auto choose = [&](const auto& self, std::size_t k) -> void {
    if (k == mesh_dims.size()) return visit(position++);
    for (int i = 0; i < layout.shape()[at(mesh_dims[k])]; ++i) {
      coordinate[at(mesh_dims[k])] = i;
      self(self, k + 1);
    }
  };
  choose(choose, 0);
}

}  // namespace tessera::detail
