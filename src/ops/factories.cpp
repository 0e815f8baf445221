// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include <tessera/ops/factories.hpp>
#include <tessera/redistribute/detail/redistribution.hpp>

namespace tessera::detail {

std::int64_t ramp_size(long double begin, long double end, long double step) {
  require(step != 0 && std::isfinite(begin) && std::isfinite(end) && std::isfinite(step), [&] {
    return fmt::format("expected finite numbers and a step other than 0, got {}, {}, {}",
                       static_cast<double>(begin), static_cast<double>(end),
                       static_cast<double>(step));
  });
  const auto size = std::ceil((end - begin) / step);
  require(size < 0x1p62L, "expected fewer than 2^62 numbers");
  return size > 0 ? static_cast<std::int64_t>(size) : 0;
}

void require_count(std::int64_t count) {
  require(count >= 0, [&] { return fmt::format("expected a count of 0 or more, got {}", count); });
}

DTensorSpec like_spec(const DTensorSpec& spec) {
  return spec_with(spec, reduced_placements(spec.placements()));
}

}  // namespace tessera::detail
