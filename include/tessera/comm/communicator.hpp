// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <mpi.h>

namespace tessera {

/// The library's private duplicate of a user's communicator: all that the library sends goes
/// through it, and nothing else does.
///
/// A shared handle. The duplicate is an attribute of the user's communicator, so that every mesh
/// made from it shares one; it is freed when the user frees his communicator or at MPI_Finalize,
/// whichever comes first. Every later use throws MpiError.
class Communicator {
 public:
  /// For the library itself: what the handles share.
  struct State;

  /// No communicator. Every member but is_null, is_freed and == needs one.
  Communicator() = default;

  /// Duplicates `user` at its first use, later gives the same duplicate again.
  ///
  /// Collective over `user`. Errors: InvalidArgument for MPI_COMM_NULL, an inter-communicator, or
  /// an environment variable of the library with a wrong value (on every rank); MpiError before
  /// MPI_Init or after MPI_Finalize.
  static Communicator duplicate_of(MPI_Comm user);

  bool is_null() const { return state_ == nullptr; }
  /// The duplicate was freed, with the user's communicator or at MPI_Finalize.
  bool is_freed() const;
  int rank() const;
  int size() const;

  /// This machine runs more of these ranks than they may use cores: waits yield at once instead of
  /// spinning. True until the ranks have found out who shares a node, as making a mesh does.
  bool is_oversubscribed() const;

  /// The duplicate itself. Errors: MpiError if it was freed.
  MPI_Comm handle() const;

  /// A communicator of `ranks` (of this one) in this order, for the user and for files; the same
  /// one each time for the same list.
  ///
  /// Collective over `ranks` at first use (MPI_Comm_create_group), local afterwards. Freed with the
  /// duplicate.
  MPI_Comm group(std::span<const int> ranks) const;

  /// group() of this list has been called.
  bool has_group(std::span<const int> ranks) const;

  /// For the library itself: what the handles share.
  ///
  /// Errors: InvalidArgument for a null one, MpiError if it was freed.
  State& state() const;

  /// The same duplicate.
  friend bool operator==(const Communicator&, const Communicator&) = default;

 private:
  explicit Communicator(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace tessera
