// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/comm/collectives.hpp>
#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/fetch/fetch.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>

#include "engine/block_array.hpp"
#include "kernels/pack.hpp"
#include "placement/can_reduce.hpp"
#include "plan/needs.hpp"
#include "redistribute/executor.hpp"
#include "tensor/overlap.hpp"

namespace tessera {

struct Fetcher::State {
  /// Holds how patches reach the owners of their elements.
  struct Accumulation {
    detail::Executor executor;
    Blocks own;
    std::int64_t size;
    detail::ScratchBuffer arrived = {};
    detail::ScratchBuffer moved = {};  ///< own blocks in the memory space of the tensor
  };

  DeviceMesh mesh;
  DTensorSpec spec;
  ElementType type;
  detail::PlanSettings settings;
  Box box;
  std::vector<detail::Needs> needs;  ///< what each rank asks for
  std::uint64_t hash;
  std::shared_ptr<detail::Scratch> scratch = std::make_shared<detail::Scratch>();
  std::optional<detail::Executor> fetching = {};    ///< made at first use
  std::unique_ptr<Accumulation> accumulating = {};  ///< likewise
};

namespace {

/// Returns the tensor dims of `periodic` counted from the first one.
std::vector<bool> periodic_dims(const std::vector<int>& periodic, const DTensorSpec& spec) {
  std::vector<bool> result(spec.shape().size(), false);
  for (const int dim : periodic)
    result[static_cast<std::size_t>(detail::dim_of(spec.shape(), dim))] = true;
  return result;
}

/// Returns Box() as an empty box of the tensor.
Box box_of_tensor(const Box& box, const DTensorSpec& spec) {
  const auto dims = spec.shape().size();
  if (!box.offset.empty() || !box.shape.empty()) return box;
  return {Extents::filled(dims, 0), Extents::filled(dims, dims == 0 ? 1 : 0)};
}

/// Throws unless `box` lies in the tensor.
void require_box(const Box& box, const DTensorSpec& spec, const std::vector<bool>& periodic,
                 int rank) {
  const auto& shape = spec.shape();
  const auto dims = shape.size();
  bool is_right = box.offset.size() == dims && box.shape.size() == dims;
  for (std::size_t d = 0; is_right && d < dims; ++d) is_right = box.shape[d] >= 0;
  require(is_right, [&] {
    return fmt::format(
        "expected a box of a {}-d tensor, got offset {} and shape {} on mesh rank {}", dims,
        to_string(box.offset), to_string(box.shape), rank);
  });
  if (box.is_empty()) return;
  for (std::size_t d = 0; d < dims; ++d) {
    const bool is_inside = contains({0, shape[d]}, box.interval(d));
    require(is_inside || (periodic[d] && shape[d] > 0), [&] {
      return fmt::format("expected a box inside shape {}, got {} on mesh rank {}{}",
                         to_string(shape), to_string(box), rank,
                         shape[d] > 0 ? "; name the dims along which indices wrap around in "
                                        "FetchOptions::periodic"
                                      : "");
    });
  }
}

void require_mesh(const DeviceMesh& mesh, const DTensorSpec& spec) {
  require<MeshMismatch>(mesh.layout() == spec.layout(), [&] {
    const auto [expected, got] = detail::told_apart(mesh.layout(), spec.layout());
    return fmt::format("expected a tensor on mesh {}, got one on mesh {}", expected, got);
  });
}

void require_op(ReduceOp op, ElementType type) {
  require(op != ReduceOp::avg && can_reduce(op, type.kind), [&] {
    return fmt::format("expected an op that combines two elements of {}, got {}", to_string(type),
                       to_string(op));
  });
}

/// Returns whether each element of the piece that lies in the box has the address there that the
/// patch has for it. `piece` is what the rank holds.
bool lies_in_patch(const Piece& held, const Box& box, const ArrayRef& piece,
                   const ArrayRef& patch) {
  if (!held.is_box()) return false;
  std::int64_t distance = 0;  // elements from the first one of the patch to that of the piece
  for (std::size_t d = 0; d < box.offset.size(); ++d) {
    if (piece.strides[d] != patch.strides[d]) return false;
    distance += (held.sections[d].hull().begin - box.offset[d]) * patch.strides[d];
  }
  return patch.data + distance * patch.type.size == piece.data;
}

}  // namespace

const Box& Fetcher::box() const {
  return state_->box;
}
const DTensorSpec& Fetcher::spec() const {
  return state_->spec;
}

namespace detail {

namespace {

using State = FetcherAccess::State;
using Accumulation = State::Accumulation;

Executor& fetching(State& state) {
  if (!state.fetching) {
    auto plan =
        plan_to_needs(state.spec, state.needs, state.mesh.rank(), state.type, state.settings);
    state.fetching.emplace(plan.movement, std::vector{std::move(plan.step)}, state.mesh.group(),
                           state.scratch);
  }
  return *state.fetching;
}

Accumulation& accumulating(State& state) {
  if (!state.accumulating) {
    auto plan =
        plan_patches(state.spec, state.needs, state.mesh.rank(), state.type, state.settings);
    state.accumulating.reset(new Accumulation{
        Executor(plan.movement, {std::move(plan.step)}, state.mesh.group(), state.scratch),
        std::move(plan.own), plan.size});
  }
  return *state.accumulating;
}

/// Returns the array in `buffer` in which patches of other ranks arrive.
ArrayRef arrived_in(ScratchBuffer& buffer, const Accumulation& accumulation, ElementType type,
                    MemorySpace space) {
  auto* const data = buffer.reserve(accumulation.size * type.size, space);
  return row_major(data, type, {accumulation.size}, space);
}

/// Combines what has arrived, and what the rank has itself, with the piece: rank by rank.
class Combining {
 public:
  Combining(const Execution& execution, Accumulation& accumulation, const TensorAndPatch& arrays,
            const ArrayRef& arrived, ReduceOp op)
      : execution_(execution),
        accumulation_(accumulation),
        arrays_(arrays),
        arrived_(arrived),
        op_(op),
        order_(accumulation.executor.movement().settings.wire_order) {}

