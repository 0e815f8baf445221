// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/placement/placements.hpp>

namespace tessera {

namespace {

bool is_sum_or_avg(ReduceOp op) {
  return op == ReduceOp::sum || op == ReduceOp::avg;
}

void require_compatible_partials(const std::vector<Placement>& placements) {
  std::optional<ReduceOp> first;
  for (const auto& placement : placements) {
    if (!placement.is_partial()) continue;
    const auto op = placement.op();
    require(!first || *first == op || (is_sum_or_avg(*first) && is_sum_or_avg(op)), [&] {
      return fmt::format(
          "Placements: expected one kind of Partial, or sum with avg, got P({}) and P({})",
          to_string(*first), to_string(op));
    });
    first = op;
  }
}

/// Throws for a sharding that cannot be one of these. Its texts name no function; the caller does.
void require_shardings(const std::vector<Placement>& placements) {
  for (const auto& placement : placements) {
    if (!placement.is_shard() || detail::can_share_dim(placement.rule())) continue;
    require(placement.rule() != ShardingRule::cyclic || placement.block() >= 1, [&] {
      return fmt::format("expected a Cyclic with blocks of at least 1 index, got {}",
                         to_string(placement));
    });
    const auto shardings = std::ranges::count_if(
        placements, [&](const Placement& other) { return other.is_shard(placement.dim()); });
    require(shardings == 1, [&] {
      return fmt::format("expected {} as the only sharding of tensor dim {}, got {} of them",
                         to_string(placement), placement.dim(), shardings);
    });
  }
}

void require_compatible(const std::vector<Placement>& placements) {
  require_compatible_partials(placements);
  detail::named("Placements", [&] { require_shardings(placements); });
}

std::vector<int> default_positions(const std::vector<Placement>& placements) {
  std::vector<int> positions(placements.size(), 0);
  for (std::size_t d = 0; d < placements.size(); ++d)
    if (placements[d].is_shard())
      positions[d] = static_cast<int>(std::count_if(
          placements.begin(), placements.begin() + static_cast<std::ptrdiff_t>(d),
          [&](const Placement& other) { return other.is_shard(placements[d].dim()); }));
  return positions;
}

bool are_permutations(const std::vector<Placement>& placements, const std::vector<int>& positions) {
  auto expected = default_positions(placements);
  for (std::size_t d = 0; d < placements.size(); ++d) {
    const auto same_dim_and = [&](int position) {
      for (std::size_t other = 0; other < placements.size(); ++other)
        if (placements[other].is_shard(placements[d].dim()) && positions[other] == position)
          return true;
      return false;
    };
    if (placements[d].is_shard() ? !same_dim_and(expected[d]) : positions[d] != 0) return false;
  }
  return true;
}

}  // namespace

Placements::Placements(std::initializer_list<Placement> placements)
    : Placements(std::vector<Placement>(placements)) {}

Placements::Placements(std::vector<Placement> placements) : placements_(std::move(placements)) {
  require_compatible(placements_);
}

Placements::Placements(std::vector<Placement> placements, std::vector<int> split_positions,
                       std::optional<int> tensor_dims)
    : placements_(std::move(placements)),
      split_positions_(std::move(split_positions)),
      tensor_dims_(tensor_dims) {
  require_compatible(placements_);
  require(split_positions_.size() == placements_.size() &&
              are_permutations(placements_, split_positions_),
          "Placements: expected, for the mesh dims of each tensor dim, split positions 0, 1, … "
          "each once, "
          "and 0 where a placement is not a sharding");
  if (split_positions_ == default_positions(placements_)) split_positions_.clear();
}

int Placements::split_position(int mesh_dim) const {
  return split_positions()[static_cast<std::size_t>(mesh_dim)];
}

std::vector<int> Placements::split_positions() const {
  return split_positions_.empty() ? default_positions(placements_) : split_positions_;
}

std::vector<int> Placements::split_order(int tensor_dim) const {
  std::vector<int> result;
  for (std::size_t d = 0; d < placements_.size(); ++d)
    if (placements_[d].is_shard(tensor_dim)) result.push_back(static_cast<int>(d));
  if (!split_positions_.empty())
    std::ranges::sort(result, {},
                      [&](int d) { return split_positions_[static_cast<std::size_t>(d)]; });
  return result;
}

bool Placements::is_all_replicate() const {
  return std::ranges::all_of(placements_, &Placement::is_replicate);
}

bool Placements::has_partial() const {
  return std::ranges::any_of(placements_, [](const auto& p) { return p.is_partial(); });
}

std::uint64_t Placements::hash() const {
  std::uint64_t seed = 0;
  for (const auto& placement : placements_) {
    seed = hash_combine(seed, placement.is_shard() ? 1 : placement.is_partial() ? 2 : 0);
    seed = hash_combine(seed, static_cast<std::uint64_t>(placement.dim()));
    seed = hash_combine(seed, static_cast<std::uint64_t>(placement.op()));
    if (placement.rule() == ShardingRule::chunk) continue;
    seed = hash_combine(seed, static_cast<std::uint64_t>(placement.rule()));
    seed = hash_combine(seed, static_cast<std::uint64_t>(placement.block()));
  }
  return hash_range(seed, split_positions_);
}

Placements detail::resolved(const Placements& placements, int tensor_dims) {
  const auto& meant_for = placements.tensor_dims_;
  require(!meant_for || *meant_for == tensor_dims, [&] {
    return fmt::format("expected placements by dim of a {}-d tensor, got {} lists", tensor_dims,
                       *meant_for);
  });
  Placements result = placements;
  result.tensor_dims_.reset();
  for (auto& placement : result.placements_) {
    if (!placement.is_shard()) continue;
    const int dim = placement.dim() < 0 ? placement.dim() + tensor_dims : placement.dim();
    require(0 <= dim && dim < tensor_dims, [&] {
      return fmt::format("expected Shard dims of a {}-d tensor, got {}", tensor_dims,
                         to_string(placement));
    });
    placement = placement.with_dim(dim);
  }
  require_shardings(result.placements_);
  if (result.split_positions_.empty()) return result;
  return Placements(std::move(result.placements_), std::move(result.split_positions_));
}

std::string to_string(const Placements& placements) {
  const std::vector<Placement> plain(placements.begin(), placements.end());
  const bool is_default = placements == Placements(plain);
  std::string text;
  for (std::size_t d = 0; d < placements.size(); ++d) {
    if (d > 0) text += ", ";
    text += to_string(placements[d]);
    if (!is_default && placements[d].is_shard() &&
        placements.split_order(placements[d].dim()).size() > 1)
      text += fmt::format("[{}]", placements.split_position(static_cast<int>(d)));
  }
  return text;
}

namespace {

/// Reads one placement at a time from the text.
class Parser {
 public:
  explicit Parser(std::string_view text) : whole_(text), rest_(text) {}

