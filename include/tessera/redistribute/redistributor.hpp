// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/plan/plan.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera {

namespace detail {
struct BoundPlan;
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
  /// Binds `plan`; RedistributePlan::bind() calls this. Other Redistributors may use `scratch` too,
  /// one at a time.
  Redistributor(RedistributePlan plan, const detail::Meshes& meshes,
                std::shared_ptr<detail::Scratch> scratch);

  const RedistributePlan& plan() const;

  /// Returns what plan().explain() tells, and how the blocks of this rank travel: through the
  /// window of its node, through device slots, or in messages. Local. Errors: MpiError if the
  /// mesh's communicator was freed.
  std::string explain() const;

  /// Moves the local piece `source` of the plan's source into the local piece `destination` of its
  /// target; the Views do not overlap. Off one of the meshes, the View for it has no elements.
  ///
  /// Collective over the mesh, or both meshes. With an execution space instance work is ordered on
  /// it, and the caller fences; without one, the result is complete on return. Returns at once off
  /// the mesh.
  /// Errors: InvalidArgument, on this rank, for a View that is not this rank's local piece or of
  /// another element type; MpiError.
  template <class Source, class Destination>
  void execute(const Source& source, const Destination& destination) const {
    static_assert(!std::is_const_v<typename Destination::value_type>,
                  "expected a View that can be written");
    execute_on(Execution(), source, destination);
  }
  /// Orders the work on `exec`.
  template <class Exec, class Source, class Destination>
  requires Kokkos::is_execution_space_v<Exec>
  void execute(const Exec& exec, const Source& source, const Destination& destination) const {
    static_assert(!std::is_const_v<typename Destination::value_type>,
                  "expected a View that can be written");
    execute_on(Execution(exec), source, destination);
  }

  /// Takes arrays without static types. `operation` names the caller in trace events. After a
  /// Timeout, a rank that comes late may still read the source and write to the destination.
  void execute(const Execution& execution, const ArrayRef& source, const ArrayRef& destination,
               const char* operation) const;

  /// Executes the plan as a part of a call that the ranks have agreed on, without checks. `views()`
  /// returns what holds the memory, see detail::keeping().
  template <class Views>
  void run(const Execution& execution, const ArrayRef& source, const ArrayRef& destination,
           const char* operation, const Views& views) const {
    detail::keeping(
        group().communicator, [&] { run(execution, source, destination, operation); }, views);
  }
  /// States the call to the other ranks, see Operation::agree().
  void agree(Operation& call, const CallText& text) const;
  /// Returns whether run() works on this rank with the source's memory as destination.
  bool can_run_in_place() const;
  /// Returns the plan with these arrays, for detail::Run.
  detail::BoundPlan bound(const ArrayRef& source, const ArrayRef& destination) const;
  /// Returns the ranks that take part: those of the mesh, or of both meshes.
  const Group& group() const;
  /// Returns the scratch memory that it uses.
  detail::Scratch& scratch() const;
  /// Returns an address that all handles of one plan on one mesh share, and no others that live.
  const void* identity() const { return state_.get(); }

 private:
  template <class Source, class Destination>
  void execute_on(const Execution& execution, const Source& source,
                  const Destination& destination) const {
    detail::keeping(
        group().communicator,
        [&] {
          execute(execution, array_ref(source), array_ref(destination), "tessera::redistribute");
        },
        [&] { return detail::held(source, destination); });
  }
  void run(const Execution& execution, const ArrayRef& source, const ArrayRef& destination,
           const char* operation) const;
  bool run_short(const Execution& execution, const detail::BoundPlan& here,
                 const char* operation) const;

  struct State;
  std::shared_ptr<State> state_;
};

namespace detail {

/// Says whether Views of all these types lie in device memory.
template <class... V>
inline constexpr bool are_on_device =
    ((memory_space<typename V::memory_space> == MemorySpace::device) && ...);

/// Returns the options of calls that take none, for Views of these types.
template <class... V>
RedistributeOptions plain_options() {
  RedistributeOptions options;
  options.on_device = are_on_device<V...>;
  return options;
}

/// Returns what the text of a call says about the memory space of its Views.
inline const char* space_in_words(bool on_device) {
  return on_device ? ", in device memory" : "";
}

/// Describes a redistribution as text, for Operation::agree().
struct RedistributeCall {
  const char* function;
  const DTensorSpec& source;
  const DTensorSpec& target;
  ElementType type;
  WireOrder wire_order = WireOrder::last_dim_fastest;
  bool on_device = false;

  std::string operator()() const;
};

/// Holds what this rank has of source and target.
struct Pieces {
  ArrayRef source;
  ArrayRef destination;
};

/// Runs several plans on one mesh together, in one exchange if their steps are of the same kinds.
/// `pieces` holds one entry for each plan. A part of a call that the ranks have agreed on.
void run_together(const Execution& execution, std::span<const Redistributor> redistributors,
                  std::span<const Pieces> pieces, const char* operation);

}  // namespace detail
}  // namespace tessera
