// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <tessera/ops/redistribution_scope.hpp>

namespace tessera {
namespace {

thread_local Redistribution current = Redistribution::local;

}  // namespace

std::string to_string(Redistribution redistribution) {
  switch (redistribution) {
    case Redistribution::any:
      return "any";
    case Redistribution::local:
      return "local";
    default:
      return "none";
  }
}

RedistributionScope::RedistributionScope(Redistribution redistribution)
    : outer_(std::exchange(current, redistribution)) {}

RedistributionScope::~RedistributionScope() {
  current = outer_;
}

Redistribution detail::current_redistribution() {
  return current;
}

}  // namespace tessera
