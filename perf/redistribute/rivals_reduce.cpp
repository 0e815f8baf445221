// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Hand-written variants from Partial to Shard, and from Partial to Replicate.
#include <limits>

#include "chunked_sum.hpp"
#include "rivals.hpp"

namespace tessera::perf {

namespace {

constexpr std::int64_t chunk = 32768;
constexpr auto all_at_once = std::numeric_limits<int>::max();

std::function<void()> reduce_scatter_block(Workspace& workspace, const Blocks& blocks,
                                           Waits waits) {
  const bool packs = !are_contiguous(blocks.outgoing);
  const auto count = static_cast<int>(blocks.outgoing.front().size());
  return [=, &workspace] {
    auto* const sent =
        packs ? workspace.outgoing.at_least(total_size(blocks.outgoing)) : workspace.source;
    if (packs) pack_all(blocks.outgoing, sent);
    collective(waits, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, sent, workspace.target,
               count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  };
}

std::function<void()> reduce_scatter(Workspace& workspace, const Blocks& blocks, Waits waits) {
  const bool packs = !are_contiguous(blocks.outgoing);
  return [=, counts = packed_counts(blocks.outgoing).counts, &workspace] {
    auto* const sent =
        packs ? workspace.outgoing.at_least(total_size(blocks.outgoing)) : workspace.source;
    if (packs) pack_all(blocks.outgoing, sent);
    collective(waits, MPI_Reduce_scatter, MPI_Ireduce_scatter, sent, workspace.target,
               counts.data(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  };
}

std::function<void()> sum_in_chunks(Workspace& workspace, const Blocks& blocks, Waits waits) {
  return ChunkedSum(workspace, blocks, workspace.target, chunk, waits);
}

std::function<void()> sum_all_at_once(Workspace& workspace, const Blocks& blocks, Waits waits) {
  return ChunkedSum(workspace, blocks, workspace.target, all_at_once, waits);
}

std::function<void()> allreduce(const Workspace& workspace, const Blocks& blocks, Waits waits) {
  const auto count = static_cast<int>(blocks.incoming.front().size());
  return [=, source = workspace.source, target = workspace.target] {
    collective(waits, MPI_Allreduce, MPI_Iallreduce, source, target, count, MPI_DOUBLE, MPI_SUM,
               MPI_COMM_WORLD);
  };
}

/// Describes the two halves of an all-reduce, in which each rank reduces one piece of the elements,
/// in memory order.
struct Halves {
  Blocks sum;     ///< Partial to Shard
  Blocks gather;  ///< Shard to Replicate, in the target
  double* piece;  ///< this rank's piece, in the target
};

Halves halves(const Workspace& workspace, const Blocks& all) {
  const Extents shape = {all.incoming.front().size()};
  const Case sum{Partial(), Shard(0), shape};
  const Case gather{Shard(0), Replicate(), shape};
  const auto pieces = geometry_of(gather, all.rank, all.ranks());
  const auto& mine = pieces.source[pieces.self()];
  auto* const piece = workspace.target + (mine.is_empty() ? 0 : mine.offset[0]);
  return {blocks(geometry_of(sum, all.rank, all.ranks()), workspace.source, piece),
          blocks(pieces, piece, workspace.target), piece};
}

std::function<void()> reduce_scatter_allgather(const Workspace& workspace, const Blocks& blocks,
                                               Waits waits) {
  const auto [sum, gather, piece] = halves(workspace, blocks);
  return [=, counts = counts_in_place(gather.incoming, workspace.target), piece = piece,
          source = workspace.source, target = workspace.target] {
    collective(waits, MPI_Reduce_scatter, MPI_Ireduce_scatter, source, piece, counts.counts.data(),
               MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    collective(waits, MPI_Allgatherv, MPI_Iallgatherv, MPI_IN_PLACE, 0, MPI_DOUBLE, target,
               counts.counts.data(), counts.positions.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  };
}

std::function<void()> sum_then_gather(Workspace& workspace, const Blocks& blocks, Waits waits) {
  const auto [sum, gather, piece] = halves(workspace, blocks);
  return [add = ChunkedSum(workspace, sum, piece, chunk, waits),
          share = isend_irecv(workspace, gather, waits)]() mutable {
    add();
    share();
  };
}

}  // namespace

std::vector<Variant> reduce_scatters(const Geometry& geometry) {
  Rivals rivals(geometry);
  if (geometry.is_even())
    rivals.add("reduce_scatter_block", Kind::collective, reduce_scatter_block);
  rivals.add("reduce_scatter", Kind::collective, reduce_scatter);
  rivals.add("sendrecv_add", Kind::direct, sum_in_chunks);
  rivals.add("isend_irecv_add", Kind::direct, sum_all_at_once);
  return rivals.variants();
}

std::vector<Variant> all_reduces(const Geometry& geometry) {
  Rivals rivals(geometry);
  rivals.add("allreduce", Kind::collective, allreduce);
  rivals.add("reduce_scatter_allgather", Kind::collective, reduce_scatter_allgather);
  rivals.add("sendrecv_add_gather", Kind::direct, sum_then_gather);
  return rivals.variants();
}

}  // namespace tessera::perf
