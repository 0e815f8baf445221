// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For redistribute: executes plans that are bound to this rank.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <tessera/agreement/detail/wait.hpp>
#include <tessera/comm/collectives.hpp>
#include <tessera/comm/progress.hpp>
#include <tessera/tensor/execution.hpp>

#include "comm/exchange.hpp"
#include "engine/execute.hpp"
#include "node/device_slots.hpp"
#include "node/node_window.hpp"

namespace tessera::detail {

/// How blocks of this plan reach the ranks of `group`. Errors: MpiError if its communicator was
/// freed.
Peers peers_of(const Group& group, const Movement& movement);

/// How plans that run together are cut into chunks: the same on all ranks, for it depends on the
/// plans and on what the ranks of the communicator share, which does not change.
ChunkSizes chunk_sizes(std::span<const BoundPlan> plans, const Communicator& communicator);

/// Device memory is read or written here.
bool uses_device(std::span<const BoundPlan> plans);

/// One execution on this rank of the mesh `group`, of one plan or of several with steps of the same
/// kinds: phase by phase, by messages and through the window of the node, so that it can rest while
/// other ranks have not come so far.
///
/// Refers to all its arguments. Scratch is in use until the end.
class Run {
 public:
  /// Begins: fences, packs, and posts the first messages. Collective over the group.
  Run(const Execution& execution, std::span<const BoundPlan> plans, const Group& group,
      Scratch& scratch, const char* operation);

  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Goes on as far as it can without waiting; copies what stays on this rank once nothing else is
  /// left. Whether all is done.
  bool test();
  /// Goes on to the end.
  void wait();
  /// Between two tests, see Watch::look.
  void look(Watch& watch);
  /// Nothing is received any more.
  void abandon();

 private:
  const std::vector<Step>& steps() const { return plans_.front().steps; }
  bool is_past_last() const { return number_.step == steps().size(); }
  bool is_complete() const { return is_past_last() && (!lanes_ || lanes_->is_read()); }
  void open_lanes();
  void begin_phase();
  void add_plans(const ChunkSizes& sizes);
  bool pass_messages();
  bool post_messages();
  void end_phase();
  bool turn(bool is_waiting);
  bool go_on(bool is_waiting);
  void note_progress(Watch& watch);
  void report_progress();
  std::vector<int> awaited() const;

  PhaseRun& phase() { return phases_[number_.before]; }

  const Execution& execution_;
  std::span<const BoundPlan> plans_;
  const Group& group_;
  Scratch& scratch_;
  const char* operation_;
  std::vector<PhaseRun>& home_;  ///< of phases_, before and afterwards
  std::vector<PhaseRun> phases_;
  Peers peers_;
  std::shared_ptr<MappedWindow> window_;  // before lanes_, which lie in it
  std::shared_ptr<DeviceSlots> slots_;    // likewise
  std::optional<Lanes> lanes_;
  PhaseNumber number_;
  std::optional<Exchange> exchange_;
  std::size_t turns_ = 0;  ///< in which something was done
  std::size_t seen_ = 0;
  std::optional<ProgressMeter> meter_;  ///< where somebody listens
  std::int64_t bytes_before_ = 0;       ///< received in the phases that are over
};

}  // namespace tessera::detail
