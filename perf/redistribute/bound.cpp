// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Measures a bound that no redistribution can beat: each rank moves as many bytes as it has to read
// and write, in its own memory, without communication.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "variant.hpp"

namespace tessera::perf {

namespace {

using CopyElements = void (*)(const double* from, double* to, std::int64_t count);

void copy_elements(const double* from, double* to, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double));
}

#if defined(__SSE2__)
/// Copies with non-temporal stores, which bypass the caches.
void copy_elements_non_temporal(const double* from, double* to, std::int64_t count) {
  std::int64_t i = 0;
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % 16 != 0; ++i) to[i] = from[i];
  for (; i + 8 <= count; i += 8)
    for (std::int64_t k = i; k < i + 8; k += 2)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
  for (; i < count; ++i) to[i] = from[i];
  _mm_sfence();
}
#else
constexpr CopyElements copy_elements_non_temporal = copy_elements;
#endif

/// Fills the target with this rank's piece of the source, which is read again in place of each
/// other rank's piece.
void fill_from_own_piece(const double* source, std::int64_t source_size, double* target,
                         std::int64_t target_size, CopyElements copy) {
  if (source_size == 0) return;
  for (std::int64_t at = 0; at < target_size; at += source_size)
    copy(source, target + at, std::min(source_size, target_size - at));
}

/// Describes one slice of `length` elements per rank in an array of `size` elements; neighbours
/// overlap where all slices together have more elements than the array.
struct Slices {
  int ranks;
  std::int64_t size;
  std::int64_t length;

  std::int64_t begin(int rank) const {
    return ranks == 1 ? 0 : (size - length) * rank / (ranks - 1);
  }
};

/// Adds up as many slices of this rank's contribution as there are ranks, and writes the sum
/// `copies` times.
void add_slices(const double* contributions, const Slices& slices, double* target, int copies,
                CopyElements copy) {
  std::array<double, 512> sum;
  const auto capacity = static_cast<std::int64_t>(sum.size());
  for (std::int64_t at = 0; at < slices.length; at += capacity) {
    const auto count = std::min(capacity, slices.length - at);
    copy_elements(contributions + at, sum.data(), count);
    for (int rank = 1; rank < slices.ranks; ++rank) {
      const auto* contribution = contributions + slices.begin(rank) + at;
      for (std::int64_t i = 0; i < count; ++i) sum[static_cast<std::size_t>(i)] += contribution[i];
    }
    for (int rank = 0; rank < copies; ++rank)
      copy(sum.data(), target + slices.begin(rank) + at, count);
  }
}

std::function<void()> reduction_bound(const Geometry& geometry, const Workspace& workspace,
                                      CopyElements copy) {
  const auto size = geometry.source_size();
  const auto share = (size + geometry.ranks() - 1) / geometry.ranks();
  const bool is_full_target = geometry.target_size() == size;
  const auto length = is_full_target ? share : geometry.target_size();
  const int copies = is_full_target ? geometry.ranks() : 1;
  return [slices = Slices{geometry.ranks(), size, length}, copies, copy, &workspace] {
    add_slices(workspace.source, slices, workspace.target, copies, copy);
  };
}

std::function<void()> copy_bound(const Geometry& geometry, const Workspace& workspace,
                                 CopyElements copy) {
  return [from = geometry.source_size(), to = geometry.target_size(), copy, &workspace] {
    fill_from_own_piece(workspace.source, from, workspace.target, to, copy);
  };
}

}  // namespace

std::vector<Variant> bounds(const Geometry& geometry) {
  const auto bound = [&](const char* name, CopyElements copy) {
    return variant(name, Kind::bound, [geometry, copy](const Workspace& workspace) {
      return geometry.is_reduction ? reduction_bound(geometry, workspace, copy)
                                   : copy_bound(geometry, workspace, copy);
    });
  };
  return {bound("bound_memcpy", copy_elements),
          bound("bound_streaming", copy_elements_non_temporal)};
}

}  // namespace tessera::perf
