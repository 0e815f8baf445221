// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/grad/movement.hpp>
#include <tessera/grad/tape.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>
#include <tessera/redistribute/redistribute_all.hpp>
#include <tessera/tensor/detail/launch.hpp>

namespace tessera::detail {
namespace {

thread_local bool records = true;

/// Forgets what has arrived when a backward pass ends, also by an exception.
template <class Function>
class AtEnd {
 public:
  explicit AtEnd(Function function) : function_(std::move(function)) {}
  ~AtEnd() { function_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  Function function_;
};

}  // namespace

bool is_recording() {
  return records;
}

bool set_recording(bool on) {
  return std::exchange(records, on);
}

void TapeState::require_current(const AnySlot& slot) const {
  require(
      slot.is_leaf() || slot.generation() == generation_,
      "expected a value that was computed since the last backward() or clear(), which has used up "
      "what was recorded before; pass backward() {.retain = true} to keep that");
}

void TapeState::run(bool retain) {
  const BackwardScope scope;
  const AtEnd forget([&] {
    if (retain)
      forget_arrived();
    else
      clear();
  });
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
    if (entry->output->has_gradient()) {
      const PathRegions regions(entry->path.get());
      entry->adjoint();
    }
  std::vector<std::shared_ptr<AnyLeaf>> leaves;
  std::erase_if(leaves_, [](const std::weak_ptr<AnyLeaf>& leaf) { return leaf.expired(); });
  for (const auto& leaf : leaves_) leaves.push_back(leaf.lock());
  std::vector<LeafMove> moves;
  for (const auto& leaf : leaves) leaf->prepare(moves);
  move_leaves(moves);
  for (const auto& leaf : leaves) leaf->finish();
}

void TapeState::clear() {
  forget_arrived();
  entries_.clear();
  ++generation_;
}

void TapeState::end() {
  clear();
  has_ended_ = true;
}

void TapeState::forget_arrived() {
  for (const auto& entry : entries_) entry.output->clear();
  for (const auto& leaf : leaves_)
    if (const auto held = leaf.lock()) held->drop();
}

void TapeState::zero() {
  for (const auto& leaf : leaves_)
    if (const auto held = leaf.lock()) held->zero();
}

void move_leaves(const std::vector<LeafMove>& moves) {
  if (moves.empty()) return;
  std::vector<LeafMove> rest;
  PlanSettings settings;  // the text refers to it
  settings.on_device = is_on_device(moves.front().source.space);
  const auto goes_along = [&](const LeafMove& move) {
    return move.mesh == moves.front().mesh && is_on_device(move.source.space) == settings.on_device;
  };
  const auto& mesh = moves.front().mesh;
  collectively(mesh, "backward", [&](Operation& operation) {
    RedistributeAllCall text;
    std::uint64_t hash = 0;
    std::vector<Redistributor> redistributors;
    std::vector<Pieces> pieces;
    std::vector<std::shared_ptr<void>> memory;
    for (const auto& move : moves) {
      if (!goes_along(move)) {
        rest.push_back(move);
        continue;
      }
      const auto type = move.source.type;
      hash = hash_combine(hash, plan_hash(move.from, move.to, type, settings));
      text.calls.push_back({"backward", move.from, move.to, type, settings});
    }
    operation.agree(hash, text);
    if (!mesh.coordinate()) return;
    for (const auto& move : moves) {
      if (!goes_along(move)) continue;
      redistributors.push_back(
          cached_redistributor(mesh, move.from, move.to, move.source.type, settings));
      pieces.push_back({move.source, move.destination});
      memory.push_back(move.memory);
    }
    keeping(
        mesh.communicator(),
        [&] { run_together(Execution(), redistributors, pieces, "tessera::backward"); },
        [&] { return std::make_shared<std::vector<std::shared_ptr<void>>>(memory); });
  });
  move_leaves(rest);
}

DTensorSpec gradient_spec(const DTensorSpec& spec, const std::optional<Placements>& placements) {
  if (!placements) return like_spec(spec);
  return spec_with(spec, *placements);
}

std::pair<DTensorSpec, double> from_local_gradient(const DTensorSpec& spec,
                                                   const std::optional<Placements>& placements) {
  if (placements) return {spec_with(spec, *placements), 1};
  double ranks = 1;
  for (std::size_t m = 0; m < spec.placements().size(); ++m) {
    const auto& placement = spec.placements()[m];
    if (!placement.is_partial()) continue;
    const auto op = placement.op();
    require(op == ReduceOp::sum || op == ReduceOp::avg, [&] {
      return fmt::format(
          "expected grad_placements for {}: the gradient of what it combines depends on the values "
          "of all ranks",
          to_string(placement));
    });
    if (op == ReduceOp::avg) ranks *= spec.layout().shape()[m];
  }
  return {like_spec(spec), 1 / ranks};
}

void require_recorded(const TapeState* mine, const TapeState* other, const AnySlot* slot) {
  require(slot != nullptr && mine == other,
          "expected a variable that this tape has recorded; results are recorded if an operand is "
          "a variable and no NoRecordScope lives");
  mine->require_current(*slot);
}

void require_gradient_shape(const Extents& expected, const Extents& got) {
  const bool are_empty = product(expected) == 0 && product(got) == 0;
  require(expected == got || are_empty, [&] {
    return fmt::format("expected a gradient of shape {}, that of the value, got {}",
                       to_string(expected), to_string(got));
  });
}

void require_no_dims(std::size_t dims) {
  require(dims == 0, [&] {
    return fmt::format(
        "expected a value of 0 dims, such as ops::mean(x), got one of {}; pass the gradient of its "
        "elements as well: backward(y, dy)",
        dims);
  });
}

void throw_no_gradient(bool is_leaf) {
  if (is_leaf)
    throw InvalidArgument(
        "grad: expected a gradient, there is none: no backward() has reached this variable since "
        "the last zero_grad(), or the result does not depend on it");
  throw InvalidArgument(
      "grad: expected a variable that Tape::watch() gave; values on the way keep no gradient");
}

void throw_changed(const char* function) {
  throw InvalidArgument(
      fmt::format("an operand of {} was changed after it was recorded: write to it after "
                  "backward(), or record a clone of it",
                  function));
}

void throw_two_tapes() {
  throw InvalidArgument("expected operands of one tape, got variables of two");
}

}  // namespace tessera::detail
