// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/extents/factor.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/plan/plan.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/view_traits.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

namespace detail {
struct BoundPlan;
class Executor;
struct RedistributorAccess;
struct Scratch;

/// Names the meshes of source and target, in most calls the same mesh.
struct Meshes {
  const DeviceMesh& source;
  const DeviceMesh& target;

  Meshes(const DeviceMesh& mesh) : source(mesh), target(mesh) {}
  Meshes(const DeviceMesh& from, const DeviceMesh& to) : source(from), target(to) {}
};

/// Returns the log of the calls that the ranks of both meshes make; null on ranks of neither.
OperationLog* calls_of(const Meshes& meshes);
}  // namespace detail

/// A Redistributor is a plan bound to this rank of a mesh. It has the scratch memory that the plan
/// needs, and keeps it; the guide says what later executions still allocate. It is a shared handle;
/// one execution at a time. It does not keep the mesh alive.
class Redistributor {
 public:
  const RedistributePlan& plan() const;

  /// Returns what plan().explain() tells, and how the blocks of this rank travel: through the
  /// window of its node, through device slots, or in messages. Local. Errors: MpiError if the
  /// mesh's communicator was freed.
  std::string explain() const;

  /// Moves the local piece `source` of the plan's source into the local piece `destination` of its
  /// target. If they share memory, it first copies the source, unless the plan can run in place, as
  /// an all-reduce into the same View can. Off one of the meshes, the View for it has no elements.
  ///
  /// Collective over the mesh, or both meshes. With an execution space instance work is ordered on
  /// it, and the caller fences; without one, the result is complete on return. Returns at once off
  /// the mesh.
  /// Errors: InvalidArgument, for a View that is not this rank's local piece or of another element
  /// type, for a destination whose own elements share memory, and for a copy of the source that
  /// takes more than PlanOptions::extra_memory; MpiError.
  template <LocalView Source, LocalView Destination>
  void execute(const Source& source, const Destination& destination) const {
    execute(Execution(), source, destination);
  }
  /// Orders the work on `exec`.
  template <LocalView Source, LocalView Destination>
  void execute(const Execution& exec, const Source& source, const Destination& destination) const;

