// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <tessera/tensor/detail/launch.hpp>

#include "comm/communicator_state.hpp"
#include "engine/run.hpp"
#include "node/nodes.hpp"

namespace tessera::detail {
namespace {

/// Of blocks between ranks that share a window.
enum class NearWay : std::uint8_t { messages, window, device_slots };

/// Elements that are too large for the window travel in messages. The same on all ranks.
NearWay near_way(const Movement& movement, const CommunicatorState& state) {
  const auto& node = *state.node;
  const auto element = movement.type.size;
  if (node.smallest_slot < element) return NearWay::messages;
  if (!movement.settings.on_device && !state.wanted_path.is_for_all_memory) return NearWay::window;
  if (state.device_path == DevicePath::mpi) return NearWay::messages;
  const bool is_shared =
      state.device_path == DevicePath::ipc && node.smallest_device_slot >= element;
  return is_shared ? NearWay::device_slots : NearWay::window;
}

/// Of the results of all phases on this rank.
std::int64_t bytes_of_phases(std::span<const BoundPlan> plans) {
  std::int64_t bytes = 0;
  for (const auto& bound : plans)
    for (const auto& step : bound.steps)
      for (const auto& phase : step.phases)
        for (const auto& block : phase.receive)
          if (block.contribution == 0) bytes += block.size() * bound.destination.type.size;
  return bytes;
}

std::vector<PhaseRun>& home_of_phases(std::span<const BoundPlan> plans, Scratch& scratch) {
  auto* const kept = plans.front().kept;
  return plans.size() == 1 && kept != nullptr ? *kept : scratch.phases;
}

}  // namespace

Peers peers_of(const Group& group, const Movement& movement) {
  const auto& state = group.communicator.state();
  Peers peers{group.ranks, {}, state.staging};
  const auto way = near_way(movement, state);
  const auto& node = nodes_of(group.communicator);
  if (way == NearWay::messages || !node.window) return peers;
  peers.lanes = node.lanes;
  peers.is_window_pinned = node.window->pinned != nullptr;
  if (way == NearWay::device_slots) peers.slots = &node.device_slots->memory();
  return peers;
}

/// While one chunk arrives, the one before is added from the caches: two of them, and as much that
/// is sent, shall fit there.
static constexpr std::int64_t most_bytes_of_term = 256 << 10;

ChunkSizes chunk_sizes(std::span<const BoundPlan> plans, const Communicator& communicator) {
  const auto& state = communicator.state();
  const auto& node = nodes_of(communicator);
  ChunkSizes sizes;
  auto limit = plans.front().movement.messages.limit;
  std::int64_t buffers = 0;
  for (const auto& bound : plans) {
    const auto& movement = bound.movement;
    sizes.message = std::min(sizes.message, movement.messages.bytes);
    sizes.messages_at_once = std::max(sizes.messages_at_once, movement.messages.at_once);
    limit = std::min(limit, movement.messages.limit);
    buffers += movement.messages.buffers;
  }
  // Terms of all plans are awaited at once.
  const std::int64_t element = plans.front().movement.type.size;
  sizes.term = std::max(element, std::min(sizes.message, limit / (buffers + 1)));
  const auto way = near_way(plans.front().movement, state);
  if (way == NearWay::messages)
    sizes.term = std::min(sizes.term, most_bytes_of_term);
  else if (way == NearWay::device_slots && node.map.nodes() == 1)
    sizes.term = node.smallest_device_slot;  // none needs a buffer of its own
  else
    sizes.term = std::min(sizes.term,
                          way == NearWay::window ? node.smallest_slot : node.smallest_device_slot);
  return sizes;
}

bool uses_device(std::span<const BoundPlan> plans) {
  return std::ranges::any_of(plans, [](const BoundPlan& bound) {
    return is_on_device(bound.source.space) || is_on_device(bound.destination.space);
  });
}

Run::Run(const Execution& execution, std::span<const BoundPlan> plans, const Group& group,
         Scratch& scratch, const char* operation)
    : execution_(execution),
      plans_(plans),
      group_(group),
      scratch_(scratch),
      operation_(operation),
      home_(home_of_phases(plans, scratch)),
      phases_(std::exchange(home_, {})),
      peers_{group.ranks, {}, group.communicator.state().staging} {
  const bool is_read_by_others = std::ranges::any_of(plans_, [&](const BoundPlan& bound) {
    const bool is_direct =
        peers_.staging == Staging::nothing && std::ranges::any_of(bound.steps, &Step::communicates);
    return is_direct || bound.source.space == MemorySpace::host ||
           bound.destination.space == MemorySpace::host;
  });
  if (!execution_.is_given() || is_read_by_others)
    execution_.fence("tessera::redistribute: before reading the source");
  scratch_.hand_over(execution_);
  scratch_.under_way.clear();
  scratch_.pieces.clear();
  for (const auto& bound : plans_) {
    prepare_destination(execution_, bound.movement, bound.destination);
    scratch_.pieces.push_back(bound.source);
  }
  const auto is_filled_on_device = [](const BoundPlan& bound) {
    return bound.movement.partial_target && is_on_device(bound.destination.space);
  };
  if (peers_.staging == Staging::nothing && std::ranges::any_of(plans_, is_filled_on_device))
    execution_.fence("tessera::redistribute: before messages arrive in what was filled");
  if (ProgressMeter::is_wanted()) meter_.emplace(operation, bytes_of_phases(plans));
  open_lanes();
  begin_phase();
}

Run::~Run() {
  home_ = std::move(phases_);
}

void Run::open_lanes() {
  const auto& state = group_.communicator.state();
  auto* const call = state.control->innermost();
  if (call == nullptr) return;
  peers_ = peers_of(group_, plans_.front().movement);
  if (peers_.lanes.empty()) return;
  const auto lane_of = [&](const Block& block) {
    return block.peer == group_.position ? -1 : peers_.lane(block.peer);
  };
  const auto begin = [&] {
    if (lanes_) return;
    window_ = nodes_of(group_.communicator).window;
    slots_ = nodes_of(group_.communicator).device_slots;
    // Ranks that did not agree on where chunks lie would not find them.
    constexpr std::uint64_t in_slots = 4;
    const auto stamp = call->stamp() ^ (peers_.slots != nullptr ? in_slots : 0);
    lanes_.emplace(window_->shared, stamp, peers_.slots);
  };
  for (const auto& bound : plans_)
    for (const auto& step : bound.steps)
      for (const auto& phase : step.phases) {
        if (std::ranges::any_of(phase.receive, [&](const Block& b) { return lane_of(b) >= 0; }))
          begin();
        // For each message, as PhaseRun closes it.
        for_each_message(phase.send, group_.position, [&](std::span<const Block> message) {
          const int lane = lane_of(message.front());
          if (lane < 0) return;
          begin();
          lanes_->open(lane);
        });
      }
}

void Run::begin_phase() {
  const auto communicates = [&](const BoundPlan& bound) {
    return bound.steps[number_.step].communicates;
  };
  if (number_.phase == 0 && std::ranges::any_of(plans_, communicates))
    exchange_.emplace(group_.communicator, TraceKind::exchange, operation_, group_.size());
  auto sizes = chunk_sizes(plans_, group_.communicator);
  if (lanes_) sizes.window = lanes_->slot_bytes();

  if (phases_.size() == number_.before) phases_.emplace_back();
  auto& buffer = scratch_.intermediate[number_.buffer()];
  const auto space = plans_.front().destination.space;
  auto* free = buffer.reserve(intermediate_bytes(plans_, number_, group_.position), space);
  scratch_.results.clear();
  for (const auto& bound : plans_)
    scratch_.results.push_back(result_of_phase(bound, number_, group_.position, free));
  add_plans(sizes);
  phase().begin(scratch_);
  if (exchange_) phase().count(*exchange_);
  post_messages();
}

void Run::add_plans(const ChunkSizes& sizes) {
  const bool is_kept = &home_ == plans_.front().kept;
  const bool is_last = number_.next(steps()).step == steps().size();
  const auto scaling_of = [&](const BoundPlan& bound) {
    return is_last ? bound.scaling : Scaling{};
  };
  if (is_kept && phase().repeat(peers_, sizes, scratch_.pieces.front(), scratch_.results.front(),
                                scaling_of(plans_.front())))
    return;
  phase().clear(group_.position, peers_, sizes);
  for (std::size_t m = 0; m < plans_.size(); ++m) {
    const auto& bound = plans_[m];
    phase().add(bound.movement, bound.steps[number_.step], number_.of(bound.steps),
                scratch_.pieces[m], scratch_.results[m], scaling_of(bound));
  }
}

/// Whether there was any.
bool Run::post_messages() {
  const auto messages = phase().post(execution_);
  for (const auto& message : messages) {
    const int rank = peers_.rank(message.peer);
    const auto ticket = message.is_sent ? exchange_->send(message.data, message.bytes, rank)
                                        : exchange_->receive(message.data, message.bytes, rank);
    scratch_.under_way.push_back({ticket, message.id});
  }
  return !messages.empty();
}

/// Whether any has arrived or was taken.
bool Run::pass_messages() {
  auto& complete = scratch_.complete;
  complete.clear();
  std::erase_if(scratch_.under_way, [&](const UnderWay& message) {
    if (!exchange_->test(message.ticket)) return false;
    complete.push_back(message.id);
    return true;
  });
  if (!complete.empty()) phase().complete(execution_, complete);
  return !complete.empty();
}

void Run::end_phase() {
  phase().end();
  if (meter_) bytes_before_ += phase().bytes_done();
  std::swap(scratch_.pieces, scratch_.results);
  const auto next = number_.next(steps());
  if (next.step != number_.step) {
    if (exchange_) exchange_->finish();
    exchange_.reset();
  }
  number_ = next;
  if (!is_past_last()) {
    if (uses_device(plans_))
      execution_.fence("tessera::redistribute: before scratch is used again");
    return begin_phase();
  }
  for (const auto& bound : plans_)
    complete_destination(execution_, bound.movement, bound.steps, bound.destination);
  if (meter_) meter_->finish();
}

void Run::report_progress() {
  if (meter_->is_on()) meter_->reach(bytes_before_ + phase().bytes_done());
}

/// Whether anything was done. What stays is copied last where nobody waits: others may need this
/// rank for what else it has to do.
bool Run::turn(bool is_waiting) {
  if (is_past_last()) return false;
  if (meter_) report_progress();
  auto& phase = this->phase();
  if (phase.is_complete()) {
    end_phase();
    return true;
  }
  // What stays is copied in step with what is sent: both often lie in the same lines and pages.
  bool has_moved = pass_messages();
  // Before the reductions: others wait for what is sent.
  has_moved = post_messages() || has_moved;
  has_moved = phase.advance(execution_, lanes_ ? &*lanes_ : nullptr) || has_moved;
  const bool is_last = number_.next(steps()).step == steps().size();
  if (!is_waiting && is_last && phase.needs_others()) return has_moved;
  return phase.copy_own(execution_) || has_moved;
}

bool Run::go_on(bool is_waiting) {
  const auto before = turns_;
  while (turn(is_waiting)) ++turns_;
  group_.communicator.state().control->turns += turns_ - before;
  return is_complete();
}

bool Run::test() {
  return go_on(false);
}

void Run::wait() {
  if (go_on(true)) return;
  Watch watch(*group_.communicator.state().control);
  while (!go_on(true)) {
    note_progress(watch);
    watch.pause([&] { return awaited(); }, [&] { abandon(); });
  }
}

void Run::note_progress(Watch& watch) {
  const auto progress = turns_ + (exchange_ ? exchange_->progress() : 0);
  if (std::exchange(seen_, progress) != progress) watch.restart();
}

void Run::look(Watch& watch) {
  note_progress(watch);
  watch.look([&] { return awaited(); }, [&] { abandon(); });
}

std::vector<int> Run::awaited() const {
  std::vector<int> ranks;
  if (exchange_) ranks = exchange_->awaited();
  std::vector<int> lanes;
  if (lanes_ && !is_past_last()) lanes = phases_[number_.before].awaited_lanes();
  for (const int rank : group_.ranks) {
    const int lane = peers_.lanes.empty() ? -1 : peers_.lanes[static_cast<std::size_t>(rank)];
    if (lane < 0 || !lanes_) continue;
    if (!lanes_->is_read(lane) || std::ranges::find(lanes, lane) != lanes.end())
      ranks.push_back(rank);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void Run::abandon() {
  if (exchange_) exchange_->abandon();
  if (lanes_) lanes_->abandon();
}

}  // namespace tessera::detail
