// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <ostream>

#include <fmt/format.h>

#include <tessera/placement/placement.hpp>

namespace tessera {

std::string to_string(ReduceOp op) {
  static constexpr std::array names = {"sum", "avg",  "product", "min",
                                       "max", "band", "bor",     "bxor"};
  return names[static_cast<std::size_t>(op)];
}

std::string to_string(const Placement& placement) {
  if (placement.is_shard()) return fmt::format("S({})", placement.dim());
  if (placement.is_partial()) return fmt::format("P({})", to_string(placement.op()));
  return "R";
}

std::ostream& operator<<(std::ostream& out, const Placement& value) {
  return out << to_string(value);
}

}  // namespace tessera
