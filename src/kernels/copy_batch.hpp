// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For ops: words in which kernels copy elements, and many copies in one kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <tessera/tensor/detail/loops.hpp>

#include "kernels/copy_loop.hpp"
#include "kernels/tuning.hpp"

namespace tessera::detail {

/// A Word is what one thread copies. It may alias any type, as std::byte may.
template <int Bytes>
struct Word;
template <>
struct [[gnu::may_alias]] Word<1> {
  std::uint8_t bits;
};
template <>
struct [[gnu::may_alias]] Word<2> {
  std::uint16_t bits;
};
template <>
struct [[gnu::may_alias]] Word<4> {
  std::uint32_t bits;
};
template <>
struct [[gnu::may_alias]] Word<8> {
  std::uint64_t bits;
};
template <>
struct alignas(16) [[gnu::may_alias]] Word<16> {
  std::uint64_t low, high;
};

/// Returns the size, in bytes, of the largest word that divides the run and to which both addresses
/// and all strides are aligned.
int word_bytes(const CopyLoop& loop);

/// Makes a few copies with words of one size in one kernel, one word per index.
template <int Bytes>
struct CopyBatch {
  static constexpr int capacity = copies_per_kernel;

  struct Part {
    const std::byte* source;
    std::byte* destination;
    DeviceLoops loops;
    LoopArray source_strides;
    LoopArray destination_strides;
    std::int64_t end;
  };

  int size = 0;
  Kokkos::Array<Part, capacity> parts{};

  std::int64_t items() const { return size == 0 ? 0 : parts[size - 1].end; }

  void add(const CopyLoop& copy) {
    Part part{copy.source,
              copy.destination,
              DeviceLoops(copy.extents, copy.run / Bytes),
              loop_strides(copy.source_strides),
              loop_strides(copy.destination_strides),
              0};
    const int innermost = part.loops.size - 1;
    part.source_strides[innermost] = Bytes;
    part.destination_strides[innermost] = Bytes;
    part.end = items() + part.loops.items();
    parts[size++] = part;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int p = 0;
    while (i >= parts[p].end) ++p;
    const Part& part = parts[p];
    const auto* from = part.source;
    auto* to = part.destination;
    part.loops.at(p == 0 ? i : i - parts[p - 1].end, [&](int d, std::int64_t index) {
      from += index * part.source_strides[d];
      to += index * part.destination_strides[d];
    });
    *reinterpret_cast<Word<Bytes>*>(to) = *reinterpret_cast<const Word<Bytes>*>(from);
  }
};

static_assert(sizeof(CopyBatch<1>) < 4096, "CUDA takes 4 KiB of arguments in the fastest way");

}  // namespace tessera::detail
