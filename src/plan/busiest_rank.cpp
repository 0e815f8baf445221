// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "plan/busiest_rank.hpp"
#include "plan/cells.hpp"
#include "plan/specs.hpp"
#include "plan/tuning.hpp"

namespace tessera::detail {
namespace {

/// Counts along one tensor dim for one rank.
struct DimCounts {
  std::int64_t fetched = 0;  ///< indices that the rank needs
  std::int64_t own = 0;      ///< indices of these that it holds itself
  int senders = 0;           ///< parts from which they come
  int receivers = 0;         ///< parts to which what it holds goes
};

/// Holds how many indices of one tensor dim each part of `from` and each part of `to` have in
/// common.
class CommonExtents {
 public:
  CommonExtents(const DimSplit& from, const DimSplit& to)
      : from_(from), to_(to), from_parts_(from.parts()), to_parts_(to.parts()) {
    common_.reserve(at(from_parts_ * to_parts_));
    std::vector<Sections> receiving;
    receiving.reserve(at(to_parts_));
    for (int i = 0; i < to_parts_; ++i) receiving.push_back(to.part(i));
    for (int k = 0; k < from_parts_; ++k) {
      const auto sending = from.part(k);
      for (const auto& part : receiving) common_.push_back(common_extent(sending, part));
    }
  }

  /// Counts for the rank at `coordinate`. It fetches from `kept` mesh dims' own coordinates alone;
  /// `sends_to_own` says along which mesh dims it sends to its own coordinate alone.
  DimCounts at_rank(const std::vector<int>& coordinate, const std::vector<char>& is_kept,
                    const std::vector<char>& sends_to_own) const {
    const int own_part = from_.number(coordinate);
    const int need = to_.number(coordinate);
    DimCounts counts;
    counts.own = common(own_part, need);
    for (int k = 0; k < from_parts_; ++k)
      if (common(k, need) > 0 && is_admitted(from_, k, coordinate, is_kept)) {
        counts.fetched += common(k, need);
        ++counts.senders;
      }
    for (int i = 0; i < to_parts_; ++i)
      if (common(own_part, i) > 0 && is_admitted(to_, i, coordinate, sends_to_own))
        ++counts.receivers;
    return counts;
  }

 private:
  /// Returns whether a part has the rank's own coordinate along the fixed mesh dims.
  static bool is_admitted(const DimSplit& split, int part, const std::vector<int>& coordinate,
                          const std::vector<char>& is_fixed) {
    for (std::size_t k = 0; k < split.mesh_dims.size(); ++k) {
      const auto d = at(split.mesh_dims[k]);
      if (is_fixed[d] && split.coordinate(part, k) != coordinate[d]) return false;
    }
    return true;
  }

  std::int64_t common(int from_part, int to_part) const {
    return common_[at(from_part * to_parts_ + to_part)];
  }

  const DimSplit& from_;
  const DimSplit& to_;
  int from_parts_;
  int to_parts_;
  std::vector<std::int64_t> common_;
};

/// Returns the extents of the mesh, but 1 along mesh dims whose coordinate makes no difference.
std::vector<int> coordinates_to_visit(const Transfer& transfer) {
  auto shape = transfer.from.layout().shape();
  for (int d = 0; d < std::ssize(shape); ++d)
    if (!transfer.from.placements()[at(d)].is_shard() &&
        !transfer.to.placements()[at(d)].is_shard() && !contains(transfer.first_only, d))
      shape[at(d)] = 1;
  return shape;
}

}  // namespace

bool can_look_at_each_rank(const Transfer& transfer) {
  return transfer.is_on_one_mesh() && transfer.from.layout().size() <= most_ranks_looked_at;
}

BusiestRank busiest_rank(const Transfer& transfer) {
  const auto& mesh_shape = transfer.from.layout().shape();
  const auto mesh_dims = mesh_shape.size();
  std::vector<char> is_kept(mesh_dims, 0);
  std::vector<char> sends_to_own(mesh_dims, 0);
  std::int64_t receivers_of_each = 1;
  for (std::size_t d = 0; d < mesh_dims; ++d) {
    const int dim = static_cast<int>(d);
    is_kept[d] = contains(transfer.kept_dims, dim);
    sends_to_own[d] = stays(transfer, dim);
    if (!sends_to_own[d] && !transfer.to.placements()[d].is_shard() &&
        !contains(transfer.first_only, dim))
      receivers_of_each *= mesh_shape[d];
  }
  std::vector<CommonExtents> dims;
  dims.reserve(transfer.from.shape().size());
  for (std::size_t d = 0; d < transfer.from.shape().size(); ++d)
    dims.emplace_back(transfer.from.split(d), transfer.to.split(d));
  const std::int64_t contributions = transfer.contributions();
  BusiestRank result;
  const auto visited = coordinates_to_visit(transfer);
  std::vector<int> coordinate(mesh_dims, 0);
  for (;;) {
    const bool fetches = transfer.fetches(coordinate);
    std::int64_t fetched = fetches ? 1 : 0;
    std::int64_t own = fetched;
    std::int64_t senders = contributions * fetched;
    // Where coordinate 0 alone fetches, the others send nothing along a mesh dim on which they
    // stay.
    const bool sends = std::ranges::all_of(
        transfer.first_only, [&](int d) { return !sends_to_own[at(d)] || coordinate[at(d)] == 0; });
    std::int64_t receivers = sends ? receivers_of_each : 0;
    for (const auto& dim : dims) {
      const auto counts = dim.at_rank(coordinate, is_kept, sends_to_own);
      fetched *= counts.fetched;
      own *= counts.own;
      senders *= counts.senders;
      receivers *= counts.receivers;
    }
    const int self = own > 0 ? 1 : 0;
    result.received = std::max(result.received, fetched * contributions - own);
    result.fetched = std::max(result.fetched, fetched * contributions);
    result.messages = std::max({result.messages, senders - self, receivers - self});
    auto d = mesh_dims;
    while (d > 0 && ++coordinate[d - 1] == visited[d - 1]) coordinate[--d] = 0;
    if (d == 0) return result;
  }
}

}  // namespace tessera::detail