  Placements parse() {
    std::vector<Placement> placements;
    std::vector<int> given;
    skip_spaces();
    while (!rest_.empty()) {
      if (!placements.empty()) expect(',');
      placements.push_back(placement());
      given.push_back(placements.back().is_shard() && accept('[') ? closed_position() : -1);
    }
    return with_positions(std::move(placements), given);
  }

 private:
  static Placements with_positions(std::vector<Placement> placements, std::vector<int> given) {
    const auto fallback = default_positions(placements);
    for (std::size_t d = 0; d < given.size(); ++d)
      if (given[d] < 0) given[d] = fallback[d];
    return Placements(std::move(placements), std::move(given));
  }

  Placement placement() {
    if (accept('R')) return Replicate();
    if (accept('S')) return Shard(closed_dim());
    if (accept('B')) return Balanced(closed_dim());
    if (accept('H')) return HeadTail(closed_dim());
    if (accept('C')) return cyclic();
    expect('P');
    return Partial(accept('(') ? closed_op() : ReduceOp::sum);
  }

  template <class Number>
  Number closed_number(char closing) {
    Number value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    skip_spaces();
    expect(closing);
    return value;
  }

  int closed_dim() {
    expect('(');
    return closed_number<int>(')');
  }

  Placement cyclic() {
    expect('(');
    const int dim = closed_number<int>(',');
    return Cyclic(dim, closed_number<std::int64_t>(')'));
  }

  int closed_position() {
    const int position = closed_number<int>(']');
    if (position < 0) fail();
    return position;
  }

  ReduceOp closed_op() {
    for (int i = 0; i <= static_cast<int>(ReduceOp::bxor); ++i) {
      const auto name = to_string(static_cast<ReduceOp>(i));
      if (!rest_.starts_with(name)) continue;
      rest_.remove_prefix(name.size());
      skip_spaces();
      expect(')');
      return static_cast<ReduceOp>(i);
    }
    fail();
  }

  bool accept(char symbol) {
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(1);
    skip_spaces();
    return true;
  }

  void expect(char symbol) {
    if (!accept(symbol)) fail();
  }

  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }

  [[noreturn]] void fail() const {
    throw InvalidArgument(fmt::format(
        "parse_placements: expected a list of R, S(dim), B(dim), C(dim,block), H(dim), with "
        "[position] after S(dim) and B(dim) where the split order is not that of the mesh dims, P "
        "or P(op) with op sum, avg, product, min, max, band, bor or bxor, got \"{}\"",
        whole_));
  }

  std::string_view whole_;
  std::string_view rest_;
};

}  // namespace

Placements parse_placements(std::string_view text) {
  return Parser(text).parse();
}

std::ostream& operator<<(std::ostream& out, const Placements& value) {
  return out << to_string(value);
}

}  // namespace tessera
