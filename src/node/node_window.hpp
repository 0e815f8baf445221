// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: the window of a node and the memory that it lies in.
#pragma once

#include <memory>
#include <utility>

#include <tessera/comm/communicator.hpp>

#include "node/shared_memory.hpp"
#include "node/window.hpp"

namespace tessera::detail {

/// A window and the memory that it lies in.
struct MappedWindow {
  MappedWindow(SharedMemory mapped, const WindowShape& shape, int position)
      : memory(std::move(mapped)), shared(Window(memory.data(), shape, position)) {}

  SharedMemory memory;
  SharedWindow shared;
  bool was_tried = false;             ///< to pin it
  std::shared_ptr<void> pinned = {};  ///< lets go of it; null where no device works on it
};

/// Makes the window of each node, of TESSERA_WINDOW bytes per rank (that of rank 0; by default 4
/// MiB, or less where little shared memory is left; 0: none). Where the system has no room, its
/// ranks do without, and a warning is logged. Collective over the duplicate.
///
/// Errors: InvalidArgument for what is no number of bytes, on every rank.
void make_window(const Communicator& communicator);

}  // namespace tessera::detail
