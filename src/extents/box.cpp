// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/extents/box.hpp>

namespace tessera {

Box intersect(const Box& a, const Box& b) {
  Box result{a.offset, a.shape};
  for (std::size_t d = 0; d < a.shape.size(); ++d) {
    const auto common = intersect(a.interval(d), b.interval(d));
    result.offset[d] = common.begin;
    result.shape[d] = common.size();
  }
  return result;
}

std::string to_string(const Box& box) {
  std::string text = "[";
  for (std::size_t d = 0; d < box.shape.size(); ++d)
    text += fmt::format("{}{}:{}", d == 0 ? "" : ", ", box.offset[d], box.offset[d] + box.shape[d]);
  return text + "]";
}

}  // namespace tessera
