// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Which placements operators choose, against a search through all combinations that are legal by what
// the operator means.
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include <tessera/ops/operator.hpp>
#include <tessera/plan/plan.hpp>

#include "../support/errors.hpp"
#include "operators.hpp"
#include "ops/choose.hpp"
#include "ops/summa.hpp"
#include "ops/tuning.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
using tessera::detail::choose;
using tessera::detail::OperandMove;
using tessera::detail::OwnAlgorithm;

using Inputs = std::vector<std::optional<Placement>>;
using Specs = std::vector<std::optional<DTensorSpec>>;

constexpr std::int64_t bytes_per_exchange = 4096;

/// Says what an operator means for the placements of its operands along one mesh dim.
class Meaning {
 public:
  Meaning(const TestedOperator& tested, const OperatorCall& call) : tested_(tested), call_(call) {
    if (tested.is_whole()) subscripts_ = tested.whole().subscripts(call);
  }

  /// Returns the placement of the result of operands that stay where they are; none if ranks cannot
  /// compute it alone.
  std::optional<Placement> result_of(const Inputs& inputs) const {
    const auto any = [&](auto is) {
      return std::ranges::any_of(inputs, [&](const auto& input) { return input && is(*input); });
    };
    const bool splits = any([](const Placement& p) { return p.is_shard(); });
    const bool has_partial = any([](const Placement& p) { return p.is_partial(); });
    if (splits && has_partial) return {};
    if (splits) return tested_.is_whole() ? result_by_letter(inputs) : result_of_split(inputs);
    return has_partial ? result_of_partial(inputs) : Placement(Replicate());
  }

  /// Lists all rules, in the order in which they are preferred.
  std::vector<OperatorRule> all() const {
    std::vector<OperatorRule> result;
    Inputs inputs;
    add_all(inputs, result);
    std::ranges::stable_sort(result, {}, [&](const OperatorRule& rule) { return order_of(rule); });
    return result;
  }

 private:
  /// Returns the dim that splitting dim `dim` of operand k splits, counted as in the result of an
  /// elementwise operator, or in the operands of a reduction.
  int aligned(std::size_t k, int dim) const {
    if (tested_.is_reduction()) return dim;
    return dim + static_cast<int>(call_.shape.size()) - call_.tensor_dims(k);
  }
  std::int64_t extent_of(int aligned_dim) const {
    const auto& shape = tested_.is_reduction() ? call_.operands.front().spec->shape() : call_.shape;
    return shape[static_cast<std::size_t>(aligned_dim)];
  }
  /// Returns whether operand k has all indices of a dim, and not one that stretches.
  bool has(std::size_t k, int aligned_dim) const {
    const int dim = aligned_dim - aligned(k, 0);
    return dim >= 0 &&
           call_.operands[k].spec->shape()[static_cast<std::size_t>(dim)] == extent_of(aligned_dim);
  }

