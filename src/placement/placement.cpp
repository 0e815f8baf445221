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

namespace {

std::string sharding_text(const Placement& sharding) {
  switch (sharding.rule()) {
    case ShardingRule::balanced:
      return fmt::format("B({})", sharding.dim());
    case ShardingRule::cyclic:
      return fmt::format("C({},{})", sharding.dim(), sharding.block());
    case ShardingRule::head_tail:
      return fmt::format("H({})", sharding.dim());
    case ShardingRule::chunk:
      break;
  }
  return fmt::format("S({})", sharding.dim());
}

}  // namespace

std::string to_string(const Placement& placement) {
  if (placement.is_shard()) return sharding_text(placement);
  if (placement.is_partial()) return fmt::format("P({})", to_string(placement.op()));
  return "R";
}

std::ostream& operator<<(std::ostream& out, const Placement& value) {
  return out << to_string(value);
}

Placement detail::sharding_of(ShardingRule rule, int dim, std::int64_t block) {
  switch (rule) {
    case ShardingRule::balanced:
      return Balanced(dim);
    case ShardingRule::cyclic:
      return Cyclic(dim, block);
    case ShardingRule::head_tail:
      return HeadTail(dim);
    case ShardingRule::chunk:
      break;
  }
  return Shard(dim);
}

}  // namespace tessera
