// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

namespace tessera::test {
namespace {

// --- who may move data ---------------------------------------------------------------------------

TEST(RedistributionScope, the_innermost_one_counts) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(line(), Shard(0), {4, 4});
  const auto y = iota<Matrix>(line(), Shard(1), {4, 4});
  const auto r = iota<Matrix>(line(), Replicate(), {4, 4});
  const auto adds = [&](const auto& a, const auto& b) {
    return message_of<PlacementMismatch>([&] { a + b; }) == "no error";
  };
  EXPECT_EQ(detail::current_redistribution(), Redistribution::local);
  EXPECT_FALSE(adds(x, y));
  {
    const RedistributionScope outer(Redistribution::any);
    EXPECT_TRUE(adds(x, y));
    {
      const RedistributionScope inner(Redistribution::none);
      EXPECT_FALSE(adds(x, r));
      {
        const RedistributionScope innermost(Redistribution::local);
        EXPECT_TRUE(adds(x, r));
        EXPECT_FALSE(adds(x, y));
      }
      EXPECT_FALSE(adds(x, r));
    }
    EXPECT_TRUE(adds(x, y));
  }
  EXPECT_FALSE(adds(x, y));
}

TEST(RedistributionScope, none_leaves_operators_their_own_exchanges) {
  const auto x = iota<Vector>(line(), Shard(0), {6});
  const auto p = contributions<Vector>(ReduceOp::sum, {6});
  const RedistributionScope scope(Redistribution::none);
  const auto sum = ops::sum(x);
  const auto position = ops::argmax(x);
  const auto variance = ops::var(x);
  const auto [total, at, spread] = items(sum, position, variance);
  EXPECT_EQ(total, 15);
  EXPECT_EQ(at, 5);
  EXPECT_EQ(spread, 3.5);
  if (world_size() == 1) return;

  const auto refused = message_of<PlacementMismatch>([&] { ops::exp(p); });
  const auto refused_variance = message_of<PlacementMismatch>([&] { ops::var(p); });
  EXPECT_THAT(refused, HasSubstr("exp: expected placements that fit: x is P(sum) on "));
  EXPECT_THAT(refused, HasSubstr("RedistributionScope(Redistribution::local)"));
  EXPECT_THAT(refused_variance, HasSubstr("var: "));
}

TEST(RedistributionScope, ownerships_that_agree_need_no_exchange_under_other_names) {
  const auto n = 2 * world_size();
  const auto x = iota<Matrix>(line(), Shard(0), {n, 3});
  const auto y = iota<Matrix>(line(), Balanced(0), {n, 3});
  const RedistributionScope scope(Redistribution::none);
  const Traffic traffic;
  const auto sum = x + y;

  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(wrong_iota(sum, 2), "");
}

TEST(Operators, tensors_on_different_meshes_are_refused) {
  if (world_size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto other = mesh_of({world_size(), 1});
  const auto x = iota<Vector>(line(), Shard(0), {4});
  const auto y = iota<Vector>(other, {Shard(0), Replicate()}, {4});
  const auto refused = message_of<MeshMismatch>([&] { x + y; });
  const auto empty = invalid_argument_of([&] { x + DTensor<Vector>(); });

  EXPECT_THAT(refused, HasSubstr("operator+: expected operands on one mesh"));
  EXPECT_THAT(empty, HasSubstr("operator+: expected tensors, got an empty DTensor"));
}

// --- Views and tensors ---------------------------------------------------------------------------

TEST(ImplicitReplication, makes_a_tensor_of_a_view_that_all_ranks_hold) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 4});
  const auto view = iota_view<Matrix>({5, 4});
  const ImplicitReplication implicit(line());
  const Traffic traffic;
  const auto sum = x + implicit(view);
  const auto other = implicit(view) - x;

  EXPECT_EQ(traffic.exchanges() + traffic.agreements() + traffic.metadata(), 0);
  EXPECT_EQ(wrong_iota(sum, 2), "");
  EXPECT_EQ(wrong_iota(other, 0), "");
}