  std::optional<Placement> result_of_split(const Inputs& inputs) const {
    const int dim = split_dim(inputs);
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k] && *inputs[k] != (has(k, dim) ? Placement(Shard(dim - aligned(k, 0)))
                                                  : Placement(Replicate())))
        return {};
    if (!tested_.is_reduction()) return Shard(dim);
    if (is_reduced(dim)) {
      const bool exchanges = tested_.is(ReductionOp::argmin) || tested_.is(ReductionOp::argmax);
      return exchanges ? Placement(Replicate()) : Placement(Partial(tested_.combines));
    }
    if (call_.integers("keep_dims").front() != 0) return Shard(dim);
    int dropped = 0;
    for (int d = 0; d < dim; ++d) dropped += is_reduced(d) ? 1 : 0;
    return Shard(dim - dropped);
  }
  int split_dim(const Inputs& inputs) const {
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k] && inputs[k]->is_shard()) return aligned(k, inputs[k]->dim());
    return -1;
  }
  /// Returns the letter of the dim that is split.
  char split_letter(const Inputs& inputs) const {
    std::size_t k = 0;
    while (!inputs[k]->is_shard()) ++k;
    return subscripts_.operands[k][static_cast<std::size_t>(inputs[k]->dim())];
  }
  std::optional<Placement> result_by_letter(const Inputs& inputs) const {
    const char letter = split_letter(inputs);
    const auto split = [&](const std::string& dims, Placement otherwise) {
      const auto dim = dims.find(letter);
      return dim == std::string::npos ? otherwise : Placement(Shard(static_cast<int>(dim)));
    };
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (*inputs[k] != split(subscripts_.operands[k], Replicate())) return {};
    return split(subscripts_.result, subscripts_.lacking);
  }
  bool is_reduced(int dim) const {
    return std::ranges::find(call_.integers("dims"), dim) != call_.integers("dims").end();
  }

  std::optional<Placement> result_of_partial(const Inputs& inputs) const {
    std::optional<ReduceOp> op;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!inputs[k]) continue;
      const bool is_condition = tested_.passes == Passes::selection && k == 0;
      const bool selects = is_condition || tested_.has_indices(k);
      if (inputs[k]->is_partial() == selects) return {};
      if (selects) continue;
      if (op && !inputs[k]->is_partial(*op)) return {};
      op = inputs[k]->op();
    }
    const auto result = passed(*op, inputs);
    return result ? std::optional<Placement>(Partial(*result)) : std::nullopt;
  }

  /// Returns the Partial that contributions to the operands by `op` give.
  std::optional<ReduceOp> passed(ReduceOp op, const Inputs& inputs) const {
    const auto& values = tested_.is_whole() ? call_.operands.front() : call_.operands.back();
    const auto kind = values.type.kind;
    const bool has_fractions = is_floating(kind) || is_complex(kind);
    const bool is_order = (op == ReduceOp::min || op == ReduceOp::max) && !is_complex(kind);
    const bool is_additive = op == ReduceOp::sum ? has_fractions || is_integer(kind)
                                                 : op == ReduceOp::avg && has_fractions;
    const auto tensors = std::ranges::count_if(inputs, [](const auto& p) { return p.has_value(); });
    const auto if_is = [&](bool passes) { return passes ? std::optional(op) : std::nullopt; };
    switch (tested_.passes) {
      case Passes::linear:
        return if_is(is_additive);
      case Passes::negation:
        if (is_order && is_floating(kind))
          return op == ReduceOp::min ? ReduceOp::max : ReduceOp::min;
        return if_is(is_additive);
      case Passes::increasing:
        return if_is(is_order);
      case Passes::sum:
        if (kind == ElementKind::boolean) return if_is(op == ReduceOp::bor);
        return if_is(numbers_are_finite() &&
                     (is_additive || (is_order && tensors == 1 && is_floating(kind))));
      case Passes::difference:
        return if_is(numbers_are_finite() && is_additive);
      case Passes::product:
        return if_is(numbers_are_finite() && tensors == 1 && is_additive);
      case Passes::quotient:
        return if_is(numbers_are_finite() && tensors == 1 && inputs[0] && has_fractions &&
                     is_additive && !call_.operands[1].number->is_zero);
      case Passes::selection:
        return if_is(tensors == 3 && is_additive);
      case Passes::own: {
        const bool wraps = tested_.is(ReductionOp::product) && !has_fractions;
        return if_is(op == tested_.combines && (!wraps || is_wide(kind)));
      }
      case Passes::widened:
        return if_is(is_additive && (has_fractions || is_wide(kind)));
      case Passes::average:
        return if_is(is_additive && has_fractions);
      case Passes::picking:
        return op;
      case Passes::filling:
        return if_is(kind == ElementKind::boolean ? op == ReduceOp::bor : is_additive);
      default:
        return {};
    }
  }
  bool numbers_are_finite() const {
    return std::ranges::all_of(call_.operands, [](const OperatorOperand& operand) {
      return !operand.number || operand.number->is_finite;
    });
  }
  static bool is_wide(ElementKind kind) {
    return kind == ElementKind::int64 || kind == ElementKind::uint64;
  }

  void add_all(Inputs& inputs, std::vector<OperatorRule>& rules) const {
    const auto k = inputs.size();
    if (k == call_.operands.size()) {
      if (const auto output = result_of(inputs)) rules.push_back({*output, inputs});
      return;
    }
    Inputs choices = {std::nullopt};
    if (call_.operands[k].spec) {
      choices = {Placement(Replicate())};
      for (int d = 0; d < call_.tensor_dims(k); ++d) choices.emplace_back(Shard(d));
      for (const auto op : partials)
        if (has_rules_for(k, op)) choices.emplace_back(Partial(op));
    }
    for (const auto& choice : choices) {
      inputs.push_back(choice);
      add_all(inputs, rules);
      inputs.pop_back();
    }
  }

  /// Returns whether rules may name a Partial of operand k. Operators that copy elements name only
  /// the Partials that the operand has, because most kinds of Partial pass.
  bool has_rules_for(std::size_t k, ReduceOp op) const {
    if (tested_.passes != Passes::picking && tested_.passes != Passes::filling) return true;
    return std::ranges::any_of(call_.operands[k].spec->placements(),
                               [&](const Placement& mine) { return mine.is_partial(op); });
  }

  /// Splits come first, by their dim or letter, then Partials, then Replicate.
  std::ptrdiff_t order_of(const OperatorRule& rule) const {
    const bool splits = std::ranges::any_of(
        rule.inputs, [](const auto& input) { return input && input->is_shard(); });
    if (splits && tested_.is_whole())
      return static_cast<std::ptrdiff_t>(subscripts_.order.find(split_letter(rule.inputs)));
    if (splits) return split_dim(rule.inputs);
    for (const auto& input : rule.inputs)
      if (input && input->is_partial())
        return 100 + (std::ranges::find(partials, input->op()) - partials.begin());
    return 200;
  }

  static constexpr std::array partials = {ReduceOp::sum,     ReduceOp::avg, ReduceOp::max,
                                          ReduceOp::min,     ReduceOp::bor, ReduceOp::band,
                                          ReduceOp::product, ReduceOp::bxor};
  const TestedOperator& tested_;
  const OperatorCall& call_;
  Subscripts subscripts_;  // of an operator that is described by whole arrays
};

