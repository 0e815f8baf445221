// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <optional>

#include <tessera/mpi/trace.hpp>
#include <tessera/tensor/detail/named_region.hpp>

#include "kernels/pack.hpp"
#include "mpi/clock.hpp"
#include "nn/attention_call.hpp"
#include "nn/attention_memory.hpp"
#include "nn/attention_ring.hpp"

namespace tessera::detail {
namespace {

/// Computes with the keys that this rank has.
void attend_to_all(const DeviceMesh& mesh, const AttentionCall& call, AttentionMemory& memory,
                   const AttentionRows& rows, const ArrayRef& keys, const ArrayRef& values) {
  attend(memory.execution(), call.settings(), rows, memory.readable(keys), memory.readable(values),
         call.visible_of_all(mesh));
}

/// Computes with the keys of all ranks, which are gathered into `record`.
void attend_to_gathered(const DeviceMesh& mesh, const AttentionCall& call, AttentionMemory& memory,
                        const AttentionRows& rows, const AttentionArrays& operands,
                        AttentionRecord& record) {
  // A failing call keeps them until its messages are complete.
  const auto gathered = [&](std::size_t i) {
    return memory.owned(call.seen[i].local_shape(mesh.rank()));
  };
  record.keys = gathered(0);
  record.values = gathered(1);
  AttentionMoves moves;
  moves.add(mesh, call, call.operands[1], call.seen[0], operands[1], record.keys.array);
  moves.add(mesh, call, call.operands[2], call.seen[1], operands[2], record.values.array);
  moves.run(memory.execution());
  attend_to_all(mesh, call, memory, rows, record.keys.array, record.values.array);
}

/// Computes with one block of keys after the other. While one is computed with, the next one is under way, into the
/// memory of the one before.
void attend_to_blocks(const DeviceMesh& mesh, const AttentionCall& call, AttentionMemory& memory,
                      const AttentionRows& rows, const AttentionArrays& operands) {
  const auto& execution = memory.execution();
  auto& ring = key_ring(mesh, call.operands[1], call.operands[2], call.type, call.space);
  const std::array<OwnedArray, 2> buffers{memory.block(ring), memory.block(ring)};
  const auto own = ring.block(0, buffers[0]);
  copy(execution, operands[1], own.keys);
  copy(execution, operands[2], own.values);
  for (int step = 0; step < ring.size(); ++step) {
    const auto block = ring.block(step, buffers[step % 2]);
    std::optional<BlockExchange> next;
    if (step + 1 < ring.size()) {
      const auto arriving = ring.block(step + 1, buffers[(step + 1) % 2]);
      next.emplace(execution, ring,
                   std::vector<BlockExchange::Move>{{step, step + 1, block.all, arriving.all}},
                   memory.scratch());
      if (!call.options.overlap) next->wait();
    }
    std::function<void()> between;
    if (next && call.options.overlap) between = [&] { next->test(); };
    attend(execution, call.settings(between), rows, block.keys, block.values,
           call.visible(mesh, ring.sections(step)));
    if (next) next->wait();
  }
}

void record_attention(const DeviceMesh& mesh, const AttentionCall& call, double start) {
  const auto text = call.text() + " -> " + to_string(call.result);
  TraceEvent event{TraceKind::operation, attention_label, mesh.size(), 0, 0, 0, 0,
                   seconds() - start};
  event.start = start;
  event.description = text.c_str();
  event.is_trivial = !call.has_blocks;
  emit(event);
}

}  // namespace

AttentionRecord run_attention(const Execution& execution, const DeviceMesh& mesh,
                              const AttentionCall& call, const AttentionArrays& operands,
                              const std::function<ArrayRef()>& make_result, const OwnerRef& owner) {
  const double start = is_traced() ? seconds() : 0;
  const NamedRegion region(attention_label);
  AttentionRecord record;
  const auto compute = [&](AttentionMemory& memory) {
    const auto result = make_result();
    const auto& shape = result.extents;
    record.log_sums = memory.owned({shape[0], shape[1], shape[2]});
    const AttentionRows rows{memory.readable(operands[0]), memory.writable(result),
                             record.log_sums.array, memory.allocate(record.log_sums.array.extents)};
    begin_attention(execution, rows);
    if (call.is_ring())
      attend_to_blocks(mesh, call, memory, rows, operands);
    else if (call.is_gathered())
      attend_to_gathered(mesh, call, memory, rows, operands, record);
    else
      attend_to_all(mesh, call, memory, rows, operands[1], operands[2]);
    finish_attention(execution, rows);
    memory.write_back();
  };
  run_attention_call(
      execution, mesh, call, call.hash(), [&] { return call.text(); }, owner, compute);
  if (is_traced()) record_attention(mesh, call, start);
  return record;
}

}  // namespace tessera::detail
