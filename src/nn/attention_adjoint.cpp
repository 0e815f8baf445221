// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <optional>
#include <vector>

#include <tessera/tensor/detail/named_region.hpp>

#include "kernels/pack.hpp"
#include "nn/attention_call.hpp"
#include "nn/attention_memory.hpp"
#include "nn/attention_ring.hpp"

namespace tessera::detail {
namespace {

/// Computes with keys that this rank has. Sets their gradients to this rank's contributions.
void attend_adjoint_to_all(const DeviceMesh& mesh, const AttentionCall& call,
                           AttentionMemory& memory, const AttentionAdjointRows& rows,
                           const ArrayRef& keys, const ArrayRef& values, const ArrayRef& of_keys,
                           const ArrayRef& of_values) {
  set_to_zero(memory.execution(), of_keys);
  set_to_zero(memory.execution(), of_values);
  attend_adjoint(memory.execution(), call.settings(), rows, memory.readable(keys),
                 memory.readable(values), of_keys, of_values, call.visible_of_all(mesh));
}

/// Computes with the gathered keys. The contributions of all ranks are reduced in one exchange.
void attend_adjoint_to_gathered(const DeviceMesh& mesh, const AttentionCall& call,
                                AttentionMemory& memory, const AttentionAdjointRows& rows,
                                const AttentionRecord& record, const AttentionArrays& gradients) {
  const auto of_keys = memory.allocate(record.keys.array.extents);
  const auto of_values = memory.allocate(record.values.array.extents);
  attend_adjoint_to_all(mesh, call, memory, rows, record.keys.array, record.values.array, of_keys,
                        of_values);
  AttentionMoves moves;
  moves.add(mesh, call, call.contributions[0], call.gradients[1], of_keys, gradients[1]);
  moves.add(mesh, call, call.contributions[1], call.gradients[2], of_values, gradients[2]);
  moves.run(memory.execution());
}

/// Computes the adjoint block by block: keys and values go around as in attend_to_blocks(), and so do their
/// gradients, which gather the contributions of the ranks.
///
/// A rank keeps its contribution for its own block. At step s it sends the gradients of the block of step s − 1,
/// while it computes its contribution for that of step s, and then adds to this what has arrived. The last two
/// sums go home directly, both in one exchange: n exchanges for n ranks.
class AdjointOfBlocks {
 public:
  AdjointOfBlocks(const DeviceMesh& mesh, const AttentionCall& call, AttentionMemory& memory,
                  const AttentionAdjointRows& rows)
      : mesh_(mesh),
        call_(call),
        memory_(memory),
        rows_(rows),
        ring_(key_ring(mesh, call.operands[1], call.operands[2], call.type, call.space)),
        keys_{memory.block(ring_), memory.block(ring_)},
        own_(memory.block(ring_)),
        sums_{ring_.size() > 2 ? memory.block(ring_) : OwnedArray(), memory.block(ring_)},
        arriving_(memory.block(ring_)) {}

  void run(const AttentionArrays& operands, const AttentionArrays& gradients) {
    const auto own = ring_.block(0, keys_[0]);
    copy(memory_.execution(), operands[1], own.keys);
    copy(memory_.execution(), operands[2], own.values);
    for (int step = 0; step < ring_.size(); ++step) run_step(step);
    bring_home();
    const auto all = ring_.block(0, own_);
    copy(memory_.execution(), all.keys, gradients[1]);
    copy(memory_.execution(), all.values, gradients[2]);
  }

 private:
  bool has_moved_sums(int step) const { return step >= 2 && step + 1 < ring_.size(); }

  /// Returns the gradients of the block of a step, as far as this rank has them.
  KeyBlock sums(int step) const { return ring_.block(step, step == 0 ? own_ : sums_[step % 2]); }

  void run_step(int step) {
    std::optional<BlockExchange> next;
    if (step + 1 < ring_.size()) {
      next.emplace(memory_.execution(), ring_, moves_of(step), memory_.scratch());
      if (!call_.options.overlap) next->wait();
    }
    std::function<void()> between;
    if (next && call_.options.overlap) between = [&] { next->test(); };
    const auto block = ring_.block(step, keys_[step % 2]), contribution = sums(step);
    set_to_zero(memory_.execution(), contribution.all);
    attend_adjoint(memory_.execution(), call_.settings(between), rows_, block.keys, block.values,
                   contribution.keys, contribution.values,
                   call_.visible(mesh_, ring_.sections(step)));
    if (next) next->wait();
    if (has_moved_sums(step)) add(ring_.block(step, arriving_).all, contribution.all);
  }

  std::vector<BlockExchange::Move> moves_of(int step) const {
    std::vector<BlockExchange::Move> moves{{step, step + 1, ring_.block(step, keys_[step % 2]).all,
                                            ring_.block(step + 1, keys_[(step + 1) % 2]).all}};
    if (has_moved_sums(step))
      moves.push_back({step - 1, step, sums(step - 1).all, ring_.block(step, arriving_).all});
    return moves;
  }

  void bring_home() {
    const int last = ring_.size() - 1;
    const std::array<ArrayRef, 2> at_home{ring_.block(0, arriving_).all,
                                          ring_.block(0, keys_[0]).all};
    std::vector<BlockExchange::Move> moves;
    if (last >= 2) moves.push_back({last - 1, 0, sums(last - 1).all, at_home[1]});
    moves.push_back({last, 0, sums(last).all, at_home[0]});
    BlockExchange(memory_.execution(), ring_, moves, memory_.scratch()).wait();
    for (const auto& move : moves) add(move.destination, ring_.block(0, own_).all);
  }

  void add(const ArrayRef& what, const ArrayRef& to) const {
    reduce(memory_.execution(), ReduceOp::sum, std::array{to, what}, to, 1);
  }

  const DeviceMesh& mesh_;
  const AttentionCall& call_;
  AttentionMemory& memory_;
  const AttentionAdjointRows& rows_;
  KeyRing& ring_;
  std::array<OwnedArray, 2> keys_;  ///< blocks of keys and values in turn
  OwnedArray own_;                  ///< gradients of the rank's own block
  std::array<OwnedArray, 2> sums_;  ///< those of other blocks in turn
  OwnedArray arriving_;
};

}  // namespace

void run_attention_adjoint(const Execution& execution, const DeviceMesh& mesh,
                           const AttentionCall& call, const AttentionArrays& operands,
                           const AttentionRecord& record, const ArrayRef& result,
                           const ArrayRef& start,
                           const std::function<AttentionArrays()>& make_gradients,
                           const OwnerRef& owner) {
  const NamedRegion region(attention_label);
  const auto compute = [&](AttentionMemory& memory) {
    const auto gradients = make_gradients();
    const AttentionAdjointRows rows{
        memory.readable(operands[0]), memory.readable(start), record.log_sums.array,
        memory.allocate(record.log_sums.array.extents), memory.writable(gradients[0])};
    begin_adjoint_of_attention(execution, rows, result);
    if (call.is_ring())
      AdjointOfBlocks(mesh, call, memory, rows).run(operands, gradients);
    else if (call.is_gathered())
      attend_adjoint_to_gathered(mesh, call, memory, rows, record, gradients);
    else
      attend_adjoint_to_all(mesh, call, memory, rows, operands[1], operands[2],
                            memory.writable(gradients[1]), memory.writable(gradients[2]));
    memory.write_back();
  };
  run_attention_call(
      execution, mesh, call, hash_combine(call.hash(), 1),
      [&] { return "the adjoint of " + call.text(); }, owner, compute);
}

}  // namespace tessera::detail
