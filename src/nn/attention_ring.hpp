// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/owned_array.hpp>
#include <tessera/tensor/execution.hpp>

#include "engine/run.hpp"
#include "engine/scratch.hpp"
#include "redistribute/executor.hpp"

namespace tessera::detail {

/// Holds a block of keys with their values, or of their gradients, in one piece of memory, so that it travels in one
/// message.
struct KeyBlock {
  ArrayRef all;  ///< the whole memory, as an array of one dim
  ArrayRef keys, values;
};

/// A KeyRing is the ring of ranks along the mesh dims that split the sequence of keys and values. Each of them
/// has one block of keys. The blocks go around, from each rank to the one before it: at step s a rank has
/// block (own + s) mod size.
class KeyRing {
 public:
  /// Expects that keys and values have equal pieces, but for the number of columns.
  KeyRing(const DeviceMesh& mesh, const DTensorSpec& keys, const DTensorSpec& values,
          ElementType type, MemorySpace space);

  /// Returns whether it is the ring for such keys and values.
  bool is_for(const DTensorSpec& keys, const DTensorSpec& values, ElementType type,
              MemorySpace space) const;
  /// Returns the number of blocks.
  int size() const { return size_; }
  /// Returns which keys the block has that this rank has at a step.
  Sections sections(int step) const;

  /// Allocates memory for any block.
  OwnedArray allocate() const;
  /// Returns the block of a step in such memory.
  KeyBlock block(int step, const OwnedArray& memory) const;

  /// Returns how blocks travel that each rank has at step `from`: to where they are at step `to`.
  Executor& executor(int from, int to);
  const Group& group() const { return group_; }

 private:
  int part_of(const std::vector<int>& coordinate, int step) const;
  std::int64_t elements(int mesh_rank, int step) const;
  int owner(int mesh_rank, int distance) const;

  DTensorSpec keys_, values_;
  ElementType type_;
  MemorySpace space_;
  int size_;
  int rank_;
  Group group_;
  std::map<std::pair<int, int>, std::unique_ptr<Executor>> executors_;
};

/// Returns the ring for such keys and values, which the mesh keeps. In a call that the ranks have agreed on.
KeyRing& key_ring(const DeviceMesh& mesh, const DTensorSpec& keys, const DTensorSpec& values,
                  ElementType type, MemorySpace space);

/// Moves blocks to where they are at another step. One exchange, which begins in the constructor.
class BlockExchange {
 public:
  /// Says which blocks of each rank go where.
  struct Move {
    int from, to;
    ArrayRef source, destination;
  };

  /// Refers to all its arguments but the moves, of which no two are from and to the same steps.
  BlockExchange(const Execution& execution, KeyRing& ring, const std::vector<Move>& moves,
                Scratch& scratch);

  /// Goes on as far as it can without waiting.
  void test() { run_.test(); }
  void wait() { run_.wait(); }

 private:
  std::vector<BoundPlan> plans_;
  Run run_;
};

}  // namespace tessera::detail
