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

/// A ShardingRule says how a sharding cuts its tensor dim, see Shard, Balanced, Cyclic and
/// HeadTail.
enum class ShardingRule : std::uint8_t { chunk, balanced, cyclic, head_tail };

/// Every rank along the mesh dim holds the full extent, with the same values.
struct Replicate {
  friend constexpr bool operator==(Replicate, Replicate) = default;
};

/// Tensor dim `dim` is split over the ranks along the mesh dim by the rule of torch.chunk: equal
/// parts, of which the last ones may be short or empty. A negative `dim` counts from the last one
/// (-1), here and in all other shardings.
///
/// Example: 10 rows on 4 ranks: 3, 3, 3, 1.
struct Shard {
  int dim;

  constexpr explicit Shard(int tensor_dim) : dim(tensor_dim) {}
  friend constexpr bool operator==(Shard, Shard) = default;
};

/// Tensor dim `dim` is split into parts whose sizes differ by at most one; the larger parts come
/// first.
///
/// Example: 10 rows on 4 ranks: 3, 3, 2, 2.
struct Balanced {
  int dim;

  constexpr explicit Balanced(int tensor_dim) : dim(tensor_dim) {}
  friend constexpr bool operator==(Balanced, Balanced) = default;
};

/// Blocks of `block` consecutive indices of tensor dim `dim` are dealt out to the ranks in turn,
/// from coordinate 0 on. A rank stores its blocks one after another, as ScaLAPACK does.
///
/// Example: 10 rows in blocks of 2 on 3 ranks: rows 0, 1, 6, 7; rows 2, 3, 8, 9; rows 4, 5.
struct Cyclic {
  int dim;
  std::int64_t block;

  constexpr Cyclic(int tensor_dim, std::int64_t block_size) : dim(tensor_dim), block(block_size) {}
  friend constexpr bool operator==(Cyclic, Cyclic) = default;
};

/// Tensor dim `dim` is cut into 2n chunks for n ranks, by the rule of Shard; coordinate r holds
/// chunks r and 2n−1−r, one after the other. This shares out the work of causal attention evenly.
///
/// Example: 8 rows on 2 ranks: rows 0, 1, 6, 7; rows 2, 3, 4, 5.
struct HeadTail {
  int dim;

  constexpr explicit HeadTail(int tensor_dim) : dim(tensor_dim) {}
  friend constexpr bool operator==(HeadTail, HeadTail) = default;
};

/// Every rank along the mesh dim holds a contribution; the value is their reduction by `op`.
struct Partial {
  ReduceOp op;

  constexpr explicit Partial(ReduceOp reduce_op = ReduceOp::sum) : op(reduce_op) {}
  friend constexpr bool operator==(Partial, Partial) = default;
};

/// A Placement is a Replicate, a Partial, or a sharding (Shard, Balanced, Cyclic, HeadTail): it
/// says what the ranks along one mesh dim hold of a tensor. Placements of different names are
/// different, even if they give each rank the same elements.
class Placement {
 public:
  /// Makes Replicate().
  constexpr Placement() : kind_(Kind::replicate) {}
  constexpr Placement(Replicate) : kind_(Kind::replicate) {}
  constexpr Placement(Shard shard) : kind_(Kind::shard), dim_(shard.dim) {}
  constexpr Placement(Balanced balanced)
      : kind_(Kind::shard), rule_(ShardingRule::balanced), dim_(balanced.dim) {}
  constexpr Placement(Cyclic cyclic)
      : kind_(Kind::shard), rule_(ShardingRule::cyclic), dim_(cyclic.dim), block_(cyclic.block) {}
  constexpr Placement(HeadTail head_tail)
      : kind_(Kind::shard), rule_(ShardingRule::head_tail), dim_(head_tail.dim) {}
  constexpr Placement(Partial partial) : kind_(Kind::partial), op_(partial.op) {}

  constexpr bool is_replicate() const { return kind_ == Kind::replicate; }
  /// Returns whether this is a sharding, by whatever rule.
  constexpr bool is_shard() const { return kind_ == Kind::shard; }
  /// Returns whether this is a sharding of `tensor_dim`.
  constexpr bool is_shard(int tensor_dim) const { return is_shard() && dim_ == tensor_dim; }
  constexpr bool is_partial() const { return kind_ == Kind::partial; }
  constexpr bool is_partial(ReduceOp op) const { return is_partial() && op_ == op; }

  /// Returns the tensor dim of a sharding, otherwise -1.
  constexpr int dim() const { return dim_; }
  /// Returns the rule of a sharding, otherwise chunk.
  constexpr ShardingRule rule() const { return rule_; }
  /// Returns the block size of a Cyclic, otherwise 0.
  constexpr std::int64_t block() const { return block_; }
  /// Returns the operation of a Partial, otherwise sum.
  constexpr ReduceOp op() const { return op_; }

  /// Returns the same sharding of another tensor dim. Expects a sharding.
  constexpr Placement with_dim(int tensor_dim) const {
    Placement result = *this;
    result.dim_ = tensor_dim;
    return result;
  }

  friend constexpr bool operator==(const Placement&, const Placement&) = default;

 private:
  enum class Kind : std::uint8_t { replicate, shard, partial };

  Kind kind_;
  ReduceOp op_ = ReduceOp::sum;
  ShardingRule rule_ = ShardingRule::chunk;
  int dim_ = -1;
  std::int64_t block_ = 0;
};

namespace detail {

/// Returns the sharding of `dim` by a rule; `block` is that of cyclic.
Placement sharding_of(ShardingRule rule, int dim, std::int64_t block);

/// Returns whether several mesh dims may shard one tensor dim by this rule.
constexpr bool can_share_dim(ShardingRule rule) {
  return rule == ShardingRule::chunk || rule == ShardingRule::balanced;
}

/// Says whether P is a placement along one mesh dim.
template <class P>
concept OnePlacement = std::same_as<P, Shard> || std::same_as<P, Balanced> ||
    std::same_as<P, Cyclic> || std::same_as<P, HeadTail> || std::same_as<P, Replicate> ||
    std::same_as<P, Partial> || std::same_as<P, Placement>;

}  // namespace detail

/// Returns the placement as text: "R", "S(0)", "B(0)", "C(0,32)", "H(0)", "P(sum)".
std::string to_string(const Placement& placement);
/// Writes to_string(value).
std::ostream& operator<<(std::ostream& out, const Placement& value);

}  // namespace tessera
