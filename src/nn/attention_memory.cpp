// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/pack.hpp"
#include "nn/attention_arrays.hpp"
#include "nn/attention_memory.hpp"
#include "ops/blas.hpp"

namespace tessera::detail {
namespace {

bool has_blas_matrices(const ArrayRef& array) {
  return is_blas_matrix(rows_of_matrix(array, 0, {0, array.extents[2]}));
}

}  // namespace

AttentionMemory::AttentionMemory(const Execution& execution, const AttentionCall& call)
    : execution_(execution), call_(call) {}

OwnedArray AttentionMemory::owned(const Extents& shape) {
  return arrays_.emplace_back(allocate_array(call_.type, shape, call_.space, attention_label));
}

OwnedArray AttentionMemory::block(const KeyRing& ring) {
  return arrays_.emplace_back(ring.allocate());
}

ArrayRef AttentionMemory::readable(const ArrayRef& array) {
  if (array.size() == 0 || has_blas_matrices(array)) return array;
  const auto copied = allocate(array.extents);
  copy(execution_, array, copied);
  return copied;
}

ArrayRef AttentionMemory::writable(const ArrayRef& array) {
  if (array.size() == 0 || has_blas_matrices(array)) return array;
  const auto memory = allocate(array.extents);
  to_write_.emplace_back(memory, array);
  return memory;
}

void AttentionMemory::write_back() {
  for (const auto& [from, to] : to_write_) copy(execution_, from, to);
  to_write_.clear();
  // The memory is freed.
  if (is_on_device(call_.space) && !arrays_.empty()) execution_.fence(attention_label);
}

void AttentionMoves::add(const DeviceMesh& mesh, const AttentionCall& call, const DTensorSpec& from,
                         const DTensorSpec& to, const ArrayRef& source,
                         const ArrayRef& destination) {
  PlanSettings settings;
  settings.on_device = is_on_device(call.space);
  redistributors.push_back(cached_redistributor(mesh, from, to, call.type, settings));
  pieces.push_back({source, destination});
}

void AttentionMoves::run(const Execution& execution) const {
  run_together(execution, redistributors, pieces, attention_label);
}

}  // namespace tessera::detail
