// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "rivals.hpp"

namespace tessera::perf {

namespace {

/// Owns one committed subarray type per block; MPI_DOUBLE where a block is empty.
class Subarrays {
 public:
  explicit Subarrays(const std::vector<Block>& blocks) {
    for (const auto& block : blocks) types_.push_back(subarray(block));
  }
  ~Subarrays() {
    for (auto& type : types_)
      if (type != MPI_DOUBLE) MPI_Type_free(&type);
  }
  Subarrays(const Subarrays&) = delete;
  Subarrays& operator=(const Subarrays&) = delete;

  const MPI_Datatype* data() const { return types_.data(); }
  MPI_Datatype operator[](int rank) const { return types_[static_cast<std::size_t>(rank)]; }

 private:
  static MPI_Datatype subarray(const Block& block) {
    if (block.size() == 0) return MPI_DOUBLE;
    const int array[] = {static_cast<int>(block.rows), static_cast<int>(block.stride)};
    const int part[] = {static_cast<int>(block.rows), static_cast<int>(block.length)};
    const int start[] = {0, 0};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, array, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
  }

  std::vector<MPI_Datatype> types_;
};

std::vector<int> one_where_filled(const std::vector<Block>& blocks) {
  std::vector<int> result;
  for (const auto& block : blocks) result.push_back(block.size() > 0 ? 1 : 0);
  return result;
}

/// Returns where each block begins in the array at `data`, in bytes; 0 for an empty block.
std::vector<int> byte_positions(const std::vector<Block>& blocks, const double* data) {
  std::vector<int> result;
  for (const auto& block : blocks)
    result.push_back(block.size() == 0 ? 0 : static_cast<int>((block.data - data) * 8));
  return result;
}

void post_receives(const Blocks& blocks, const Subarrays& types,
                   std::vector<MPI_Request>& requests) {
  for (int distance = 1; distance < blocks.ranks(); ++distance) {
    const int peer = blocks.previous(distance);
    const auto& block = blocks.incoming[static_cast<std::size_t>(peer)];
    if (block.size() > 0)
      MPI_Irecv(block.data, 1, types[peer], peer, 0, MPI_COMM_WORLD, &requests.emplace_back());
  }
}

void post_sends(const Blocks& blocks, const Subarrays& types, std::vector<MPI_Request>& requests) {
  for (int distance = 1; distance < blocks.ranks(); ++distance) {
    const int peer = blocks.next(distance);
    const auto& block = blocks.outgoing[static_cast<std::size_t>(peer)];
    if (block.size() > 0)
      MPI_Isend(block.data, 1, types[peer], peer, 0, MPI_COMM_WORLD, &requests.emplace_back());
  }
}

}  // namespace

std::function<void()> isend_irecv_types(Workspace& /*workspace*/, const Blocks& blocks,
                                        Waits waits) {
  const auto sent = std::make_shared<Subarrays>(blocks.outgoing);
  const auto received = std::make_shared<Subarrays>(blocks.incoming);
  return [=, requests = std::vector<MPI_Request>()]() mutable {
    requests.clear();
    post_receives(blocks, *received, requests);
    post_sends(blocks, *sent, requests);
    copy(blocks.outgoing[blocks.self()], blocks.incoming[blocks.self()]);
    wait_all(requests, waits);
  };
}

std::function<void()> alltoallw(Workspace& workspace, const Blocks& blocks, Waits waits) {
  const auto sent = std::make_shared<Subarrays>(blocks.outgoing);
  const auto received = std::make_shared<Subarrays>(blocks.incoming);
  return [=, send_counts = one_where_filled(blocks.outgoing),
          receive_counts = one_where_filled(blocks.incoming),
          send_bytes = byte_positions(blocks.outgoing, workspace.source),
          receive_bytes = byte_positions(blocks.incoming, workspace.target),
          source = workspace.source, target = workspace.target] {
    collective(waits, MPI_Alltoallw, MPI_Ialltoallw, source, send_counts.data(), send_bytes.data(),
               sent->data(), target, receive_counts.data(), receive_bytes.data(), received->data(),
               MPI_COMM_WORLD);
  };
}

}  // namespace tessera::perf
