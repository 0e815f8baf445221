// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <tessera/tensor/array_ref.hpp>

namespace tessera::test {

enum class Layout { right, left, permuted, padded, strided, backward };
inline constexpr int layouts = 6;

template <class Function>
void for_each_index(const Extents& extents, Function function) {
  if (product(extents) == 0) return;
  Extents index = Extents::filled(extents.size(), 0);
  for (std::int64_t i = 0; i < product(extents); ++i) {
    function(index);
    for (std::size_t d = extents.size(); d-- > 0;) {
      if (++index[d] < extents[d]) break;
      index[d] = 0;
    }
  }
}

/// Holds an array of any layout in host memory, with holes around the elements.
class TestArray {
 public:
  TestArray(std::mt19937& generator, ElementType type, const Extents& extents, Layout layout,
            std::size_t misalignment = 0) {
    const auto ndims = extents.size();
    std::vector<std::size_t> order(ndims);
    std::iota(order.begin(), order.end(), 0);
    if (layout == Layout::left) std::reverse(order.begin(), order.end());
    if (layout != Layout::left && layout != Layout::right)
      std::shuffle(order.begin(), order.end(), generator);

    ref_.type = type;
    ref_.extents = extents;
    ref_.strides = Extents::filled(ndims, 0);
    std::int64_t next = layout == Layout::strided || layout == Layout::backward ? 2 : 1;
    std::int64_t before = 0;
    for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
      const bool is_backward = layout == Layout::backward && generator() % 2 == 0;
      ref_.strides[*dim] = is_backward ? -next : next;
      const auto extent = std::max<std::int64_t>(1, extents[*dim]);
      if (is_backward) before += next * (extent - 1);
      next *= extent;
      if (layout == Layout::padded) next += 1 + static_cast<std::int64_t>(generator() % 3);
    }
    memory_.resize(static_cast<std::size_t>(next * type.size) + 64 + misalignment);
    first_ = 32 + misalignment + static_cast<std::size_t>(before * type.size);
  }

  ArrayRef ref() {
    ArrayRef result = ref_;
    result.data = memory_.data() + first_;
    return result;
  }

  std::vector<std::byte>& memory() { return memory_; }

  std::byte* at(const Extents& index) {
    std::int64_t distance = 0;
    for (std::size_t d = 0; d < index.size(); ++d) distance += index[d] * ref_.strides[d];
    return memory_.data() + first_ + distance * ref_.type.size;
  }

  template <class T>
  T get(const Extents& index) {
    T value;
    std::memcpy(&value, at(index), sizeof(T));
    return value;
  }

  template <class T>
  void set(const Extents& index, T value) {
    std::memcpy(at(index), &value, sizeof(T));
  }

  void randomise(std::mt19937& generator) {
    for (auto& byte : memory_) byte = static_cast<std::byte>(generator() & 0xff);
  }

 private:
  ArrayRef ref_;
  std::vector<std::byte> memory_;
  std::size_t first_;
};

inline Layout random_layout(std::mt19937& generator) {
  return static_cast<Layout>(generator() % layouts);
}

/// Returns extents of 0 to 8 dims with at most `most` elements, sometimes none.
inline Extents random_extents(std::mt19937& generator, std::int64_t most) {
  Extents result;
  const auto ndims = generator() % 9;
  for (std::size_t d = 0; d < ndims; ++d) {
    const auto room = std::max<std::int64_t>(1, most / std::max<std::int64_t>(1, product(result)));
    const auto extent = static_cast<std::int64_t>(generator() % (d % 3 == 0 ? 40 : 6));
    const bool may_be_zero = generator() % 16 == 0;
    result.push_back(may_be_zero ? extent : std::clamp<std::int64_t>(extent, 1, room));
    if (product(result) > most) result[d] = 1;
  }
  return result;
}

}  // namespace tessera::test
