// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <tessera/redistribute/detail/plan_cache.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

#include "nn/attention_call.hpp"
#include "nn/attention_ring.hpp"

namespace tessera::detail {

/// Holds the memory of a call of attention, and runs what begins it: a failing call keeps it until its messages are
/// complete.
///
/// It does not reuse memory of earlier calls, as operators do: what attention computes takes longer by far than
/// fresh memory, and a ring holds as little as it can.
class AttentionMemory {
 public:
  AttentionMemory(const Execution& execution, const AttentionCall& call);

  /// Returns an array in row-major order, which the call keeps, too.
  OwnedArray owned(const Extents& shape);
  ArrayRef allocate(const Extents& shape) { return owned(shape).array; }
  /// Returns memory for any block of a ring.
  OwnedArray block(const KeyRing& ring);
  /// Returns the array, or a copy of it that a BLAS can read.
  ArrayRef readable(const ArrayRef& array);
  /// Returns the array, or memory in row-major order if a BLAS cannot write to it: write_back() copies from there.
  ArrayRef writable(const ArrayRef& array);
  void write_back();

  Scratch& scratch() { return scratch_; }
  const Execution& execution() const { return execution_; }

 private:
  const Execution& execution_;
  const AttentionCall& call_;
  std::vector<OwnedArray> arrays_;
  std::vector<std::pair<ArrayRef, ArrayRef>> to_write_;
  Scratch scratch_;
};

/// Moves arrays from specs to others, in one exchange.
struct AttentionMoves {
  std::vector<Redistributor> redistributors;
  std::vector<Pieces> pieces;

  void add(const DeviceMesh& mesh, const AttentionCall& call, const DTensorSpec& from,
           const DTensorSpec& to, const ArrayRef& source, const ArrayRef& destination);
  void run(const Execution& execution) const;
};

/// Runs body(memory) on ranks of the mesh, in a call that the ranks agree on if blocks travel. `text` describes it.
template <class Body>
void run_attention_call(const Execution& execution, const DeviceMesh& mesh,
                        const AttentionCall& call, std::uint64_t hash, const CallText& text,
                        const OwnerRef& owner, const Body& body) {
  const auto memory = std::make_shared<AttentionMemory>(execution, call);
  if (!call.has_blocks) {
    if (mesh.coordinate()) body(*memory);
    return;
  }
  collectively(mesh, attention_function, [&](Operation& operation) {
    operation.agree(hash, text);
    if (!mesh.coordinate()) return;
    keeping(
        mesh.communicator(), [&] { body(*memory); },
        [&] {
          return std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(owner(),
                                                                                           memory);
        });
    finish(execution, attention_label);
  });
}

}  // namespace tessera::detail