/// Says what it takes to get an operand to where it is wanted.
struct Move {
  OperandMove needs = OperandMove::none;  ///< what has to be allowed
  bool is_possible = true;
  bool is_alike = false;  ///< it stays only because other dims happen to be split alike
  std::int64_t price = 0;
};

/// Returns whether each rank holds the same elements under both specs, Partials left out.
bool have_equal_pieces(const DTensorSpec& a, const DTensorSpec& b) {
  for (int rank = 0; rank < a.layout().size(); ++rank) {
    const auto coordinate = a.layout().coordinate(rank);
    if (!(a.sections(coordinate) == b.sections(coordinate))) return false;
  }
  return true;
}

Move find_move(const DTensorSpec& source, const DTensorSpec& target, ElementType type) {
  bool drops = false, adds = false, renames = false, leaves = false;
  for (std::size_t m = 0; m < source.placements().size(); ++m) {
    const auto& from = source.placements()[m];
    const auto& to = target.placements()[m];
    const auto position = static_cast<int>(m);
    const bool is_split_alike = source.placements().split_position(position) ==
                                target.placements().split_position(position);
    if ((from == to && is_split_alike) || source.layout().shape()[m] == 1) continue;
    if (to.is_partial() && !from.is_replicate()) return {.is_possible = false};
    drops |= from.is_partial();
    adds |= to.is_partial();
    renames |= from.is_shard() && to.is_shard(from.dim());
    leaves |= from.is_shard() && !to.is_shard(from.dim());
  }
  if (!drops && !adds && have_equal_pieces(source, target)) return {.is_alike = leaves};
  const auto plan = make_plan(source, target, type);
  // Where nothing travels and nothing is reduced, another rule takes parts of what ranks have, too.
  leaves |= renames && (drops || plan.exchanges() > 0);
  return {.needs = leaves  ? OperandMove::moves
                   : drops ? OperandMove::reduces
                           : OperandMove::slices,
          .price = plan.cost().bytes_received + plan.exchanges() * bytes_per_exchange};
}

/// Returns find_move(), found once.
const Move& move_of(const DTensorSpec& source, const DTensorSpec& target, ElementType type) {
  static std::map<std::tuple<std::uint64_t, std::uint64_t, ElementKind>, Move> moves;
  const auto key = std::tuple(source.hash(), target.hash(), type.kind);
  const auto known = moves.find(key);
  if (known != moves.end()) return known->second;
  return moves.emplace(key, find_move(source, target, type)).first->second;
}

/// Returns whether two specs have equal placements, whatever rules their shardings have.
bool have_equal_names(const DTensorSpec& a, const DTensorSpec& b) {
  return std::ranges::equal(a.placements(), b.placements(), [](const auto& p, const auto& q) {
    return p.is_shard() ? q.is_shard(p.dim()) : p == q;
  });
}

/// Holds the best combination of rules.
struct Best {
  std::vector<OperatorRule> rules;
  std::int64_t price = 0;
  OperandMove needs = OperandMove::none;  ///< what has to be allowed
};

/// Searches all combinations of rules, and all shardings by which the operands split.
class Search {
 public:
  /// `own_exchanges` is the number of exchanges that the operator makes where its dims are split.
  Search(const OperatorCall& call, const std::vector<OperatorRule>& rules, int own_exchanges)
      : call_(call), rules_(rules), own_exchanges_(own_exchanges) {
    for (const auto& operand : call.operands)
      if (operand.spec) layout_ = operand.spec->layout();
    models_.resize(static_cast<std::size_t>(layout_.ndim()));
    combination_.resize(models_.size());
    visit(0);
  }

  std::optional<Best> best(Redistribution allowed) const {
    if (named_) return named_;
    if (best_[0]) return best_[0];
    if (allowed == Redistribution::none) return {};
    if (best_[1]) return best_[1];
    return best_[allowed == Redistribution::local ? 2 : 3];
  }

 private:
  /// Says how the indices are split along a mesh dim.
  struct Model {
    Placement sharding;
    bool is_new = true;  ///< whether no operand is split like this
  };

  void visit(std::size_t mesh_dim) {
    if (mesh_dim == combination_.size()) return visit_models(0);
    for (const auto& rule : rules_) {
      combination_[mesh_dim] = &rule;
      visit(mesh_dim + 1);
    }
  }
  void visit_models(std::size_t mesh_dim) {
    if (mesh_dim == combination_.size()) return consider();
    for (const auto& model : models_of(*combination_[mesh_dim], mesh_dim)) {
      models_[mesh_dim] = model;
      visit_models(mesh_dim + 1);
    }
  }

  /// Lists the shardings of the operands that are split as the rule says.
  std::vector<Model> models_of(const OperatorRule& rule, std::size_t mesh_dim) const {
    std::vector<Model> result;
    for (std::size_t k = 0; k < call_.operands.size(); ++k) {
      if (!rule.inputs[k] || !rule.inputs[k]->is_shard()) continue;
      const auto& mine = call_.operands[k].spec->placements()[mesh_dim];
      if (!mine.is_shard(rule.inputs[k]->dim())) continue;
      if (std::ranges::find(result, mine.with_dim(0), &Model::sharding) == result.end())
        result.push_back({mine.with_dim(0), false});
    }
    if (result.empty()) result.push_back({Shard(0), true});
    return result;
  }

