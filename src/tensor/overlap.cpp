// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>

#include "tensor/overlap.hpp"

namespace tessera::detail {
namespace {

/// Holds how many steps may be made along one stride, bytes.
struct Steps {
  std::int64_t stride;
  std::int64_t least;
  std::int64_t most;
};

/// Describes an array by the address of its lowest element and by positive strides, bytes. It takes
/// no memory: every call that may meet shared memory looks at it.
class Lattice {
 public:
  explicit Lattice(const ArrayRef& array)
      : begin_(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(array.data))) {
    for (std::size_t d = 0; d < array.extents.size(); ++d) {
      const auto last = array.extents[d] - 1;
      const auto stride = array.strides[d] * array.type.size;
      if (last == 0) continue;
      if (stride < 0) begin_ += last * stride;
      dims_[size_++] = {std::abs(stride), 0, last};
    }
  }

  std::int64_t begin() const { return begin_; }
  /// Returns the dims, each of which has from 0 to its extent - 1 steps.
  std::span<const Steps> dims() const { return std::span(dims_).first(size_); }
  std::int64_t span() const {
    std::int64_t result = 0;
    for (const auto& dim : dims()) result += dim.most * dim.stride;
    return result;
  }
  /// Returns whether each stride leads beyond what the smaller ones reach.
  bool is_nested(std::int64_t element) const {
    const auto is_beyond_smaller = [&](const Steps& dim) {
      std::int64_t inner = element;
      for (const auto& other : dims())
        if (other.stride < dim.stride || (other.stride == dim.stride && &other < &dim))
          inner += other.most * other.stride;
      return dim.stride >= inner;
    };
    return std::ranges::all_of(dims(), is_beyond_smaller);
  }

 private:
  std::int64_t begin_;
  std::array<Steps, max_tensor_dims> dims_{};
  std::size_t size_ = 0;
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
  return {static_cast<std::uintptr_t>(lattice.begin()),
          static_cast<std::uintptr_t>(lattice.begin() + lattice.span() + array.type.size)};
}

bool share_memory(const ArrayRef& a, const ArrayRef& b) {
  if (a.space != b.space || a.size() == 0 || b.size() == 0) return false;
  const Lattice first(a);
  const Lattice second(b);
  const auto distance = second.begin() - first.begin();
  if (distance >= first.span() + a.type.size || -distance >= second.span() + b.type.size)
    return false;
  // An element of `a` at i strides and one of `b` at j strides have the same address where the
  // strides of i - j make up the distance of the arrays.
  std::vector<Steps> steps(first.dims().begin(), first.dims().end());
  for (const auto& dim : second.dims()) {
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
  const Lattice lattice(array);
  if (lattice.is_nested(array.type.size)) return false;
  std::vector<Steps> steps;
  for (const auto& dim : lattice.dims()) steps.push_back({dim.stride, -dim.most, dim.most});
  return Search(std::move(steps), array.type.size, true).reaches(0);
}

void require_separate_elements(const ArrayRef& destination) {
  require(!shares_memory_with_itself(destination), [&] {
    return fmt::format(
        "expected a destination whose elements do not share memory, got one of shape {} with "
        "strides {}",
        to_string(destination.extents), to_string(destination.strides));
  });
}

}  // namespace tessera::detail
