// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "rivals.hpp"

namespace tessera::perf {

namespace {

/// Redistributes by point-to-point messages, and keeps all that it needs between calls.
class Messages {
 public:
  Messages(Workspace& workspace, const Blocks& blocks, Waits waits)
      : blocks_(blocks),
        outgoing_(packed_counts(blocks.outgoing)),
        incoming_(packed_counts(blocks.incoming)),
        send_buffer_(are_contiguous(blocks.outgoing) ? nullptr : &workspace.outgoing),
        receive_buffer_(are_contiguous(blocks.incoming) ? nullptr : &workspace.incoming),
        waits_(waits) {}

  void operator()() {
    receive();
    send();
    copy(blocks_.outgoing[blocks_.self()], blocks_.incoming[blocks_.self()]);
    unpack_arrivals();
    wait_all(sends_, waits_);
  }

 private:
  void receive() {
    receives_.clear();
    origins_.clear();
    auto* const staging = staging_of(receive_buffer_, blocks_.incoming);
    for (int distance = 1; distance < blocks_.ranks(); ++distance) {
      const int peer = blocks_.previous(distance);
      const auto& block = blocks_.incoming[static_cast<std::size_t>(peer)];
      if (block.size() == 0) continue;
      MPI_Irecv(message(block, peer, incoming_, staging), static_cast<int>(block.size()),
                MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &receives_.emplace_back());
      origins_.push_back(peer);
    }
  }

  void send() {
    sends_.clear();
    auto* const staging = staging_of(send_buffer_, blocks_.outgoing);
    for (int distance = 1; distance < blocks_.ranks(); ++distance) {
      const int peer = blocks_.next(distance);
      const auto& block = blocks_.outgoing[static_cast<std::size_t>(peer)];
      if (block.size() == 0) continue;
      auto* const data = message(block, peer, outgoing_, staging);
      if (!block.is_contiguous()) pack(block, data);
      MPI_Isend(data, static_cast<int>(block.size()), MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                &sends_.emplace_back());
    }
  }

  void unpack_arrivals() {
    if (receive_buffer_ == nullptr) {
      wait_all(receives_, waits_);
      return;
    }
    auto* const staging = staging_of(receive_buffer_, blocks_.incoming);
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      const int peer = origins_[static_cast<std::size_t>(wait_any(receives_, waits_))];
      const auto& block = blocks_.incoming[static_cast<std::size_t>(peer)];
      if (!block.is_contiguous()) unpack(message(block, peer, incoming_, staging), block);
    }
  }

  static double* staging_of(Buffer* buffer, const std::vector<Block>& blocks) {
    return buffer == nullptr ? nullptr : buffer->at_least(total_size(blocks));
  }

  static double* message(const Block& block, int peer, const Counts& packed, double* staging) {
    if (block.is_contiguous()) return block.data;
    return staging + packed.positions[static_cast<std::size_t>(peer)];
  }

  Blocks blocks_;
  Counts outgoing_;
  Counts incoming_;
  Buffer* send_buffer_;
  Buffer* receive_buffer_;
  Waits waits_;
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
  std::vector<int> origins_;
};

}  // namespace

std::function<void()> isend_irecv(Workspace& workspace, const Blocks& blocks, Waits waits) {
  return [messages = Messages(workspace, blocks, waits)]() mutable { messages(); };
}

}  // namespace tessera::perf