  /// Returns the placements that wanted_by(rule) means along all mesh dims; none if Placements
  /// forbids the combination.
  template <class WantedBy>
  std::optional<Placements> placements_of(const WantedBy& wanted_by) const {
    std::vector<Placement> placements;
    for (std::size_t m = 0; m < combination_.size(); ++m) {
      const Placement wanted = wanted_by(*combination_[m]);
      placements.push_back(wanted.is_shard() ? models_[m].sharding.with_dim(wanted.dim()) : wanted);
    }
    try {
      return Placements(placements, positions_of(placements));
    } catch (const InvalidArgument&) {
      return {};
    }
  }
  std::optional<DTensorSpec> target_of(std::size_t k) const {
    const auto placements =
        placements_of([&](const OperatorRule& rule) { return *rule.inputs[k]; });
    if (!placements) return {};
    return DTensorSpec(layout_, *placements, call_.operands[k].spec->shape());
  }

  /// Returns the split positions: what operands split already is split first.
  std::vector<int> positions_of(const std::vector<Placement>& placements) const {
    std::vector<int> result(placements.size(), 0);
    std::map<int, int> used;
    for (const bool is_new : {false, true})
      for (std::size_t m = 0; m < placements.size(); ++m)
        if (placements[m].is_shard() && models_[m].is_new == is_new)
          result[m] = used[placements[m].dim()]++;
    return result;
  }

  void consider() {
    Best candidate;
    bool is_named = true, is_alike = false;
    if (!placements_of([](const OperatorRule& rule) { return rule.output; })) return;
    for (std::size_t k = 0; k < call_.operands.size(); ++k) {
      const auto& [spec, type, number] = call_.operands[k];
      if (!spec) continue;
      const auto target = target_of(k);
      if (!target) return;
      const auto& move = move_of(*spec, *target, type);
      if (!move.is_possible) return;
      candidate.needs = std::max(candidate.needs, move.needs);
      candidate.price += move.price;
      if (k == 0) candidate.price += own_price(*target);
      is_alike = is_alike || move.is_alike;
      is_named = is_named && have_equal_names(*spec, *target);
    }
    // Chance counts only where nothing moves at all.
    if (is_alike && candidate.needs != OperandMove::none) candidate.needs = OperandMove::moves;
    for (const auto* rule : combination_) candidate.rules.push_back(*rule);
    if (candidate.needs == OperandMove::none && is_named && !named_) named_ = candidate;
    for (auto level = static_cast<std::size_t>(candidate.needs); level < best_.size(); ++level) {
      const bool compares = level >= 2;
      if (!best_[level] || (compares && candidate.price < best_[level]->price))
        best_[level] = candidate;
    }
  }

  /// Returns the price of what the operator itself exchanges: a number for each line along its dims.
  std::int64_t own_price(const DTensorSpec& operand) const {
    if (own_exchanges_ == 0) return 0;
    const auto& dims = call_.integers("dims");
    const auto is_own = [&](int dim) { return std::ranges::find(dims, dim) != dims.end(); };
    bool splits = false;
    for (std::size_t m = 0; m < operand.placements().size(); ++m) {
      const auto& placement = operand.placements()[m];
      splits |= layout_.shape()[m] > 1 && placement.is_shard() && is_own(placement.dim());
    }
    if (!splits) return 0;
    std::int64_t lines = 1;
    for (int d = 0; d < operand.tensor_dims(); ++d)
      if (!is_own(d)) lines *= operand.largest_local_shape()[static_cast<std::size_t>(d)];
    return own_exchanges_ * (lines * call_.type.size + bytes_per_exchange);
  }

  const OperatorCall& call_;
  const std::vector<OperatorRule>& rules_;
  int own_exchanges_;
  MeshLayout layout_;
  std::vector<const OperatorRule*> combination_;  // by mesh dim
  std::vector<Model> models_;                     // by mesh dim
  std::optional<Best> named_;                     // all operands have their placements already
  std::array<std::optional<Best>, 4> best_;       // by what moves at most
};

std::string text_of(const std::vector<OperatorRule>& rules) {
  std::string text;
  for (const auto& rule : rules) text += (text.empty() ? "" : "; ") + to_string(rule);
  return text;
}

std::string description(const OperatorCall& call, Redistribution allowed) {
  std::string text = to_string(call) + ", allowed: " + to_string(allowed);
  for (const auto& operand : call.operands)
    if (operand.spec) text += ", " + to_string(*operand.spec);
  return text;
}

/// Expects that what ranks have of the operands, once they have moved, gives their pieces of the result.
void expect_fitting_pieces(const TestedOperator& tested, const OperatorCall& call,
                           const tessera::detail::Choice& choice) {
  for (int rank = 0; rank < choice.output.layout().size(); ++rank) {
    auto local = call;
    for (std::size_t k = 0; k < call.operands.size(); ++k) {
      if (!choice.inputs[k]) continue;
      const bool stays = choice.moves[k] == OperandMove::none;
      const auto& spec = stays ? *call.operands[k].spec : *choice.inputs[k];
      EXPECT_EQ(spec.local_shape(rank), choice.inputs[k]->local_shape(rank))
          << description(call, Redistribution::any) << ": operand " << k << ", rank " << rank;
      local.operands[k].spec =
          DTensorSpec(MeshLayout(), Placements(), choice.inputs[k]->local_shape(rank));
    }
    if (tested.is_whole() && !tested.whole().has_local_shape) continue;
    EXPECT_EQ(tested.info().shape(local), choice.output.local_shape(rank))
        << description(call, Redistribution::any) << ": rank " << rank;
  }
}