TEST(SkipDTensorDispatch, runs_operators_on_the_local_view) {
  const auto x = iota<Matrix>(line(), Shard(0), {2 * world_size(), 3});
  const SkipDTensorDispatch skip;
  const auto sum = skip(ops::sum, x, Dims{0});
  const auto twice = skip(ops::add, x, x);
  static_assert(Kokkos::is_view_v<std::remove_cvref_t<decltype(sum)>>);

  const double first = 6 * world_rank();
  EXPECT_THAT(elements_of(sum), ElementsAre(2 * first + 3, 2 * first + 5, 2 * first + 7));
  EXPECT_EQ(elements_of(twice)[1], 2 * (first + 1));
}

TEST(SkipDTensorDispatch, keeps_operators_that_are_named) {
  const auto x = iota<Matrix>(line(), Shard(0), {2 * world_size(), 3});
  const double last = 6 * world_size() - 3;
  for (const auto& skip : {SkipDTensorDispatch(ops::argmax), SkipDTensorDispatch("argmax")}) {
    const auto kept = skip(ops::argmax, x, 0);
    const auto skipped = skip(ops::max, x, 0);
    const auto local = skip(ops::zeros_like, x);
    static_assert(Kokkos::is_view_v<std::remove_cvref_t<decltype(kept)>>);
    EXPECT_EQ(elements_of(kept), std::vector<std::int64_t>(3, 2 * world_size() - 1));
    EXPECT_EQ(elements_of(skipped)[0], 6 * world_rank() + 3);
    EXPECT_EQ(local.extent(0), 2);
  }
  const auto largest = item(ops::max(x));
  EXPECT_EQ(largest, last + 2);
}

TEST(SkipDTensorDispatch, takes_zeros_like_as_kept_or_skipped) {
  const auto x = iota<Matrix>(line(), Shard(0), {2 * world_size() + 1, 3});
  for (const bool is_kept : {false, true}) {
    const auto skip = is_kept ? SkipDTensorDispatch(ops::zeros_like) : SkipDTensorDispatch();
    const auto zero = skip(ops::zeros_like, x);
    EXPECT_EQ(zero.label(), is_kept ? "tessera::zeros" : "tessera::zeros_like");
    static_assert(Kokkos::is_view_v<std::remove_cvref_t<decltype(zero)>>);
    EXPECT_EQ(detail::extents_of(zero), x.local_shape());
    EXPECT_EQ(elements_of(zero), std::vector<double>(zero.size(), 0.0));
  }
}

TEST(Operators, take_views_alone) {
  const auto a = iota_view<Matrix>({3, 2});
  const auto b = iota_view<LeftMatrix>({3, 2});
  const auto row = iota_view<Vector>({2});
  EXPECT_THAT(elements_of(ops::add(a, b)), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(elements_of(ops::multiply(a, row)), ElementsAre(0, 1, 0, 3, 0, 5));
  EXPECT_THAT(elements_of(ops::where(ops::less(a, 3), a, 0)), ElementsAre(0, 1, 2, 0, 0, 0));
  EXPECT_THAT(elements_of(ops::sum(a)), ElementsAre(15));
  EXPECT_THAT(elements_of(ops::mean(a, 0)), ElementsAre(2, 3));
  EXPECT_THAT(elements_of(ops::argmax(b, 1)), ElementsAre(1, 1, 1));
  EXPECT_THAT(elements_of(ops::var(a)), ElementsAre(3.5));
  EXPECT_THAT(elements_of(ops::std(row)), ElementsAre(testing::DoubleEq(std::sqrt(0.5))));
  EXPECT_THAT(elements_of(ops::norm(row)), ElementsAre(1));
  EXPECT_THAT(elements_of(ops::dot(row, row)), ElementsAre(1));
  EXPECT_THAT(elements_of(ops::ones_like(row)), ElementsAre(1, 1));
  EXPECT_THAT(invalid_argument_of([&] { ops::add(a, iota_view<Vector>({3})); }),
              HasSubstr("operator+: expected shapes that broadcast"));
  EXPECT_THAT(invalid_argument_of([&] { ops::max(iota_view<Vector>({0})); }),
              HasSubstr("max: expected at least one element"));
}

// --- rules of users ------------------------------------------------------------------------------

/// Gives operators other rules while it lives.
template <class Op>
class Registered {
 public:
  Registered(Op op, const OperatorRules& rules) : op_(op) { register_sharding(op, rules); }
  ~Registered() { unregister_sharding(op_); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  Op op_;
};

std::vector<OperatorRule> only_replicate(const OperatorCall& call) {
  OperatorRule rule{Replicate(), {}};
  for (const auto& operand : call.operands)
    rule.inputs.push_back(operand.spec ? std::optional<Placement>(Replicate()) : std::nullopt);
  return {rule};
}

TEST(RegisterSharding, o13_replaces_the_rules_of_an_operator) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(line(), Shard(0), {4, 3});
  {
    const Registered registered(ops::exp, only_replicate);
    EXPECT_THAT(message_of<PlacementMismatch>([&] { ops::exp(x); }),
                HasSubstr("exp: expected placements that fit: x is S(0)"));
    const RedistributionScope scope(Redistribution::any);
    const auto y = ops::exp(x);
    EXPECT_EQ(y.placements(), Placements{Replicate()});
    EXPECT_EQ(wrong_piece(ops::log(y), GlobalIndex(x.shape())), "");
  }
  const auto y = ops::exp(x);
  EXPECT_EQ(y.placements(), Placements{Shard(0)});
}

TEST(RegisterSharding, takes_operators_by_name_and_in_a_list) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = ones<Vector>(line(), Shard(0), {4});
  const auto is_refused = [](const auto& call) {
    return message_of<PlacementMismatch>(call) != "no error";
  };
  {
    const Registered registered("sin", only_replicate);
    EXPECT_TRUE(is_refused([&] { ops::sin(x); }));
    EXPECT_FALSE(is_refused([&] { ops::cos(x); }));
  }
  register_sharding(std::tuple(ops::cos, ops::sum), only_replicate);
  EXPECT_TRUE(is_refused([&] { ops::cos(x); }));
  EXPECT_TRUE(is_refused([&] { ops::sum(x); }));
  EXPECT_FALSE(is_refused([&] { ops::sin(x); }));
  unregister_sharding(ops::cos);
  unregister_sharding(ops::sum);
  EXPECT_FALSE(is_refused([&] { ops::cos(x); }));
  EXPECT_FALSE(is_refused([&] { ops::sum(x); }));
}