  void run() {
    const int self = accumulation_.executor.group().position;
    const auto& received = accumulation_.executor.steps().front().phases.front().receive;
    bool has_own = false;
    auto* next = arrived_.data;
    for (const auto& block : received) {
      if (block.peer > self && !std::exchange(has_own, true)) combine_own();
      const auto to = block_in(arrays_.piece, received, block, BlockSide::to, order_);
      combine(to, dense_like(to, next, arrived_.type, arrived_.space));
      next += to.bytes();
    }
    if (!has_own) combine_own();
  }

 private:
  void combine_own() {
    const auto& own = accumulation_.own;
    for (const auto& block : own) {
      const auto to = block_in(arrays_.piece, own, block, BlockSide::to, order_);
      combine(to, in_space_of_piece(block_in(arrays_.patch, own, block, BlockSide::from, order_)));
    }
  }

  BlockArray in_space_of_piece(const BlockArray& patch) {
    const auto space = arrays_.piece.space;
    if (patch.space() == space) return patch;
    auto moved =
        dense_like(patch, accumulation_.moved.reserve(patch.bytes(), space), patch.type(), space);
    for (std::size_t i = 0; i < patch.size(); ++i) copy(execution_, patch[i], moved[i]);
    return moved;
  }

  void combine(const BlockArray& to, const BlockArray& patch) {
    for (std::size_t i = 0; i < to.size(); ++i)
      reduce(execution_, op_, std::array{to[i], patch[i]}, to[i], 1);
  }

