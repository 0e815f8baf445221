// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/redistribute/redistribute_all.hpp>

#include "tensor/overlap.hpp"

namespace tessera::detail {

void require_all_on(const DeviceMesh& mesh, const DeviceMesh& other) {
  require<MeshMismatch>(mesh == other, [&] {
    const auto [expected, got] = told_apart(mesh, other);
    return fmt::format("expected all tensors on mesh {}, got one on mesh {}", expected, got);
  });
}

void require_separate_sources(std::span<const ArrayRef> sources) {
  std::vector<AddressRange> ranges;
  for (const auto& source : sources) ranges.push_back(address_range(source));
  std::vector<std::size_t> order(sources.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return ranges[i].begin; });
  for (std::size_t a = 0; a < order.size(); ++a)
    for (std::size_t b = a + 1; b < order.size(); ++b) {
      if (ranges[order[b]].begin >= ranges[order[a]].end) break;
      const auto& first = sources[order[a]];
      const auto& second = sources[order[b]];
      require(first.data == second.data || !share_memory(first, second), [&] {
        return fmt::format(
            "expected donated tensors that share no memory unless they begin at one address, got "
            "such tensors at positions {} and {}",
            std::min(order[a], order[b]), std::max(order[a], order[b]));
      });
    }
}

std::string RedistributeAllCall::operator()() const {
  auto text = fmt::format("redistribute_all of {} tensors", calls.size());
  for (const auto& call : calls) text += "; " + call();
  return text;
}

}  // namespace tessera::detail
