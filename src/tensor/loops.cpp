// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include <tessera/tensor/detail/loops.hpp>

namespace tessera::detail {
namespace {

/// Returns whether dim `a` belongs outside dim `b`: whether it has the larger stride in the first
/// operand in which the two differ.
bool is_outside(std::span<const Extents> strides, std::size_t a, std::size_t b) {
  for (const auto& operand : strides)
    if (operand[a] != operand[b]) return std::abs(operand[a]) > std::abs(operand[b]);
  return false;
}

void swap_dims(Extents& extents, std::span<Extents> strides, std::size_t a, std::size_t b) {
  std::swap(extents[a], extents[b]);
  for (auto& operand : strides) std::swap(operand[a], operand[b]);
}

void copy_dim(Extents& extents, std::span<Extents> strides, std::size_t from, std::size_t to) {
  extents[to] = extents[from];
  for (auto& operand : strides) operand[to] = operand[from];
}

void truncate(Extents& extents, std::span<Extents> strides, std::size_t size) {
  extents.truncate(size);
  for (auto& operand : strides) operand.truncate(size);
}

void drop_single(Extents& extents, std::span<Extents> strides) {
  std::size_t kept = 0;
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (extents[d] != 1) copy_dim(extents, strides, d, kept++);
  truncate(extents, strides, kept);
}

/// Moves the largest strides outermost. Insertion sort suits few dims, most often in order.
void sort(Extents& extents, std::span<Extents> strides) {
  for (std::size_t last = 1; last < extents.size(); ++last)
    for (std::size_t d = last; d > 0 && is_outside(strides, d, d - 1); --d)
      swap_dims(extents, strides, d, d - 1);
}

bool is_one_dim(const Extents& extents, std::span<const Extents> strides, std::size_t outer,
                std::size_t inner) {
  return std::all_of(strides.begin(), strides.end(), [&](const Extents& operand) {
    return operand[outer] == operand[inner] * extents[inner];
  });
}

/// Joins dims that follow each other, here and in memory, for every operand.
void join(Extents& extents, std::span<Extents> strides) {
  std::size_t kept = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (kept > 0 && is_one_dim(extents, strides, kept - 1, d)) {
      const auto outer = extents[--kept];
      extents[d] *= outer;
    }
    copy_dim(extents, strides, d, kept++);
  }
  truncate(extents, strides, kept);
}

}  // namespace

Divisor::Divisor(std::int64_t d) {
  if (d == 1) return;
  const auto divisor = static_cast<std::uint64_t>(d);
  const int bits = std::bit_width(divisor - 1);
  const auto power = static_cast<unsigned __int128>(1) << (63 + bits);
  multiplier_ = static_cast<std::uint64_t>(power / divisor) + 1;
  shift_ = bits - 1;
}

DeviceLoops::DeviceLoops(const Extents& all) {
  for (const auto extent : all) add(extent);
}

DeviceLoops::DeviceLoops(const Extents& outer, std::int64_t innermost) : DeviceLoops(outer) {
  add(innermost);
}

void DeviceLoops::add(std::int64_t extent) {
  extents[size] = extent;
  divisors[size] = Divisor(extent);
  ++size;
}

Loops make_loops(const Extents& extents, std::int64_t chunk) {
  Loops loops;
  loops.ndims = std::max(1, static_cast<int>(extents.size()));
  std::copy(extents.begin(), extents.end(), loops.extents.data());
  loops.chunk = chunk;
  return loops;
}

LoopArray loop_strides(const Extents& strides) {
  LoopArray result{};
  std::copy(strides.begin(), strides.end(), result.data());
  return result;
}

void join_dims(Extents& extents, std::span<Extents> strides) {
  drop_single(extents, strides);
  join(extents, strides);
}

void simplify(Extents& extents, std::span<Extents> strides) {
  drop_single(extents, strides);
  sort(extents, strides);
  join(extents, strides);
}

}  // namespace tessera::detail
