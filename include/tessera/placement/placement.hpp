// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace tessera {

/// A ReduceOp says how the contributions to a Partial tensor are combined.
enum class ReduceOp : std::uint8_t { sum, avg, product, min, max, band, bor, bxor };

/// Returns the name of the operation: "sum", "avg", ….
std::string to_string(ReduceOp op);

/// Every rank along the mesh dim holds the full extent, with the same values.
struct Replicate {
  friend constexpr bool operator==(Replicate, Replicate) = default;
};

/// Tensor dim `dim` is split over the ranks along the mesh dim; a negative `dim` counts from the
/// last one (-1).
struct Shard {
  int dim;

  constexpr explicit Shard(int tensor_dim) : dim(tensor_dim) {}
  friend constexpr bool operator==(Shard, Shard) = default;
};

/// Every rank along the mesh dim holds a contribution; the value is their reduction by `op`.
struct Partial {
  ReduceOp op;

  constexpr explicit Partial(ReduceOp reduce_op = ReduceOp::sum) : op(reduce_op) {}
  friend constexpr bool operator==(Partial, Partial) = default;
};

/// A Placement is a Replicate, a Shard or a Partial: it says what the ranks along one mesh dim hold
/// of a tensor.
class Placement {
 public:
  /// Makes Replicate().
  constexpr Placement() : kind_(Kind::replicate) {}
  constexpr Placement(Replicate) : kind_(Kind::replicate) {}
  constexpr Placement(Shard shard) : kind_(Kind::shard), dim_(shard.dim) {}
  constexpr Placement(Partial partial) : kind_(Kind::partial), op_(partial.op) {}

  constexpr bool is_replicate() const { return kind_ == Kind::replicate; }
  constexpr bool is_shard() const { return kind_ == Kind::shard; }
  constexpr bool is_shard(int tensor_dim) const { return is_shard() && dim_ == tensor_dim; }
  constexpr bool is_partial() const { return kind_ == Kind::partial; }
  constexpr bool is_partial(ReduceOp op) const { return is_partial() && op_ == op; }

  /// Returns the tensor dim of a Shard, otherwise -1.
  constexpr int dim() const { return dim_; }
  /// Returns the operation of a Partial, otherwise sum.
  constexpr ReduceOp op() const { return op_; }

  friend constexpr bool operator==(const Placement&, const Placement&) = default;

 private:
  enum class Kind : std::uint8_t { replicate, shard, partial };

  Kind kind_;
  ReduceOp op_ = ReduceOp::sum;
  int dim_ = -1;
};

namespace detail {

/// Says whether P is a placement along one mesh dim.
template <class P>
concept OnePlacement = std::same_as<P, Shard> || std::same_as<P, Replicate> ||
    std::same_as<P, Partial> || std::same_as<P, Placement>;

}  // namespace detail

/// Returns the placement as text: "R", "S(0)", "P(sum)".
std::string to_string(const Placement& placement);
/// Writes to_string(value).
std::ostream& operator<<(std::ostream& out, const Placement& value);

}  // namespace tessera
