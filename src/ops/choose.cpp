// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>

#include <tessera/plan/plan.hpp>

#include "ops/choose.hpp"
#include "ops/tuning.hpp"

namespace tessera::detail {
namespace {

using Combination = std::vector<const OperatorRule*>;  // by mesh dim

const Placements& placements_of(const OperatorCall& call, std::size_t operand) {
  return call.operands[operand].spec->placements();
}

/// Returns whether a tensor has the placement of a rule along a mesh dim, by whatever sharding rule.
bool has(const Placement& mine, const Placement& wanted) {
  return wanted.is_shard() ? mine.is_shard(wanted.dim()) : mine == wanted;
}

/// Returns whether a tensor may come from its own placement to `wanted` along a mesh dim.
bool may_become(const DTensorSpec& spec, std::size_t mesh_dim, const Placement& wanted,
                OperandMove most) {
  const auto& mine = spec.placements()[mesh_dim];
  if (has(mine, wanted)) return true;
  if (most == OperandMove::none) return false;
  // Nothing travels where there is one rank, or no element.
  if (mine.is_replicate() || spec.layout().shape()[mesh_dim] == 1 || product(spec.shape()) == 0)
    return true;
  if (wanted.is_partial() || most == OperandMove::slices) return false;
  return mine.is_partial() || most == OperandMove::moves;
}

/// Builds the specs that a combination of rules means.
class Candidate {
 public:
  /// Takes, where operands split the same indices differently, those of operand `preferred` count.
  Candidate(const OperatorCall& call, const Combination& rules, std::size_t preferred)
      : call_(call), rules_(rules) {
    order_.resize(call.operands.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(preferred),
                order_.begin() + static_cast<std::ptrdiff_t>(preferred) + 1);
  }

  DTensorSpec input(std::size_t operand) const {
    std::vector<Placement> wanted;
    for (const auto* rule : rules_) wanted.push_back(*rule->inputs[operand]);
    return spec_of(wanted, call_.operands[operand].spec->shape());
  }
  DTensorSpec output() const {
    std::vector<Placement> wanted;
    for (const auto* rule : rules_) wanted.push_back(rule->output);
    return spec_of(wanted, call_.shape);
  }

 private:
  /// Returns whether `operand` splits along `mesh_dim` what the rule splits.
  bool splits(std::size_t operand, std::size_t mesh_dim) const {
    const auto& input = rules_[mesh_dim]->inputs[operand];
    return call_.operands[operand].spec && input && input->is_shard() &&
           placements_of(call_, operand)[mesh_dim].is_shard(input->dim());
  }
  /// Returns the operand that says how the indices of a rule are split; none if no operand does.
  std::optional<std::size_t> model(std::size_t mesh_dim) const {
    for (const auto operand : order_)
      if (splits(operand, mesh_dim)) return operand;
    return {};
  }

  DTensorSpec spec_of(const std::vector<Placement>& wanted, const Extents& shape) const {
    const auto& layout = first_spec().layout();
    std::vector<Placement> placements;
    for (std::size_t m = 0; m < wanted.size(); ++m) {
      const auto from = wanted[m].is_shard() ? model(m) : std::nullopt;
      placements.push_back(from ? placements_of(call_, *from)[m].with_dim(wanted[m].dim())
                                : wanted[m]);
    }
    std::vector<int> positions(wanted.size(), 0);
    Boundaries boundaries(shape.size());
    bool has_boundaries = false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto split_by = splitting(placements, static_cast<int>(d));
      for (std::size_t i = 0; i < split_by.size(); ++i)
        positions[split_by[i]] = static_cast<int>(i);
      boundaries[d] = boundaries_along(split_by, shape[d]);
      has_boundaries |= !boundaries[d].empty();
    }
    if (!has_boundaries) boundaries.clear();
    return make_spec(layout, Placements(placements, positions), shape, std::move(boundaries));
  }

  const DTensorSpec& first_spec() const {
    for (const auto& operand : call_.operands)
      if (operand.spec) return *operand.spec;
    return *call_.operands.front().spec;
  }

  /// Returns the mesh dims that split a tensor dim, in split order.
  std::vector<std::size_t> splitting(const std::vector<Placement>& placements, int dim) const {
    std::vector<std::size_t> result;
    for (std::size_t m = 0; m < placements.size(); ++m)
      if (placements[m].is_shard(dim)) result.push_back(m);
    const auto position = [&](std::size_t m) {
      const auto from = model(m);
      return from ? placements_of(call_, *from).split_position(static_cast<int>(m)) : last_position;
    };
    std::ranges::stable_sort(result, {}, position);
    return result;
  }

