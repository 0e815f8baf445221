// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "tensor/overlap.hpp"

namespace tessera::detail {
namespace {

/// Holds how many steps may be made along one stride, bytes.
struct Steps {
  std::int64_t stride;
  std::int64_t least;
  std::int64_t most;
};

/// Describes an array by the address of its lowest element and by positive strides, bytes.
struct Lattice {
  std::int64_t begin;
  std::vector<Steps> dims;  ///< each from 0 to the extent - 1

  explicit Lattice(const ArrayRef& array)
      : begin(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(array.data))) {
    for (std::size_t d = 0; d < array.extents.size(); ++d) {
      const auto last = array.extents[d] - 1;
      const auto stride = array.strides[d] * array.type.size;
      if (last == 0) continue;
      if (stride < 0) begin += last * stride;
      dims.push_back({std::abs(stride), 0, last});
    }
  }

  std::int64_t span() const {
    std::int64_t result = 0;
    for (const auto& dim : dims) result += dim.most * dim.stride;
    return result;
  }
};

/// Looks for a way by steps along strides from 0 to a distance, give or take less than an element.
class Search {
 public:
  Search(std::vector<Steps> dims, std::int64_t element, bool needs_a_step)
      : dims_(std::move(dims)), element_(element), needs_a_step_(needs_a_step) {
    std::ranges::sort(dims_, std::greater<>(), &Steps::stride);
    below_.resize(dims_.size() + 1);
    above_.resize(dims_.size() + 1);
    for (std::size_t d = dims_.size(); d-- > 0;) {
      below_[d] = below_[d + 1] + dims_[d].least * dims_[d].stride;
      above_[d] = above_[d + 1] + dims_[d].most * dims_[d].stride;
    }
  }

  /// Returns true also where it gives up.
  bool reaches(std::int64_t distance) { return reaches(0, distance, false); }

 private:
  bool reaches(std::size_t d, std::int64_t distance, bool has_step) {
    if (--turns_ < 0) return true;
    if (d == dims_.size()) return std::abs(distance) < element_ && (has_step || !needs_a_step_);
    const auto& dim = dims_[d];
    if (dim.stride == 0) return reaches(d + 1, distance, true);
    // The rest of the way leads from below_ to above_ of the dims that follow.
    const auto first = ceiling(distance - above_[d + 1] - element_ + 1, dim.stride);
    const auto last = floor(distance - below_[d + 1] + element_ - 1, dim.stride);
    for (auto n = std::max(first, dim.least); n <= std::min(last, dim.most); ++n)
      if (reaches(d + 1, distance - n * dim.stride, has_step || n != 0)) return true;
    return false;
  }

  static std::int64_t floor(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
  static std::int64_t ceiling(std::int64_t a, std::int64_t b) { return -floor(-a, b); }

  /// Where strides nest, each dim leaves two numbers of steps at most.
  static constexpr int most_turns = 4096;

  std::vector<Steps> dims_;
  std::int64_t element_;
  bool needs_a_step_;
  std::vector<std::int64_t> below_;  ///< the lowest distance that the dims from here on reach
  std::vector<std::int64_t> above_;
  int turns_ = most_turns;
};

}  // namespace

AddressRange address_range(const ArrayRef& array) {
  if (array.size() == 0) return {0, 0};
  const Lattice lattice(array);
  return {static_cast<std::uintptr_t>(lattice.begin),
          static_cast<std::uintptr_t>(lattice.begin + lattice.span() + array.type.size)};
}

bool share_memory(const ArrayRef& a, const ArrayRef& b) {
  if (a.space != b.space || a.size() == 0 || b.size() == 0) return false;
  const Lattice first(a);
  const Lattice second(b);
  const auto distance = second.begin - first.begin;
  if (distance >= first.span() + a.type.size || -distance >= second.span() + b.type.size)
    return false;
  // An element of `a` at i strides and one of `b` at j strides have the same address where the
  // strides of i - j make up the distance of the arrays.
  auto steps = first.dims;
  for (const auto& dim : second.dims) {
    const auto same = std::ranges::find(steps, dim.stride, &Steps::stride);
    if (same == steps.end())
      steps.push_back({dim.stride, -dim.most, 0});
    else
      same->least -= dim.most;
  }
  return Search(std::move(steps), a.type.size, false).reaches(distance);
}

bool shares_memory_with_itself(const ArrayRef& array) {
  if (array.size() < 2) return false;
  auto steps = Lattice(array).dims;
  std::ranges::sort(steps, {}, &Steps::stride);
  std::int64_t inner = array.type.size;
  bool is_nested = true;
  for (const auto& dim : steps) {
    is_nested = is_nested && dim.stride >= inner;
    inner += dim.most * dim.stride;
  }
  if (is_nested) return false;
  for (auto& dim : steps) dim.least = -dim.most;
  return Search(std::move(steps), array.type.size, true).reaches(0);
}

}  // namespace tessera::detail