/// Expects the choice for a call that the search finds, and returns it.
std::optional<tessera::detail::Choice> expect_choice(const OperatorCall& call,
                                                     const std::vector<OperatorRule>& rules,
                                                     const OwnAlgorithm& own, const Search& search,
                                                     Redistribution allowed) {
  auto choice = choose(call, rules, allowed, own);
  const auto expected = search.best(allowed);
  EXPECT_EQ(choice.has_value(), expected.has_value())
      << description(call, allowed) << (expected ? ": " + text_of(expected->rules) : "");
  if (!choice || !expected) return choice;
  EXPECT_EQ(text_of(choice->rules), text_of(expected->rules)) << description(call, allowed);
  EXPECT_EQ(choice->bytes + choice->own_bytes +
                (choice->exchanges + choice->own_exchanges) * bytes_per_exchange,
            expected->price)
      << description(call, allowed);
  EXPECT_EQ(choice->moves_at_all(), expected->needs != OperandMove::none)
      << description(call, allowed);
  return choice;
}

bool has_empty_operand(const OperatorCall& call) {
  return std::ranges::any_of(call.operands, [](const OperatorOperand& operand) {
    return operand.spec && product(operand.spec->shape()) == 0;
  });
}

/// Expects the right choices for operands of these specs. Returns the number of choices. `legal`
/// are the rules for any specs. Those of operators that are described by whole arrays depend on the
/// specs, and are found here.
int expect_choices(const TestedOperator& tested, const Form& form,
                   const std::vector<OperatorRule>& legal, const Specs& specs) {
  const auto call = call_of(tested, form, specs);
  const auto rules = tested.info().rules(call);
  const OwnAlgorithm own{tested.info().own.exchanges, nullptr};
  // Where nothing is there to move, placements need only fit; which ones are best says nothing.
  const bool is_empty = has_empty_operand(call);
  const auto of_call =
      tested.is_whole() ? Meaning(tested, call).all() : std::vector<OperatorRule>();
  std::optional<Search> search;
  if (!is_empty) search.emplace(call, tested.is_whole() ? of_call : legal, own.exchanges);
  for (const auto allowed : {Redistribution::none, Redistribution::local, Redistribution::any}) {
    const auto choice = is_empty ? choose(call, rules, allowed, own)
                                 : expect_choice(call, rules, own, *search, allowed);
    EXPECT_TRUE(choice || allowed != Redistribution::any) << description(call, allowed);
    if (choice) expect_fitting_pieces(tested, call, *choice);
  }
  return 3;
}

Specs replicated_specs(const Form& form, const MeshLayout& mesh) {
  const std::vector<Placement> placements(static_cast<std::size_t>(mesh.ndim()), Replicate());
  Specs specs;
  for (const auto& shape : form.shapes) {
    specs.emplace_back();
    if (shape) specs.back() = DTensorSpec(mesh, Placements(placements), *shape);
  }
  return specs;
}

/// Returns all rules of an operator for calls of a form.
std::vector<OperatorRule> legal_rules(const TestedOperator& tested, const Form& form,
                                      const MeshLayout& mesh) {
  return Meaning(tested, call_of(tested, form, replicated_specs(form, mesh))).all();
}

/// Calls visit(tested, form) for all operators and their forms; element types and shapes are taken in
/// turn, from `turn` on.
template <class Visit>
void for_each_form(std::size_t turn, const Visit& visit) {
  for (const auto& tested : tested_operators()) {
    const auto types = types_of(tested);
    const auto type = types[turn % types.size()];
    const auto& shapes = tested_shapes()[turn % tested_shapes().size()];
    for (const auto& form : forms_of(tested, type, shapes)) visit(tested, form);
    ++turn;
  }
}

TEST(OperatorTable, has_all_operators_of_the_library) {
  std::size_t elementwise = 0, reductions = 0;
  std::set<std::string> whole;
  for (const auto& tested : tested_operators()) {
    if (tested.is_whole()) {
      EXPECT_NO_THROW(tessera::detail::require_operator_name(tested.info().name));
      whole.insert(tested.info().name);
      continue;
    }
    (tested.is_reduction() ? reductions : elementwise) += 1;
    const auto [operands, kinds] =
        tested.is_reduction() ? std::pair(tessera::detail::traits_of(tested.reduction()).tensors,
                                          tessera::detail::traits_of(tested.reduction()).kinds)
                              : std::pair(tessera::detail::traits_of(tested.elementwise()).tensors,
                                          tessera::detail::traits_of(tested.elementwise()).kinds);
    EXPECT_EQ(operands, tested.operands) << name_of(tested);
    EXPECT_EQ(kinds, tested.kinds) << name_of(tested);
  }
  EXPECT_EQ(elementwise, tessera::detail::elementwise_table.size());
  EXPECT_EQ(reductions, tessera::detail::reduction_table.size());
  EXPECT_EQ(whole,
            (std::set<std::string>{"matmul", "softmax", "log_softmax", "logsumexp", "cumsum",
                                   "take", "cross_entropy", "outer", "tril", "triu", "diag"}));
}

