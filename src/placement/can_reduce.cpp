// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <tessera/error/error.hpp>

#include "placement/can_reduce.hpp"

namespace tessera {

bool can_reduce(ReduceOp op, ElementKind kind) {
  if (kind == ElementKind::opaque) return false;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::product:
      return true;
    case ReduceOp::avg:
      return kind != ElementKind::boolean;
    case ReduceOp::min:
    case ReduceOp::max:
      return !is_complex(kind);
    case ReduceOp::band:
    case ReduceOp::bor:
    case ReduceOp::bxor:
      return is_integer(kind) || kind == ElementKind::boolean;
  }
  return false;
}

void require_reducible(ReduceOp op, ElementType type) {
  require(can_reduce(op, type.kind), [&] {
    return "expected an element type that reduces by " + to_string(op) + ", got " + to_string(type);
  });
}

}  // namespace tessera
