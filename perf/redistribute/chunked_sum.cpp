// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "chunked_sum.hpp"

namespace tessera::perf {

namespace {

void add_elements(const double* a, const double* b, double* sum, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

}  // namespace

ChunkedSum::ChunkedSum(Workspace& workspace, const Blocks& blocks, double* piece,
                       std::int64_t chunk, Waits waits)
    : workspace_(&workspace), blocks_(blocks), piece_(piece), waits_(waits) {
  std::int64_t largest = 0;
  for (const auto& block : blocks.outgoing) largest = std::max(largest, block.size());
  chunk_ = std::max(std::int64_t{1}, std::min(chunk, largest));
  chunks_ = (largest + chunk_ - 1) / chunk_;
}

void ChunkedSum::operator()() {
  place_slots();
  for (std::int64_t index = 0; index <= chunks_; ++index) {
    if (index < chunks_) post(index);
    if (index > 0) add(index - 1);
  }
}

void ChunkedSum::place_slots() {
  const auto size = chunk_ * (blocks_.ranks() - 1);
  const auto slots = std::min(chunks_, std::int64_t{2});
  const bool packs = !are_contiguous(blocks_.outgoing);
  auto* const outgoing = packs ? workspace_->outgoing.at_least(slots * size) : nullptr;
  auto* const incoming = workspace_->incoming.at_least(slots * size);
  for (std::size_t i = 0; i < static_cast<std::size_t>(slots); ++i) {
    const auto offset = static_cast<std::int64_t>(i) * size;
    slots_[i].outgoing = packs ? outgoing + offset : nullptr;
    slots_[i].incoming = incoming + offset;
  }
}

Interval ChunkedSum::chunk(const Block& block, std::int64_t index) const {
  return intersect({index * chunk_, (index + 1) * chunk_}, {0, block.size()});
}

void ChunkedSum::post(std::int64_t index) {
  auto& slot = slots_[static_cast<std::size_t>(index % 2)];
  slot.requests.clear();
  receive(index, slot);
  send(index, slot);
}

void ChunkedSum::receive(std::int64_t index, Slot& slot) const {
  const auto range = chunk(own(), index);
  if (range.is_empty()) return;
  for (int distance = 1; distance < blocks_.ranks(); ++distance)
    MPI_Irecv(slot.incoming + (distance - 1) * chunk_, static_cast<int>(range.size()), MPI_DOUBLE,
              blocks_.previous(distance), 0, MPI_COMM_WORLD, &slot.requests.emplace_back());
}

void ChunkedSum::send(std::int64_t index, Slot& slot) const {
  for (int distance = 1; distance < blocks_.ranks(); ++distance) {
    const int peer = blocks_.next(distance);
    const auto& block = blocks_.outgoing[static_cast<std::size_t>(peer)];
    const auto range = chunk(block, index);
    if (range.is_empty()) continue;
    auto* data = block.data + range.begin;
    if (!block.is_contiguous()) {
      data = slot.outgoing + (distance - 1) * chunk_;
      pack(block, range, data);
    }
    MPI_Isend(data, static_cast<int>(range.size()), MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
              &slot.requests.emplace_back());
  }
}

void ChunkedSum::add(std::int64_t index) {
  auto& slot = slots_[static_cast<std::size_t>(index % 2)];
  wait_all(slot.requests, waits_);
  const auto range = chunk(own(), index);
  if (blocks_.ranks() == 1) pack(own(), range, piece_ + range.begin);
  for (int contribution = 0; contribution + 1 < blocks_.ranks(); ++contribution) {
    const auto* const received = slot.incoming + contribution * chunk_;
    auto* const sum = piece_ + range.begin;
    if (contribution > 0)
      add_elements(sum, received, sum, range.size());
    else
      for_each_run(own(), range, [&](const double* run, std::int64_t at, std::int64_t length) {
        add_elements(run, received + at - range.begin, piece_ + at, length);
      });
  }
}

}  // namespace tessera::perf
