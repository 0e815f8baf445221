// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Hand-written variants from Shard to Shard, and from Replicate to Shard.
#include "rivals.hpp"

namespace tessera::perf {

namespace {

/// Returns an exchange that packs unless blocks lie one after another already, calls the
/// collective, and unpacks unless blocks may arrive where they belong.
template <class Collective>
std::function<void()> around(Workspace& workspace, const Blocks& blocks,
                             const Collective& collective) {
  const bool packs = !are_contiguous(blocks.outgoing);
  const bool unpacks = !are_contiguous(blocks.incoming);
  return [=, &workspace] {
    auto* const sent =
        packs ? workspace.outgoing.at_least(total_size(blocks.outgoing)) : workspace.source;
    auto* const received =
        unpacks ? workspace.incoming.at_least(total_size(blocks.incoming)) : workspace.target;
    if (packs) pack_all(blocks.outgoing, sent);
    collective(sent, received);
    if (unpacks) unpack_all(received, blocks.incoming);
  };
}

std::function<void()> pack_alltoall(Workspace& workspace, const Blocks& blocks, Waits waits) {
  const auto count = static_cast<int>(blocks.outgoing.front().size());
  return around(workspace, blocks, [=](double* sent, double* received) {
    collective(waits, MPI_Alltoall, MPI_Ialltoall, sent, count, MPI_DOUBLE, received, count,
               MPI_DOUBLE, MPI_COMM_WORLD);
  });
}

std::function<void()> pack_alltoallv(Workspace& workspace, const Blocks& blocks, Waits waits) {
  const auto out = packed_counts(blocks.outgoing);
  const auto in = packed_counts(blocks.incoming);
  return around(workspace, blocks, [=](double* sent, double* received) {
    collective(waits, MPI_Alltoallv, MPI_Ialltoallv, sent, out.counts.data(), out.positions.data(),
               MPI_DOUBLE, received, in.counts.data(), in.positions.data(), MPI_DOUBLE,
               MPI_COMM_WORLD);
  });
}

std::function<void()> slice(const Geometry& geometry, const Workspace& workspace) {
  const auto mine = blocks(geometry, workspace.source, workspace.target);
  return [from = mine.outgoing[mine.self()], to = mine.incoming[mine.self()]] { copy(from, to); };
}

}  // namespace

std::vector<Variant> exchanges(const Geometry& geometry) {
  Rivals rivals(geometry);
  if (geometry.is_even()) rivals.add("pack_alltoall", Kind::collective, pack_alltoall);
  rivals.add("pack_alltoallv", Kind::collective, pack_alltoallv);
  rivals.add("alltoallw", Kind::collective, alltoallw);
  rivals.add("isend_irecv", Kind::direct, isend_irecv);
  rivals.add("isend_irecv_types", Kind::direct, isend_irecv_types);
  return rivals.variants();
}

std::vector<Variant> slices(const Geometry& geometry) {
  return {variant("local_copy", Kind::direct,
                  [geometry](const Workspace& workspace) { return slice(geometry, workspace); })};
}

}  // namespace tessera::perf
