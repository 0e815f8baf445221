// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <mpi.h>

namespace tessera {

/// A Communicator is the library's private duplicate of a user's communicator. The library sends
/// everything through it, and nothing else uses it.
///
/// It is a shared handle. The duplicate is an attribute of the user's communicator, so that all
/// meshes made from that communicator share it. It is freed when the user frees the communicator or
/// at MPI_Finalize, whichever comes first; every later use throws MpiError.
class Communicator {
 public:
  /// Holds what the handles share; for the library itself.
  struct State;

  /// Makes a null handle, on which only is_null, is_freed and == may be called.
  Communicator() = default;

  /// Returns the duplicate of `user`: the first call makes it, later calls return the same one.
  ///
  /// Collective over `user`. Errors: InvalidArgument for MPI_COMM_NULL, an inter-communicator, or
  /// an environment variable of the library with a wrong value (on every rank); MpiError before
  /// MPI_Init or after MPI_Finalize.
  static Communicator duplicate_of(MPI_Comm user);

  bool is_null() const { return state_ == nullptr; }
  /// Returns whether the duplicate was freed, with the user's communicator or at MPI_Finalize.
  bool is_freed() const;
  int rank() const;
  int size() const;

  /// Returns whether this machine runs more ranks of this communicator than they may use cores;
  /// waits then yield at once instead of spinning. True until the ranks have detected who shares a
  /// node, as making a mesh does.
  bool is_oversubscribed() const;

  /// Returns the duplicate itself. Errors: MpiError if it was freed.
  MPI_Comm handle() const;

  /// Returns a communicator of `ranks` (ranks of this one) in this order, for the user and for
  /// files. Equal lists get the same communicator.
  ///
  /// Collective over `ranks` at first use (MPI_Comm_create_group), local afterwards. It is freed
  /// with the duplicate.
  MPI_Comm group(std::span<const int> ranks) const;

  /// Returns whether group() was called with this list.
  bool has_group(std::span<const int> ranks) const;

  /// Returns what the handles share; for the library itself.
  ///
  /// Errors: InvalidArgument for a null handle, MpiError if the duplicate was freed.
  State& state() const;

  /// Returns whether both handles refer to the same duplicate.
  friend bool operator==(const Communicator&, const Communicator&) = default;

 private:
  explicit Communicator(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace tessera