  const Execution& execution_;
  Accumulation& accumulation_;
  const TensorAndPatch& arrays_;
  const ArrayRef& arrived_;
  ReduceOp op_;
  WireOrder order_;
};

}  // namespace

std::string FetchCall::operator()() const {
  auto text = fmt::format("{} of {} from {}", function, to_string(type), to_string(spec));
  if (op != nullptr) text += fmt::format(" with {}", to_string(*op));
  if (!periodic.empty()) text += fmt::format(", periodic along [{}]", fmt::join(periodic, ", "));
  return text + in_words(settings);
}

std::uint64_t FetchCall::hash() const {
  auto result = hash_range(plan_hash(spec, spec, type, settings), periodic);
  return hash_combine(result, op == nullptr ? 0 : static_cast<std::uint64_t>(*op) + 1);
}

Extents patch_shape(const Box& box, std::size_t tensor_dims, const Extents& static_extents) {
  const bool is_nothing = box.shape.empty() && tensor_dims > 0;
  const auto shape = is_nothing ? Extents::filled(tensor_dims, 0) : box.shape;
  const bool is_empty = product(shape) == 0;
  auto result = shape;
  for (std::size_t d = 0; d < static_extents.size() && d < shape.size(); ++d) {
    if (static_extents[d] == 0) continue;
    require(shape[d] == static_extents[d] || is_empty, [&] {
      return fmt::format(
          "expected a box of extent {} in tensor dim {}, as the View type has, got {}",
          static_extents[d], d, to_string(box));
    });
    result[d] = static_extents[d];
  }
  return result;
}

Fetcher FetcherAccess::make(Operation& operation, const DeviceMesh& mesh, const Box& box,
                            const FetchCall& call) {
  const auto& spec = call.spec;
  require_mesh(mesh, spec);
  require(!spec.placements().has_partial(), [&] {
    return fmt::format("expected a tensor without Partial, got {}; reduce it by reduce_partial()",
                       to_string(spec));
  });
  const auto periodic = periodic_dims(call.periodic, spec);
  operation.agree(call.hash(), call);
  const auto own = box_of_tensor(box, spec);
  std::vector<Needs> needs;
  auto hash = call.hash();
  if (mesh.coordinate()) {
    const auto boxes =
        all_gather_value(mesh.group(), own, TraceKind::metadata, "tessera::make_fetch");
    // All ranks look at all boxes, and find the same.
    common([&] {
      for (int rank = 0; rank < std::ssize(boxes); ++rank)
        require_box(boxes[static_cast<std::size_t>(rank)], spec, periodic, rank);
    });
    for (const auto& each : boxes) {
      needs.push_back(each.is_empty() ? Needs() : needs_of(each, spec.shape()));
      hash = hash_range(hash_range(hash, each.offset), each.shape);
    }
  }
  return Fetcher(std::shared_ptr<Fetcher::State>(
      new Fetcher::State{mesh, spec, call.type, call.settings, own, std::move(needs), hash}));
}

void FetcherAccess::check(const Fetcher& fetcher, const TensorAndPatch& arrays,
                          const ReduceOp* op) {
  const auto& state = *fetcher.state_;
  require<MeshMismatch>(arrays.mesh == state.mesh, [&] {
    const auto [expected, got] = told_apart(state.mesh, arrays.mesh);
    return fmt::format("expected a tensor on mesh {}, got one on mesh {}", expected, got);
  });
  require(arrays.spec == state.spec && arrays.piece.type == state.type, [&] {
    return fmt::format("expected a tensor of {} {}, got {} {}", to_string(state.type),
                       to_string(state.spec), to_string(arrays.piece.type), to_string(arrays.spec));
  });
  const auto& patch = arrays.patch;
  require(patch.extents == state.box.shape || (patch.size() == 0 && state.box.is_empty()), [&] {
    return fmt::format("expected a patch of shape {}, that of the box, got {}",
                       to_string(state.box.shape), to_string(patch.extents));
  });
  const auto& written = op == nullptr ? patch : arrays.piece;
  require_writable(written);
  if (op != nullptr) require_op(*op, state.type);
  if (!share_memory(arrays.piece, patch)) return;
  const auto held = state.spec.sections(*state.mesh.coordinate());
  require(op == nullptr && lies_in_patch(held, state.box, arrays.piece, patch), [&] {
    return std::string(op == nullptr
                           ? "expected a patch in which each element of the tensor's local piece "
                             "lies where the piece has it, or one that shares no memory with it"
                           : "expected a patch that shares no memory with the tensor");
  });
}

void FetcherAccess::agree(const Fetcher& fetcher, Operation& operation,
                          const TensorAndPatch& arrays, const ReduceOp* op) {
  check(fetcher, arrays, op);
  const auto& state = *fetcher.state_;
  const std::vector<int> none;
  const FetchCall call{operation.name(), state.spec, state.type, state.settings, none, op};
  const auto hash = hash_combine(state.hash, op == nullptr ? 0 : static_cast<std::uint64_t>(*op));
  operation.agree(hash, call);
}

void FetcherAccess::fetch(const Fetcher& fetcher, const Execution& execution,
                          const TensorAndPatch& arrays, const char* label) {
  auto& executor = fetching(*fetcher.state_);
  executor.run(execution, executor.bound(arrays.piece, arrays.patch), label);
}

void FetcherAccess::accumulate(const Fetcher& fetcher, const Execution& execution,
                               const TensorAndPatch& arrays, ReduceOp op, const char* label) {
  auto& accumulation = accumulating(*fetcher.state_);
  const auto arrived =
      arrived_in(accumulation.arrived, accumulation, arrays.piece.type, arrays.piece.space);
  auto& executor = accumulation.executor;
  executor.run(execution, executor.bound(arrays.patch, arrived), label);
  Combining(execution, accumulation, arrays, arrived, op).run();
  finish(execution, label);
}

PendingWork FetcherAccess::work(const Fetcher& fetcher, const Execution& execution,
                                const TensorAndPatch& arrays, const ReduceOp* op,
                                std::shared_ptr<void> views, const char* label) {
  const auto& state = fetcher.state_;
  if (op == nullptr)
    return {{{{state, &fetching(*state)}, arrays.piece, arrays.patch}},
            execution,
            std::move(views),
            label};
  auto& accumulation = accumulating(*state);
  // Several calls may be under way at once: each has a buffer of its own.
  const auto buffer = std::make_shared<ScratchBuffer>();
  const auto arrived = arrived_in(*buffer, accumulation, arrays.piece.type, arrays.piece.space);
  const auto combine = [&accumulation, arrays, arrived, op = *op](const Execution& on) {
    Combining(on, accumulation, arrays, arrived, op).run();
  };
  return {{{{state, &accumulation.executor}, arrays.patch, arrived}},
          execution,
          std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
              std::move(views), buffer),
          label,
          combine};
}

const DeviceMesh& FetcherAccess::mesh(const Fetcher& fetcher) {
  return fetcher.state_->mesh;
}

}  // namespace detail

std::string Fetcher::explain() const {
  if (state_->mesh.rank() < 0) return "this rank is not on the mesh\n";
  const auto& phase = detail::fetching(*state_).steps().front().phases.front();
  std::int64_t own = 0;
  std::int64_t received = 0;
  std::vector<int> peers;
  for (const auto& block : phase.receive) {
    (block.peer == state_->mesh.rank() ? own : received) += block.size();
    if (block.peer != state_->mesh.rank()) peers.push_back(block.peer);
  }
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return fmt::format("rank {} fetches {} of {}: {} bytes from {} ranks, {} bytes of its own\n",
                     state_->mesh.rank(), to_string(state_->box), to_string(state_->spec),
                     received * state_->type.size, peers.size(), own * state_->type.size);
}

}  // namespace tessera
