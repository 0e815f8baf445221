// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <tessera/tensor/detail/launch.hpp>

#include "kernels/copy_batch.hpp"

namespace tessera::detail {
namespace {

template <int Bytes>
void launch(const Execution& execution, const CopyBatch<Bytes>& batch) {
  if (batch.size > 0) launch_on_device(execution, "tessera::detail::copy", batch.items(), batch);
}

template <int Bytes>
void copy_by_word(const Execution& execution, std::span<const CopyLoop> loops) {
  CopyBatch<Bytes> batch;
  for (const auto& loop : loops) {
    if (word_bytes(loop) != Bytes) continue;
    batch.add(loop);
    if (batch.size < batch.capacity) continue;
    launch(execution, batch);
    batch = {};
  }
  launch(execution, batch);
}

}  // namespace

int word_bytes(const CopyLoop& loop) {
  auto bits = reinterpret_cast<std::uintptr_t>(loop.source) |
              reinterpret_cast<std::uintptr_t>(loop.destination) |
              static_cast<std::uintptr_t>(loop.run);
  for (const auto stride : loop.source_strides) bits |= static_cast<std::uintptr_t>(stride);
  for (const auto stride : loop.destination_strides) bits |= static_cast<std::uintptr_t>(stride);
  constexpr int largest = 4;
  return 1 << std::min(std::countr_zero(bits), largest);
}

void copy_on_device(const Execution& execution, std::span<const CopyLoop> loops) {
  copy_by_word<1>(execution, loops);
  copy_by_word<2>(execution, loops);
  copy_by_word<4>(execution, loops);
  copy_by_word<8>(execution, loops);
  copy_by_word<16>(execution, loops);
}

}  // namespace tessera::detail