TEST(Rules, are_all_that_are_legal_by_what_the_operator_means) {
  const MeshLayout mesh({2});
  for (const auto& tested : tested_operators())
    for (const auto type : types_of(tested))
      for (const auto& shapes : tested_shapes())
        for (const auto& form : forms_of(tested, type, shapes)) {
          const auto expect_rules = [&](const Specs& specs) {
            const auto call = call_of(tested, form, specs);
            const auto legal = Meaning(tested, call).all();
            EXPECT_EQ(text_of(tested.info().rules(call)), text_of(legal)) << to_string(call);
          };
          if (tested.is_whole())
            for_each_specs(tested, form, mesh, expect_rules);
          else
            expect_rules(replicated_specs(form, mesh));
        }
}

TEST(Choose, is_right_for_all_placements_on_meshes_of_one_dim) {
  int choices = 0;
  for (const int size : {1, 2, 3, 4}) {
    const MeshLayout mesh({size});
    for_each_form(static_cast<std::size_t>(mesh.size()),
                  [&](const TestedOperator& tested, const Form& form) {
                    const auto legal = legal_rules(tested, form, mesh);
                    for_each_specs(tested, form, mesh, [&](const Specs& specs) {
                      choices += expect_choices(tested, form, legal, specs);
                    });
                  });
  }
  RecordProperty("choices", choices);
}

TEST(Choose, is_right_for_all_placements_of_one_operand_on_meshes_of_two_dims) {
  int choices = 0;
  for (const auto& sizes : {std::vector{2, 2}, std::vector{2, 3}}) {
    const MeshLayout mesh(sizes);
    for_each_form(
        static_cast<std::size_t>(mesh.size()), [&](const TestedOperator& tested, const Form& form) {
          const auto tensors = std::ranges::count_if(
              form.shapes, [](const auto& shape) { return shape.has_value(); });
          // Reductions keep their dims on one of the meshes.
          if (tensors > 1 || form.over.keeps != (tested.is_reduction() && mesh.size() == 4)) return;
          const auto legal = legal_rules(tested, form, mesh);
          for_each_specs(tested, form, mesh, [&](const Specs& specs) {
            choices += expect_choices(tested, form, legal, specs);
          });
        });
  }
  RecordProperty("choices", choices);
}

TEST(Choose, is_right_for_several_operands_at_random_on_meshes_of_two_dims) {
  Generator generator(seed());
  const int number = cases(3000);
  for (int i = 0; i < number; ++i) {
    const auto& tested = pick(generator, tested_operators());
    const MeshLayout mesh({2, draw(generator, 2, 3)});
    const auto forms =
        forms_of(tested, pick(generator, types_of(tested)), pick(generator, tested_shapes()));
    if (forms.empty()) continue;
    const auto& form = pick(generator, forms);
    const auto specs = random_specs(generator, tested, form, mesh);
    expect_choices(tested, form, legal_rules(tested, form, mesh), specs);
  }
}

TEST(Choose, gives_replicate_where_all_operands_are_replicate) {
  for (const auto& sizes : {std::vector{1}, std::vector{3}, std::vector{1, 1}, std::vector{2, 2}})
    for (const auto& shapes : tested_shapes())
      for (const auto& tested : tested_operators())
        for (const auto type : types_of(tested))
          for (const auto& form : forms_of(tested, type, shapes)) {
            const auto specs = replicated_specs(form, MeshLayout(sizes));
            const auto call = call_of(tested, form, specs);
            const auto choice = choose(call, tested.info().rules(call), Redistribution::none);
            ASSERT_TRUE(choice) << to_string(call);
            EXPECT_TRUE(choice->output.placements().is_all_replicate()) << to_string(call);
          }
}

/// Returns what is chosen for an operator on two tensors of shape (8, 4) on 2 ranks.
std::optional<tessera::detail::Choice> choice_of(ElementwiseOp op, Placement x, Placement y,
                                                 Redistribution allowed) {
  const auto type = element_type<double>();
  const MeshLayout mesh({2});
  const OperatorCall call{
      tessera::detail::traits_of(op).name,
      {{DTensorSpec(mesh, {x}, {8, 4}), type, {}}, {DTensorSpec(mesh, {y}, {8, 4}), type, {}}},
      {},
      {8, 4},
      type};
  return choose(call, tessera::detail::elementwise_info(op).rules(call), allowed);
}

TEST(Choose, refuses_to_move_a_split_operand_unless_all_is_allowed) {
  using enum Redistribution;
  EXPECT_FALSE(choice_of(ElementwiseOp::add, Shard(0), Shard(1), none));
  EXPECT_FALSE(choice_of(ElementwiseOp::add, Shard(0), Shard(1), local));
  const auto choice = choice_of(ElementwiseOp::add, Shard(0), Shard(1), any);
  ASSERT_TRUE(choice);
  EXPECT_EQ(to_string(choice->output.placements()), "S(0)");
  EXPECT_TRUE(choice->is_implicit());
  EXPECT_EQ(choice->exchanges, 1);
  EXPECT_EQ(choice->bytes, 4 * 2 * 8);
}