  /// Returns the boundaries of an operand's dim that these mesh dims split, in this order.
  std::vector<std::int64_t> boundaries_along(const std::vector<std::size_t>& split_by,
                                             std::int64_t extent) const {
    if (split_by.empty()) return {};
    for (const auto operand : order_) {
      if (!std::ranges::all_of(split_by, [&](std::size_t m) { return splits(operand, m); }))
        continue;
      const auto& spec = *call_.operands[operand].spec;
      const int dim = rules_[split_by.front()]->inputs[operand]->dim();
      if (spec.shape()[static_cast<std::size_t>(dim)] != extent) continue;
      const auto order = spec.placements().split_order(dim);
      if (!std::ranges::equal(order, split_by, {},
                              [](int m) { return static_cast<std::size_t>(m); }))
        continue;
      const auto& all = spec.boundaries();
      return all.empty() ? std::vector<std::int64_t>() : all[static_cast<std::size_t>(dim)];
    }
    return {};
  }

  static constexpr int last_position = 1 << 20;
  const OperatorCall& call_;
  const Combination& rules_;
  std::vector<std::size_t> order_;
};

/// Tells what operands' moves cost. Equal questions are asked often.
class MoveCosts {
 public:
  explicit MoveCosts(const OperatorCall& call) : call_(call) {}

  struct Cost {
    OperandMove move = OperandMove::none;
    std::int64_t bytes = 0;
    int exchanges = 0;
  };

  const Cost& of(std::size_t operand, const DTensorSpec& target) {
    const auto key = std::pair(operand, target.hash());
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    return known_.emplace(key, find(call_.operands[operand], target)).first->second;
  }

 private:
  static Cost find(const OperatorOperand& operand, const DTensorSpec& target) {
    const auto& source = *operand.spec;
    if (hold_alike(target, source)) return {};
    if (product(source.shape()) == 0) return {OperandMove::slices};  // nothing can travel
    const auto plan = plan_on_one_mesh(source, target, operand.type, {});
    const auto cost = plan.cost();
    return {kind_of(source, target, plan.exchanges()), cost.bytes_received, plan.exchanges()};
  }

  static bool has_same_position(const DTensorSpec& a, const DTensorSpec& b, std::size_t mesh_dim) {
    const auto m = static_cast<int>(mesh_dim);
    return a.placements().split_position(m) == b.placements().split_position(m);
  }

  static OperandMove kind_of(const DTensorSpec& source, const DTensorSpec& target, int exchanges) {
    bool reduces = false;
    bool keeps_the_rest = true;
    for (std::size_t m = 0; m < source.placements().size(); ++m) {
      if (source.layout().shape()[m] == 1) continue;
      const auto& from = source.placements()[m];
      const auto& to = target.placements()[m];
      if (from.is_partial() && from != to)
        reduces = true;
      else if (!from.is_replicate() && (from != to || !has_same_position(source, target, m)))
        keeps_the_rest = false;
    }
    if (reduces) return keeps_the_rest ? OperandMove::reduces : OperandMove::moves;
    return exchanges == 0 ? OperandMove::slices : OperandMove::moves;
  }

  const OperatorCall& call_;
  std::map<std::pair<std::size_t, std::uint64_t>, Cost> known_;
};

/// Goes through combinations of rules, and keeps the best one.
class Chooser {
 public:
  Chooser(const OperatorCall& call, const std::vector<OperatorRule>& rules, int own_exchanges)
      : call_(call), rules_(rules), own_exchanges_(own_exchanges), costs_(call) {
    for (std::size_t k = 0; k < call.operands.size(); ++k)
      if (call.operands[k].spec) tensors_.push_back(k);
    mesh_dims_ = static_cast<std::size_t>(call.operands[tensors_.front()].spec->layout().ndim());
  }

  /// Returns the best choice among the combinations in which each operand moves at most so far. With
  /// `asks_placements` an operand that stays has the placements of its rule already.
  std::optional<Choice> best(OperandMove most, bool asks_placements) {
    most_ = most;
    best_.reset();
    permitted_.assign(mesh_dims_, {});
    for (std::size_t m = 0; m < mesh_dims_; ++m)
      for (const auto& rule : rules_)
        if (is_permitted(rule, m, asks_placements)) permitted_[m].push_back(&rule);
    Combination combination(mesh_dims_);
    visit(combination, 0);
    return std::move(best_);
  }