TEST(RegisterSharding, names_that_no_operator_has_are_refused) {
  const std::string expected = "expected the name of an operator of the library, such as ";
  EXPECT_THAT(invalid_argument_of([] { register_sharding("sinn", only_replicate); }),
              HasSubstr(expected + "\"add\" or \"sum\", got \"sinn\""));
  EXPECT_THAT(invalid_argument_of([] { SkipDTensorDispatch("argmx"); }), HasSubstr(expected));
  EXPECT_THAT(invalid_argument_of([] { register_sharding("norm", only_replicate); }),
              HasSubstr("give the rules to \"norm_one\", \"norm_two\" or \"norm_inf\""));
}

TEST(RegisterSharding, the_three_norms_have_rules_of_their_own) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = ones<Vector>(line(), Shard(0), {4});
  const Registered registered("norm_inf", only_replicate);
  EXPECT_THAT(message_of<PlacementMismatch>([&] { ops::norm(x, Norm::inf); }),
              HasSubstr("norm: expected placements that fit"));
  const auto two = item(ops::norm(x)), one_norm = item(ops::norm(x, Norm::one));
  EXPECT_EQ(two, 2);
  EXPECT_EQ(one_norm, 4);
}

TEST(RegisterSharding, a_rule_that_lies_about_shapes_is_named) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto x = iota<Matrix>(line(), Replicate(), {4, 3});
  const Registered registered(ops::exp, [](const OperatorCall&) {
    return std::vector<OperatorRule>{{Shard(0), {Replicate()}}};
  });
  const auto lie = invalid_argument_of([&] { ops::exp(x); });

  EXPECT_THAT(lie,
              HasSubstr("exp: expected rules of operator \"exp\" under which local pieces give "
                        "a piece of"));
  EXPECT_THAT(lie, HasSubstr("(rules R -> S(0))"));
}