TEST(Choose, slices_replicate_without_an_exchange_unless_nothing_is_allowed) {
  using enum Redistribution;
  EXPECT_FALSE(choice_of(ElementwiseOp::multiply, Shard(0), Replicate(), none));
  const auto choice = choice_of(ElementwiseOp::multiply, Shard(0), Replicate(), local);
  ASSERT_TRUE(choice);
  EXPECT_EQ(to_string(choice->output.placements()), "S(0)");
  EXPECT_EQ(choice->moves, (std::vector{OperandMove::none, OperandMove::slices}));
  EXPECT_EQ(choice->exchanges, 0);
}

TEST(Choose, puts_replicate_on_one_coordinate_where_it_is_added_to_a_partial) {
  const auto choice = choice_of(ElementwiseOp::add, Partial(), Replicate(), Redistribution::local);
  ASSERT_TRUE(choice);
  EXPECT_EQ(to_string(choice->output.placements()), "P(sum)");
  EXPECT_EQ(choice->exchanges, 0);
}

TEST(Choose, reduces_a_partial_by_a_scatter_where_the_other_operand_is_split) {
  const auto choice =
      choice_of(ElementwiseOp::multiply, Partial(), Shard(1), Redistribution::local);
  ASSERT_TRUE(choice);
  EXPECT_EQ(to_string(choice->output.placements()), "S(1)");
  EXPECT_EQ(choice->moves, (std::vector{OperandMove::reduces, OperandMove::none}));
  EXPECT_FALSE(choice->is_implicit());
  EXPECT_EQ(choice->bytes, 8 * 2 * 8);
}

TEST(Choose, splits_no_shard_in_another_order_where_a_partial_is_reduced) {
  const auto type = element_type<double>();
  const MeshLayout mesh({2, 2});
  const auto op = ElementwiseOp::multiply;
  const OperatorCall call{"multiply",
                          {{DTensorSpec(mesh, {Partial(), Shard(0)}, {4}), type, {}},
                           {DTensorSpec(mesh, {Shard(0), Shard(0)}, {4}), type, {}}},
                          {},
                          {4},
                          type};
  const auto& rules = tessera::detail::elementwise_info(op).rules(call);

  EXPECT_FALSE(choose(call, rules, Redistribution::local));
  const auto choice = choose(call, rules, Redistribution::any);
  ASSERT_TRUE(choice);
  EXPECT_TRUE(choice->is_implicit());
}

/// Returns the rules of an operator on a tensor of shape (4) and a number.
std::string rules_with(ElementwiseOp op, double number) {
  const auto type = element_type<double>();
  OperatorCall call{tessera::detail::traits_of(op).name,
                    {{DTensorSpec(MeshLayout({2}), {Replicate()}, {4}), type, {}},
                     {{}, type, tessera::detail::describe_number(number)}},
                    {},
                    {4},
                    type};
  return text_of(tessera::detail::elementwise_info(op).rules(call));
}

TEST(Rules, pass_partials_only_by_numbers_that_keep_them_linear) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string reduces = "S(0), number -> S(0); R, number -> R";
  const std::string passes =
      "S(0), number -> S(0); P(sum), number -> P(sum); P(avg), number -> P(avg); R, number -> R";
  using enum ElementwiseOp;
  EXPECT_EQ(rules_with(multiply, -2), passes);
  EXPECT_EQ(rules_with(multiply, 0), passes);
  EXPECT_EQ(rules_with(multiply, infinity), reduces);
  EXPECT_EQ(rules_with(multiply, nan), reduces);
  EXPECT_EQ(rules_with(divide, 3), passes);
  EXPECT_EQ(rules_with(divide, 0), reduces);
  EXPECT_EQ(rules_with(divide, -infinity), reduces);
  EXPECT_EQ(rules_with(subtract, 3), passes);
  EXPECT_EQ(rules_with(subtract, infinity), reduces);
  EXPECT_EQ(rules_with(add, nan), reduces);
}

/// Returns the call of a product of matrices.
OperatorCall matmul_call(const DTensorSpec& a, const DTensorSpec& b) {
  const auto type = element_type<double>();
  OperatorCall call{"matmul", {{a, type, {}}, {b, type, {}}}, {}, {}, type};
  call.shape = tessera::detail::matmul_info().shape(call);
  return call;
}

using PlacementPair = std::array<Placement, 2>;

/// Returns the spec of a tensor on a mesh of two dims.
DTensorSpec spec_on(const MeshLayout& mesh, const PlacementPair& placements, const Extents& shape,
                    const Boundaries& boundaries = {}) {
  return DTensorSpec(mesh, {placements[0], placements[1]}, shape, boundaries);
}

