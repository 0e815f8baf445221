// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/error/error.hpp>
#include <tessera/grad/detail/module_path.hpp>
#include <tessera/grad/detail/slot.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/redistribute/detail/redistribution.hpp>

namespace tessera::detail {

/// Describes the move of the gradient of a watched tensor to the placements that it is to have.
struct LeafMove {
  DeviceMesh mesh;
  DTensorSpec from;
  DTensorSpec to;
  ArrayRef source;
  ArrayRef destination;
  std::shared_ptr<void> memory;  ///< owns both arrays
};

/// Is a watched value: its gradient adds up over backward passes.
class AnyLeaf {
 public:
  virtual ~AnyLeaf() = default;
  /// Lists the move that what has arrived needs, if any.
  virtual void prepare(std::vector<LeafMove>& moves) = 0;
  /// Adds what has arrived, and moved, to the total.
  virtual void finish() = 0;
  /// Forgets what has arrived and is not in the total.
  virtual void drop() = 0;
  /// Forgets the total.
  virtual void zero() = 0;
};

/// Holds what a tape has recorded.
class TapeState {
 public:
  explicit TapeState(bool check_saved) : check_saved_(check_saved) {}

  bool checks_saved() const { return check_saved_; }
  /// Returns how often what was recorded was used up: by backward passes, and by clear().
  std::uint64_t generation() const { return generation_; }

  void add_leaf(const std::shared_ptr<AnyLeaf>& leaf) { leaves_.push_back(leaf); }
  /// Records an operation: `adjoint` passes the gradient of its result on to its operands. `output` is the
  /// slot of the result.
  void record(std::shared_ptr<AnySlot> output, std::function<void()> adjoint) {
    entries_.push_back({std::move(output), std::move(adjoint), module_path()});
  }
  /// Throws InvalidArgument for a value from before the last backward pass or clear().
  void require_current(const AnySlot& slot) const;

  /// Runs the adjoints of all recorded operations, the last one first, and reduces what has arrived at
  /// the leaves. `seed` has been added to the slot of the result. Afterwards nothing is recorded any more,
  /// unless `retain` is set.
  void run(bool retain);
  /// Forgets the gradients of all leaves.
  void zero();
  /// Forgets what is recorded.
  void clear();
  /// Forgets what is recorded, and records nothing any more: the Tape has ended.
  void end();
  bool has_ended() const { return has_ended_; }

 private:
  struct Entry {
    std::shared_ptr<AnySlot> output;
    std::function<void()> adjoint;
    std::shared_ptr<const ModulePath> path;  ///< the module that has computed it, for traces
  };

  void forget_arrived();

  bool check_saved_;
  bool has_ended_ = false;
  std::uint64_t generation_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::weak_ptr<AnyLeaf>> leaves_;
};

/// Tells whether operations on variables are recorded in this thread: no NoRecordScope lives.
bool is_recording();
/// Changes it, and returns what it was.
bool set_recording(bool records);

/// Turns recording on or off in this thread while it lives.
class RecordingScope {
 public:
  explicit RecordingScope(bool records) : outer_(set_recording(records)) {}
  ~RecordingScope() { set_recording(outer_); }
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  bool outer_;
};

/// Moves the gradients of all leaves on one mesh and in one memory space together, as redistribute_all() does.
void move_leaves(const std::vector<LeafMove>& moves);

/// Holds the gradient of a watched T.
template <class T>
class LeafSlot : public Slot<T>, public AnyLeaf {
 public:
  using Gradient = gradient_t<T>;

  /// `wanted` says how the gradient of a tensor is to be placed.
  LeafSlot(const T& value, std::optional<DTensorSpec> wanted)
      : Slot<T>(value, 0), wanted_(std::move(wanted)) {}

  bool is_leaf() const override { return true; }
  const read_only_t<Gradient>* total() const override { return shown_ ? &*shown_ : nullptr; }
  void drop() override {
    this->clear();
    new_.reset();
  }
  void zero() override {
    total_.reset();
    shown_.reset();
  }

  void prepare(std::vector<LeafMove>& moves) override {
    if (!this->has_gradient()) return;
    new_ = this->take();
    if constexpr (is_dtensor_v<T>) {
      const auto arrived = *new_;
      if (hold_alike(arrived.spec(), *wanted_)) {
        new_ = DTensorAccess::make(arrived.to_local(), arrived.device_mesh(), *wanted_);
        return;
      }
      using V = typename Gradient::view_type;
      new_ = allocate_dtensor<V>(arrived.device_mesh(), *wanted_, "tessera::gradient");
      if (!arrived.device_mesh().coordinate()) return;
      moves.push_back({arrived.device_mesh(), arrived.spec(), *wanted_,
                       array_ref(arrived.to_local()), array_ref(new_->to_local()),
                       held_with(arrived, new_->to_local())});
    }
  }

  void finish() override {
    if (!new_) return;
    total_ = total_ ? this->sum(*total_, *new_) : *new_;
    shown_ = read_only(*total_);
    new_.reset();
  }

 private:
  std::optional<DTensorSpec> wanted_;
  std::optional<Gradient> new_;
  std::optional<Gradient> total_;
  std::optional<read_only_t<Gradient>> shown_;  ///< total_, as users get it
};

}  // namespace tessera::detail
