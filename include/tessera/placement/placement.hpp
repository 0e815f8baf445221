// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace tessera {

/// How the values of a Partial are combined.
enum class ReduceOp : std::uint8_t { sum, avg, product, min, max, band, bor, bxor };

/// "sum", "avg", …
std::string to_string(ReduceOp op);

/// Every rank of the mesh dim holds the whole.
struct Replicate {
  friend constexpr bool operator==(Replicate, Replicate) = default;
};

/// Tensor dim `dim` is split over the mesh dim; negative counts from the last (-1).
struct Shard {
  int dim;

  constexpr explicit Shard(int tensor_dim) : dim(tensor_dim) {}
  friend constexpr bool operator==(Shard, Shard) = default;
};

/// Every rank of the mesh dim holds a term; the value is their reduction by `op`.
struct Partial {
  ReduceOp op;

  constexpr explicit Partial(ReduceOp reduce_op = ReduceOp::sum) : op(reduce_op) {}
  friend constexpr bool operator==(Partial, Partial) = default;
};

/// One of the three: what happens to a tensor along one mesh dim. A value without behaviour.
class Placement {
 public:
  /// Replicate.
  constexpr Placement() : kind_(Kind::replicate) {}
  constexpr Placement(Replicate) : kind_(Kind::replicate) {}
  constexpr Placement(Shard shard) : kind_(Kind::shard), dim_(shard.dim) {}
  constexpr Placement(Partial partial) : kind_(Kind::partial), op_(partial.op) {}

  constexpr bool is_replicate() const { return kind_ == Kind::replicate; }
  constexpr bool is_shard() const { return kind_ == Kind::shard; }
  constexpr bool is_shard(int tensor_dim) const { return is_shard() && dim_ == tensor_dim; }
  constexpr bool is_partial() const { return kind_ == Kind::partial; }
  constexpr bool is_partial(ReduceOp op) const { return is_partial() && op_ == op; }

  /// Tensor dim of a Shard; -1 otherwise.
  constexpr int dim() const { return dim_; }
  /// Op of a Partial; sum otherwise.
  constexpr ReduceOp op() const { return op_; }

  friend constexpr bool operator==(const Placement&, const Placement&) = default;

 private:
  enum class Kind : std::uint8_t { replicate, shard, partial };

  Kind kind_;
  ReduceOp op_ = ReduceOp::sum;
  int dim_ = -1;
};

/// "R", "S(0)", "P(sum)".
std::string to_string(const Placement& placement);
/// Writes to_string(value).
std::ostream& operator<<(std::ostream& out, const Placement& value);

}  // namespace tessera