 private:
  friend detail::RedistributorAccess;
  struct State;
  explicit Redistributor(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

namespace detail {

/// Says whether Views of all these types lie in device memory.
template <class... V>
inline constexpr bool are_on_device =
    ((memory_space<typename V::memory_space> == MemorySpace::device) && ...);

/// Returns the settings of plans for Views of these types.
template <class Source, class Destination>
PlanSettings settings_for(std::int64_t extra_memory = 0) {
  constexpr bool are_left = std::is_same_v<typename Source::array_layout, Kokkos::LayoutLeft> &&
                            std::is_same_v<typename Destination::array_layout, Kokkos::LayoutLeft>;
  PlanSettings settings;
  require_memory_limit(extra_memory);
  settings.extra_memory = extra_memory;
  if (are_left) settings.wire_order = WireOrder::first_dim_fastest;
  settings.on_device = are_on_device<Source, Destination>;
  return settings;
}

/// Returns the settings of calls whose Views may be laid out in any order, for Views of these types.
template <class... V>
PlanSettings plain_settings() {
  PlanSettings settings;
  settings.on_device = are_on_device<V...>;
  return settings;
}

/// Returns what the text of a call says about the memory space of its Views.
inline const char* memory_space_note(bool on_device) {
  return on_device ? ", in device memory" : "";
}

/// Says how elements change on their way: from one type to another, and by a scaling.
struct Change {
  ElementType source = {};
  ElementType destination = {};
  Scaling scaling = {};

  bool is_none() const { return source == destination && scaling.is_copy(); }
  std::uint64_t hash() const;
};

/// Describes a redistribution as text, for Operation::agree().
struct RedistributeCall {
  const char* function;
  const DTensorSpec& source;
  const DTensorSpec& target;
  ElementType type;  ///< that in which elements travel
  const PlanSettings& settings;
  Change change = {};

  std::string operator()() const;
};

/// Holds what this rank has of source and target.
struct Pieces {
  ArrayRef source;
  ArrayRef destination;
};

/// Names one of the plans of a call, and the arrays between which it moves.
struct PendingMove {
  std::shared_ptr<Executor> executor;
  ArrayRef source;
  ArrayRef destination;
};

/// Holds what a call in the background moves. All moves are on one group of ranks.
struct PendingWork {
  std::vector<PendingMove> moves;
  Execution execution;
  std::shared_ptr<void> views;  ///< owner of the memory of all arrays
  const char* label;
  /// Does what is left for this rank once all has arrived; empty if nothing is.
  std::function<void(const Execution&)> complete = {};
};

/// Gives the library a bound plan without static types.
struct RedistributorAccess {
  using State = Redistributor::State;

  /// Binds `plan`. Other Redistributors may use `scratch` too, one at a time. Its errors name no
  /// function; the caller does.
  static Redistributor make(RedistributePlan plan, const Meshes& meshes,
                            std::shared_ptr<Scratch> scratch);

  /// Runs the plan as a call of its own, see Redistributor::execute(). `operation` names the caller
  /// in trace events. After a Timeout, a rank that comes late may still read the source and write
  /// to the destination.
  static void execute(const Redistributor& redistributor, const Execution& execution,
                      const ArrayRef& source, const ArrayRef& destination, const char* operation);

  /// Runs the plan as a part of a call that the ranks have agreed on, without checks. `views()`
  /// returns what holds the memory, see keeping().
  template <class Views>
  static void run(const Redistributor& redistributor, const Execution& execution,
                  const ArrayRef& source, const ArrayRef& destination, const char* operation,
                  const Views& views, const Scaling& scaling = {}) {
    keeping(
        group(redistributor).communicator,
        [&] { run_plan(redistributor, execution, source, destination, operation, scaling); },
        views);
  }
  static void run_plan(const Redistributor& redistributor, const Execution& execution,
                       const ArrayRef& source, const ArrayRef& destination, const char* operation,
                       const Scaling& scaling = {});

  /// States the call to the other ranks, see Operation::agree().
  static void agree(const Redistributor& redistributor, Operation& call, const CallText& text);
  /// Returns whether run() works on this rank with `source` as destination. Errors: InvalidArgument
  /// if its own elements share memory.
  static bool can_replace(const Redistributor& redistributor, const ArrayRef& source);
  /// Returns what run() may read while it writes to `destination`: `source`, or a copy in scratch
  /// memory if the two share memory and the plan cannot run in place, which it never can where
  /// values change. Errors: those of execute().
  static ArrayRef readable(const Redistributor& redistributor, const Execution& execution,
                           const ArrayRef& source, const ArrayRef& destination,
                           const Scaling& scaling = {});
  /// Returns the plan with these arrays, for detail::Run.
  static BoundPlan bound(const Redistributor& redistributor, const ArrayRef& source,
                         const ArrayRef& destination);
  /// Returns the plan with these arrays as a move of a call in the background.
  static PendingMove move(const Redistributor& redistributor, const Pieces& pieces);
  /// Returns the ranks that take part: those of the mesh, or of both meshes.
  static const Group& group(const Redistributor& redistributor);
  /// Returns the scratch memory that it uses.
  static Scratch& scratch(const Redistributor& redistributor);
  /// Returns an address that all handles of one plan on one mesh share, and no others that live.
  static const void* identity(const Redistributor& redistributor) {
    return redistributor.state_.get();
  }
};

/// Runs several plans on one mesh together, in one exchange if their steps are of the same kinds.
/// `pieces` holds one entry for each plan. A part of a call that the ranks have agreed on.
void run_together(const Execution& execution, std::span<const Redistributor> redistributors,
                  std::span<const Pieces> pieces, const char* operation);

}  // namespace detail

/// Executes the plan, see the class. It stands here because it needs RedistributorAccess.
template <LocalView Source, LocalView Destination>
void Redistributor::execute(const Execution& exec, const Source& source,
                            const Destination& destination) const {
  static_assert(!std::is_const_v<typename Destination::value_type>,
                "expected a View that can be written");
  detail::keeping(
      detail::RedistributorAccess::group(*this).communicator,
      [&] {
        detail::RedistributorAccess::execute(*this, exec, array_ref(source), array_ref(destination),
                                             "tessera::redistribute");
      },
      [&] { return detail::held(source, destination); });
}

/// Makes the plan of make_plan() for local pieces in Views of type Source and Destination: element
/// type, memory space and the order in which elements travel are theirs.
template <LocalView Source, LocalView Destination = Source>
RedistributePlan make_plan(const DTensorSpec& source, const DTensorSpec& target,
                           const PlanOptions& options = {}) {
  return detail::named("make_plan", [&] {
    auto settings = detail::settings_for<Source, Destination>();
    static_cast<PlanOptions&>(settings) = options;
    return detail::plan_on_one_mesh(
        source, target, element_type<std::remove_const_t<typename Source::value_type>>(), settings);
  });
}
/// Makes the plan of make_plan_across() for local pieces in Views of these types.
template <LocalView Source, LocalView Destination = Source>
RedistributePlan make_plan_across(const DTensorSpec& source, const DTensorSpec& target,
                                  const PlanOptions& options = {}) {
  return detail::named("make_plan_across", [&] {
    auto settings = detail::settings_for<Source, Destination>();
    static_cast<PlanOptions&>(settings) = options;
    return detail::PlanAccess::make(
        source, target, element_type<std::remove_const_t<typename Source::value_type>>(), settings);
  });
}

}  // namespace tessera