 private:
  bool is_permitted(const OperatorRule& rule, std::size_t mesh_dim, bool asks_placements) const {
    return std::ranges::all_of(tensors_, [&](std::size_t k) {
      // Where nothing moves, rules of other names may mean the same ownership.
      return (most_ == OperandMove::none && !asks_placements) ||
             may_become(*call_.operands[k].spec, mesh_dim, *rule.inputs[k], most_);
    });
  }

  void visit(Combination& combination, std::size_t mesh_dim) {
    if (best_ && !compares_costs()) return;
    if (mesh_dim == mesh_dims_) return consider(combination);
    for (const auto* rule : permitted_[mesh_dim]) {
      combination[mesh_dim] = rule;
      visit(combination, mesh_dim + 1);
    }
  }

  bool compares_costs() const {
    return most_ == OperandMove::reduces || most_ == OperandMove::moves;
  }

  void consider(const Combination& combination) {
    for (const auto preferred : tensors_) {
      try {
        consider(combination, preferred);
      } catch (const InvalidArgument&) {
        // Placements or a spec forbid this combination.
      }
      if (best_ && !compares_costs()) return;
    }
  }

  void consider(const Combination& combination, std::size_t preferred) {
    const Candidate candidate(call_, combination, preferred);
    Choice choice;
    choice.inputs.resize(call_.operands.size());
    choice.moves.resize(call_.operands.size(), OperandMove::none);
    for (const auto k : tensors_) {
      choice.inputs[k] = candidate.input(k);
      const auto& cost = costs_.of(k, *choice.inputs[k]);
      if (cost.move > most_) return;
      choice.moves[k] = cost.move;
      choice.bytes += cost.bytes;
      choice.exchanges += cost.exchanges;
    }
    add_own_cost(choice, combination);
    if (best_ && price(choice) >= price(*best_)) return;
    choice.output = candidate.output();
    for (const auto* rule : combination) choice.rules.push_back(*rule);
    best_ = std::move(choice);
  }

  /// Adds what the operator itself exchanges where ranks hold parts of its dims.
  void add_own_cost(Choice& choice, const Combination& combination) const {
    if (own_exchanges_ == 0) return;
    const auto& dims = call_.integers("dims");
    const auto& input = *choice.inputs[tensors_.front()];
    const auto is_own = [&](std::int64_t dim) {
      return std::ranges::find(dims, dim) != dims.end();
    };
    bool splits = false;
    for (std::size_t m = 0; m < mesh_dims_; ++m) {
      const auto& wanted = *combination[m]->inputs[tensors_.front()];
      splits |= input.layout().shape()[m] > 1 && !combination[m]->output.is_partial() &&
                wanted.is_shard() && is_own(wanted.dim());
    }
    if (!splits) return;
    std::int64_t lines = 1;
    const auto largest = input.largest_local_shape();
    for (std::size_t d = 0; d < largest.size(); ++d)
      if (!is_own(static_cast<std::int64_t>(d))) lines *= largest[d];
    choice.own_exchanges = own_exchanges_;
    choice.own_bytes = own_exchanges_ * lines * call_.type.size;
  }

  static std::int64_t price(const Choice& choice) {
    return choice.bytes + choice.own_bytes +
           (choice.exchanges + choice.own_exchanges) * bytes_per_exchange;
  }

  const OperatorCall& call_;
  const std::vector<OperatorRule>& rules_;
  int own_exchanges_;
  MoveCosts costs_;
  std::vector<std::size_t> tensors_;
  std::size_t mesh_dims_;
  OperandMove most_ = OperandMove::none;
  std::vector<Combination> permitted_;  // by mesh dim
  std::optional<Choice> best_;
};

}  // namespace

bool Choice::moves_at_all() const {
  return std::ranges::any_of(moves, [](OperandMove move) { return move != OperandMove::none; });
}

bool Choice::is_implicit() const {
  return std::ranges::find(moves, OperandMove::moves) != moves.end();
}

std::optional<Choice> choose(const OperatorCall& call, const std::vector<OperatorRule>& rules,
                             Redistribution allowed, const OwnAlgorithm& own) {
  Chooser chooser(call, rules, own.exchanges);
  if (auto choice = chooser.best(OperandMove::none, true)) return choice;
  if (own.on_whole_mesh != nullptr)
    if (auto choice = own.on_whole_mesh(call)) return choice;
  if (auto choice = chooser.best(OperandMove::none, false)) return choice;
  if (allowed == Redistribution::none) return {};
  if (auto choice = chooser.best(OperandMove::slices, true)) return choice;
  return chooser.best(allowed == Redistribution::any ? OperandMove::moves : OperandMove::reduces,
                      true);
}

}  // namespace tessera::detail
