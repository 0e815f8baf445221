// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>

#include <tessera/tensor/detail/loops.hpp>

namespace tessera::detail {
namespace {

Extents select(const Extents& values, const Extents& order) {
  Extents result;
  for (const auto dim : order) result.push_back(values[static_cast<std::size_t>(dim)]);
  return result;
}

Extents sorted_dims(const Extents& extents, std::span<const Extents> strides) {
  Extents order;
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (extents[d] != 1) order.push_back(static_cast<std::int64_t>(d));
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const auto first = static_cast<std::size_t>(a);
    const auto second = static_cast<std::size_t>(b);
    for (const auto& operand : strides)
      if (operand[first] != operand[second])
        return std::abs(operand[first]) > std::abs(operand[second]);
    return false;
  });
  return order;
}

bool is_one_dim(const Extents& extents, std::span<const Extents> strides, std::size_t outer,
                std::size_t inner) {
  return std::all_of(strides.begin(), strides.end(), [&](const Extents& operand) {
    return operand[outer] == operand[inner] * extents[inner];
  });
}

}  // namespace

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

void simplify(Extents& extents, std::span<Extents> strides) {
  const Extents order = sorted_dims(extents, strides);
  extents = select(extents, order);
  for (auto& operand : strides) operand = select(operand, order);

  Extents kept;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (!kept.empty() && is_one_dim(extents, strides, d - 1, d)) {
      extents[d] *= extents[d - 1];
      kept[kept.size() - 1] = static_cast<std::int64_t>(d);
    } else {
      kept.push_back(static_cast<std::int64_t>(d));
    }
  }
  extents = select(extents, kept);
  for (auto& operand : strides) operand = select(operand, kept);
}

}  // namespace tessera::detail