TEST(Summa, multiplies_matrices_whose_rows_and_columns_are_split_along_two_mesh_dims) {
  const std::vector<PlacementPair> rules = {{Shard(0), Shard(1)},
                                            {Balanced(0), Balanced(1)},
                                            {Cyclic(0, 2), Cyclic(1, 1)},
                                            {HeadTail(0), Shard(1)}};
  for (const auto& sizes : {std::vector{2, 2}, std::vector{2, 3}, std::vector{1, 2}})
    for (const auto& left : rules)
      for (const auto& right : rules) {
        const MeshLayout mesh(sizes);
        const auto a = spec_on(mesh, left, {5, 4}), b = spec_on(mesh, right, {4, 7});
        const auto call = matmul_call(a, b);
        const auto choice = tessera::detail::summa_choice(call);
        ASSERT_TRUE(choice) << to_string(call);
        EXPECT_EQ(choice->output, spec_on(mesh, {left[0], right[1]}, {5, 7})) << to_string(call);
        EXPECT_EQ(choice->inputs, (Specs{a, b})) << to_string(call);
        EXPECT_FALSE(choice->moves_at_all()) << to_string(call);
        EXPECT_FALSE(choose(call, tessera::detail::matmul_info().rules(call), Redistribution::none))
            << to_string(call);
      }
}

TEST(Summa, keeps_the_boundaries_of_rows_and_columns) {
  const MeshLayout mesh({2, 2});
  const PlacementPair grid = {Shard(0), Shard(1)};
  const auto choice = tessera::detail::summa_choice(matmul_call(
      spec_on(mesh, grid, {5, 4}, {{0, 1, 5}, {}}), spec_on(mesh, grid, {4, 7}, {{}, {0, 6, 7}})));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->output, spec_on(mesh, grid, {5, 7}, {{0, 1, 5}, {0, 6, 7}}));
}

TEST(Summa, counts_what_the_busiest_rank_lacks_of_its_rows_and_columns) {
  const MeshLayout mesh({2, 2});
  const PlacementPair grid = {Shard(0), Shard(1)};
  const auto choice_for = [&](std::int64_t inner) {
    return tessera::detail::summa_choice(
        matmul_call(spec_on(mesh, grid, {4, inner}), spec_on(mesh, grid, {inner, 8})));
  };
  const auto small = choice_for(6), large = choice_for(tessera::detail::panel_width + 1);
  ASSERT_TRUE(small && large);
  EXPECT_EQ(small->own_bytes, (2 * 3 + 4 * 3) * 8);
  EXPECT_EQ(small->own_exchanges, 1);
  EXPECT_EQ(large->own_exchanges, 2);
}

TEST(Summa, takes_any_two_mesh_dims_in_any_order) {
  const MeshLayout plane({2, 3});
  const PlacementPair transposed = {Shard(1), Shard(0)};
  const auto of_transposed = tessera::detail::summa_choice(
      matmul_call(spec_on(plane, transposed, {5, 4}), spec_on(plane, transposed, {4, 7})));
  ASSERT_TRUE(of_transposed);
  EXPECT_EQ(of_transposed->output, spec_on(plane, transposed, {5, 7}));

  const MeshLayout cube({2, 2, 2});
  const Placements apart = {Shard(0), Replicate(), Shard(1)};
  const auto in_space = tessera::detail::summa_choice(
      matmul_call(DTensorSpec(cube, apart, {5, 4}), DTensorSpec(cube, apart, {4, 7})));
  ASSERT_TRUE(in_space);
  EXPECT_EQ(in_space->output, DTensorSpec(cube, apart, {5, 7}));
}

TEST(Summa, is_not_for_other_operands) {
  const MeshLayout mesh({2, 2});
  const PlacementPair grid = {Shard(0), Shard(1)};
  const auto a = spec_on(mesh, grid, {5, 4}), b = spec_on(mesh, grid, {4, 7});
  const std::vector<PlacementPair> others = {{Shard(1), Shard(0)},    {Shard(0), Shard(0)},
                                             {Shard(0), Replicate()}, {Replicate(), Shard(1)},
                                             {Partial(), Shard(1)},   {Partial(), Partial()},
                                             {Shard(0), Partial()},   {Replicate(), Replicate()}};
  const auto has_choice = [](const DTensorSpec& left, const DTensorSpec& right) {
    return tessera::detail::summa_choice(matmul_call(left, right)).has_value();
  };
  for (const auto& other : others) {
    EXPECT_FALSE(has_choice(a, spec_on(mesh, other, {4, 7}))) << other[0] << ", " << other[1];
    EXPECT_FALSE(has_choice(spec_on(mesh, other, {5, 4}), b)) << other[0] << ", " << other[1];
  }
  EXPECT_FALSE(has_choice(a, spec_on(mesh, {Shard(0), Replicate()}, {4})));
  EXPECT_FALSE(has_choice(spec_on(mesh, {Shard(0), Replicate()}, {4}), b));
  EXPECT_FALSE(has_choice(spec_on(mesh, grid, {3, 5, 4}), b));
  const MeshLayout cube({2, 2, 2});
  const Placements with_partial = {Shard(0), Shard(1), Partial()};
  EXPECT_FALSE(
      has_choice(DTensorSpec(cube, with_partial, {5, 4}), DTensorSpec(cube, with_partial, {4, 7})));
}

}  // namespace
