// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Hand-written variants from Shard to Replicate.
#include "rivals.hpp"

namespace tessera::perf {

namespace {

/// Returns a function that calls the collective, which writes either the target or a buffer from
/// which the pieces are then copied to their places.
template <class Collective>
std::function<void()> before_reorder(Workspace& workspace, const Blocks& blocks,
                                     const Collective& collective) {
  const bool unpacks = !are_contiguous(blocks.incoming);
  return [=, &workspace] {
    auto* const received =
        unpacks ? workspace.incoming.at_least(total_size(blocks.incoming)) : workspace.target;
    collective(received);
    if (unpacks) unpack_all(received, blocks.incoming);
  };
}

std::function<void()> allgather(Workspace& workspace, const Blocks& blocks, Waits waits) {
  const auto count = static_cast<int>(blocks.outgoing.front().size());
  return before_reorder(workspace, blocks, [=, source = workspace.source](double* received) {
    collective(waits, MPI_Allgather, MPI_Iallgather, source, count, MPI_DOUBLE, received, count,
               MPI_DOUBLE, MPI_COMM_WORLD);
  });
}

std::function<void()> allgatherv(Workspace& workspace, const Blocks& blocks, Waits waits) {
  const auto count = static_cast<int>(blocks.outgoing.front().size());
  const auto in = packed_counts(blocks.incoming);
  return before_reorder(workspace, blocks, [=, source = workspace.source](double* received) {
    collective(waits, MPI_Allgatherv, MPI_Iallgatherv, source, count, MPI_DOUBLE, received,
               in.counts.data(), in.positions.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  });
}

}  // namespace

std::vector<Variant> gathers(const Geometry& geometry) {
  Rivals rivals(geometry);
  if (geometry.is_even()) rivals.add("allgather", Kind::collective, allgather);
  rivals.add("allgatherv", Kind::collective, allgatherv);
  rivals.add("alltoallw", Kind::collective, alltoallw);
  rivals.add("isend_irecv", Kind::direct, isend_irecv);
  rivals.add("isend_irecv_types", Kind::direct, isend_irecv_types);
  return rivals.variants();
}

}  // namespace tessera::perf