TEST(RegisterSharding, rules_that_do_not_fit_the_call_are_named) {
  const auto x = iota<Matrix>(line(), Replicate(), {4, 3});
  const auto message_under = [&](const OperatorRule& rule) {
    const Registered registered(
        ops::add, [&](const OperatorCall&) { return std::vector<OperatorRule>{rule}; });
    return invalid_argument_of([&] { ops::add(x, 1.0); });
  };
  EXPECT_THAT(message_under({Replicate(), {Replicate()}}),
              HasSubstr("it has 1 inputs, the call has 2 operands"));
  EXPECT_THAT(message_under({Replicate(), {Replicate(), Replicate()}}),
              HasSubstr("operand 1 is not a tensor"));
  EXPECT_THAT(message_under({Shard(2), {Replicate(), std::nullopt}}),
              HasSubstr("the result has shape (4, 3)"));
  EXPECT_THAT(message_under({Replicate(), {Shard(2), std::nullopt}}),
              HasSubstr("operand 0 has shape (4, 3)"));
  const Registered registered(ops::add,
                              [](const OperatorCall&) { return std::vector<OperatorRule>{}; });
  EXPECT_THAT(invalid_argument_of([&] { ops::add(x, 1.0); }),
              HasSubstr("expected at least one rule of operator \"add\""));
}

/// Has rules of two operands, and takes one.
struct Unary {
  static constexpr const char* name = "test_unary";
  static Extents shape(const OperatorCall& call) { return call.operands[0].spec->shape(); }
  static std::vector<OperatorRule> rules(const OperatorCall&) {
    return {{Replicate(), {Replicate(), Replicate()}}};
  }
  Matrix local(const Matrix& a) const { return a; }
};

/// Returns its operand, and says that this is a piece of the result.
struct Lying {
  static constexpr const char* name = "test_lying";
  static Extents shape(const OperatorCall& call) { return call.operands[0].spec->shape(); }
  static std::vector<OperatorRule> rules(const OperatorCall&) {
    return {{Shard(0), {Replicate()}}};
  }
  Matrix local(const Matrix& a) const { return a; }
};

/// Returns a matrix of another shape than it says.
struct Misshapen {
  static constexpr const char* name = "test_misshapen";
  static Extents shape(const OperatorCall& call) { return call.operands[0].spec->shape(); }
  static std::vector<OperatorRule> rules(const OperatorCall&) {
    return {{Replicate(), {Replicate(), std::nullopt}}};
  }
  Matrix local(const Matrix& a, double) const {
    return Matrix("misshapen", a.extent(0) + 1, a.extent(1));
  }
};

TEST(UserOperators, run_on_local_views_under_their_rules) {
  const auto x = iota<Matrix>(line(), Shard(0), {5, 3});
  const auto y = iota<Matrix>(line(), Shard(1), {5, 3});
  const auto r = iota<Matrix>(line(), Replicate(), {5, 3});
  const Traffic none;
  const auto rows = call_operator(ScaledSum{3}, x, r);
  const auto whole = call_operator(ScaledSum{-1}, r, r);
  EXPECT_EQ(none.exchanges(), 0);
  EXPECT_EQ(rows.placements(), Placements{Shard(0)});
  EXPECT_EQ(whole.placements(), Placements{Replicate()});
  EXPECT_EQ(wrong_iota(rows, 6), "");
  EXPECT_EQ(wrong_iota(whole, -2), "");
  if (world_size() == 1) return;

  EXPECT_THAT(message_of<PlacementMismatch>([&] { call_operator(ScaledSum{1}, x, y); }),
              HasSubstr("test_scaled_sum: expected placements that fit: x is S(0), y is S(1)"));
  const RedistributionScope scope(Redistribution::any);
  const CommDebugMode mode;
  const Traffic traffic;
  const auto moved = call_operator(ScaledSum{2}, x, y);
  EXPECT_EQ(traffic.exchanges(), 1);
  EXPECT_EQ(wrong_iota(moved, 4), "");
  const auto records = operators_in(mode);
  ASSERT_EQ(records.size(), 1);
  EXPECT_EQ(records[0].operation, "test_scaled_sum");
  EXPECT_TRUE(records[0].is_implicit);
}

TEST(UserOperators, that_lie_are_named) {
  const auto r = iota<Matrix>(line(), Replicate(), {4, 3});
  EXPECT_THAT(invalid_argument_of([&] { call_operator(Misshapen{}, r, 2.0); }),
              HasSubstr("test_misshapen: expected a local result of shape (4, 3)"));
  EXPECT_THAT(invalid_argument_of([&] { call_operator(Unary{}, r); }),
              HasSubstr("it has 2 inputs, the call has 1 operands"));
  if (world_size() == 1) return;
  EXPECT_THAT(invalid_argument_of([&] { call_operator(Lying{}, r); }),
              HasSubstr("test_lying: expected rules of operator \"test_lying\" under which"));
}

}  // namespace
}  // namespace tessera::test
