// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

namespace tessera::test {
namespace {

// --- what is recorded ----------------------------------------------------------------------------

TEST(OperatorRecords, each_call_is_one_with_its_specs_and_its_rule) {
  const auto x = iota<Matrix>(line(), Shard(0), {6, 2});
  const auto on = " on (" + std::to_string(world_size()) + ")";
  const CommDebugMode mode;
  const auto y = x + x;
  const auto z = ops::sum(x * 2.0, 0);
  const auto records = operators_in(mode);

  ASSERT_EQ(records.size(), 3);
  EXPECT_EQ(records[0].operation, "add");
  EXPECT_THAT(records[0].call, HasSubstr("add of float64 (6, 2)" + on + " as S(0)"));
  EXPECT_THAT(records[0].call, HasSubstr("-> float64 (6, 2)" + on + " as S(0)"));
  EXPECT_THAT(records[1].call, HasSubstr(" and a number"));
  EXPECT_EQ(records[2].operation, "sum");
  EXPECT_THAT(records[2].call, HasSubstr("over dims (0) -> float64 (2)" + on + " as P(sum)"));
  for (const auto& record : records) {
    EXPECT_FALSE(record.is_implicit);
    EXPECT_TRUE(record.is_trivial);
    EXPECT_EQ(record.group_size, world_size());
    EXPECT_EQ(record.bytes_received, 0);
  }
  EXPECT_EQ(mode.get_total_counts(), 0);
  EXPECT_EQ(mode.get_comm_counts().at("operator"), 3);
}

TEST(OperatorRecords, what_an_operator_may_reduce_is_not_implicit) {
  const auto p = contributions<Vector>(ReduceOp::sum, {4});
  const CommDebugMode mode;
  const auto y = ops::exp(p);
  const auto records = operators_in(mode);

  ASSERT_EQ(records.size(), 1);
  EXPECT_FALSE(records[0].is_implicit);
  EXPECT_EQ(records[0].is_trivial, world_size() == 1);
  EXPECT_EQ(mode.get_total_counts(), one());
  if (world_size() > 1) {
    EXPECT_THAT(records[0].call, HasSubstr("; reduces operand 0 to "));
  }
}

/// Returns what the module ops logs while call() runs.
template <class Call>
std::vector<std::string> logged(LogLevel level, const Call& call) {
  const auto before = log_settings();
  set_log_settings({.levels = {{"ops", level}}});
  std::vector<std::string> texts;
  {
    const LogScope scope([&](const LogRecord& record) { texts.push_back(to_string(record)); });
    call();
  }
  set_log_settings(before);
  return texts;
}

TEST(OperatorRecords, new_calls_are_logged_for_debug_and_implicit_ones_for_info) {
  if (world_size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto n = 10 + world_size();  // so that no other test has made these calls
  const auto x = iota<Matrix>(line(), Shard(0), {n, 5});
  const auto y = iota<Matrix>(line(), Shard(1), {n, 5});
  const RedistributionScope scope(Redistribution::any);
  const auto info = logged(LogLevel::info, [&] {
    x * 2.0;
    x* y;
    x* y;
  });
  const auto debug = logged(LogLevel::debug, [&] { x - 2.0; });

  ASSERT_EQ(info.size(), 1);
  EXPECT_THAT(info[0], testing::StartsWith("ops: info: implicit: multiply of float64 "));
  EXPECT_THAT(info[0], HasSubstr("redistributes operand 1 to S(0)"));
  ASSERT_EQ(debug.size(), 1);
  EXPECT_THAT(debug[0], testing::StartsWith("ops: debug: subtract of float64 "));
}

TEST(OperatorRecords, explain_says_what_a_call_would_do) {
  const auto x = iota<Matrix>(line(), Shard(0), {6, 4});
  const auto y = iota<Matrix>(line(), Shard(1), {6, 4});
  const Traffic traffic;
  const auto sum = explain(ops::sum, x, Dims{0});
  const auto specs = explain<float>(ops::add, x.spec(), x.spec());
  const auto refused = explain(ops::add, x, y);

  EXPECT_EQ(traffic.exchanges() + traffic.agreements(), 0);
  EXPECT_THAT(sum, HasSubstr("as P(sum)"));
  EXPECT_THAT(specs, HasSubstr("float32 (6, 4)"));
  if (world_size() > 1) {
    EXPECT_THAT(refused, HasSubstr("operator+: expected placements that fit"));
  }
}

TEST(OperatorRecords, explain_says_what_operators_of_several_steps_would_do) {
  const auto x = iota<Matrix>(line(), Shard(0), {8, 4}).spec();

  const std::string norm = explain(ops::norm, x), largest = explain(ops::norm, x, Norm::inf);
  const std::string var = explain(ops::var, x, Dims{0}), rows = explain(ops::std, x, 1);

  EXPECT_THAT(norm, HasSubstr("; then reduces the sums of squares"));
  EXPECT_THAT(largest, testing::Not(HasSubstr("; then")));
  EXPECT_THAT(var, HasSubstr("; then reduces the means; the sums"));
  EXPECT_THAT(rows, testing::AllOf(HasSubstr("mean"), testing::Not(HasSubstr("; then"))));
}

TEST(OperatorRecords, explain_takes_dot_and_vdot) {
  const auto x = iota<Vector>(line(), Shard(0), {8}).spec();

  EXPECT_THAT(explain(ops::dot, x, x), HasSubstr("dot of float64 (8)"));
  EXPECT_THAT(explain(ops::vdot, x, x), HasSubstr("P(sum)"));
}

/// Expects that explain() says the spec of the result.
template <class Result, class Op, class... A>
void expect_explained(const Result& result, const Op& op, const A&... arguments) {
  const auto text = explain(op, arguments...);
  EXPECT_THAT(text, HasSubstr(to_string(result.spec()))) << detail::operator_name(op);
}

TEST(OperatorRecords, explain_takes_linear_algebra) {
  const auto x = iota<Matrix>(line(), Shard(1), {8, 8});
  const auto v = iota<Vector>(line(), Shard(0), {8});
  const auto row = iota<Vector>(line(), Replicate(), {8});
  const auto indices = full<VectorOf<std::int64_t>>(line(), Replicate(), {8}, 1);

  expect_explained(ops::softmax(x, 1), ops::softmax, x, 1);
  expect_explained(ops::log_softmax(x, 0), ops::log_softmax, x, 0);
  expect_explained(ops::logsumexp(x, 1), ops::logsumexp, x, 1);
  expect_explained(ops::cumsum(x, 1), ops::cumsum, x, 1);
  expect_explained(ops::matmul(x, v), ops::matmul, x, v);
  expect_explained(ops::take(x, indices, 1), ops::take, x, indices, 1);
  expect_explained(ops::diag(x, 1), ops::diag, x, 1);
  expect_explained(ops::tril(x), ops::tril, x);
  expect_explained(ops::triu(x, -1), ops::triu, x, -1);
  expect_explained(ops::outer(v, row), ops::outer, v, row);
  expect_explained(ops::cross_entropies(x, indices), ops::cross_entropies, x, indices);
  EXPECT_THAT(explain(ops::trace, x), HasSubstr("then sums it up"));
  EXPECT_THAT(explain(ops::cross_entropy, x, indices), HasSubstr("then the mean of the rows"));
  EXPECT_THAT(explain<float>(ops::matmul, x.spec(), v.spec()), HasSubstr("matmul of float32"));
  if (world_size() > 1) {
    EXPECT_THAT(explain(ops::softmax, x, 1), HasSubstr("the operator itself: 2 exchanges"));
  }
  const auto sums = contributions<Matrix>(ReduceOp::sum, {8, 8});
  EXPECT_THAT(explain(ops::cross_entropies, sums, indices), HasSubstr("reduces operand 0; then"));
}

TEST(OperatorRecords, explain_takes_operators_of_a_program) {
  const auto x = iota<Matrix>(line(), Shard(0), {8, 4}).spec();

  EXPECT_THAT(explain(ScaledSum{2}, x, x), HasSubstr("test_scaled_sum"));
  EXPECT_THAT(explain(ScaledSum{2}, x, x), HasSubstr("S(0)"));
}

/// Fills a matrix of floats with a number.
struct Scaled {
  static constexpr const char* name = "test_scaled";

  static Extents shape(const OperatorCall& call) { return call.operands[0].spec->shape(); }
  static std::vector<OperatorRule> rules(const OperatorCall&) {
    return {{Shard(0), {Shard(0), std::nullopt}}, {Replicate(), {Replicate(), std::nullopt}}};
  }
  MatrixOf<float> local(const Matrix& a, double factor) const {
    const auto result = detail::allocate<MatrixOf<float>>(detail::extents_of(a), "scaled");
    Kokkos::deep_copy(result, static_cast<float>(factor));
    return result;
  }
};

TEST(OperatorRecords, explain_takes_numbers_and_says_the_type_of_the_result) {
  const auto x = iota<Matrix>(line(), Shard(0), {8, 4});
  EXPECT_THAT(explain(Scaled(), x, 2.0), HasSubstr("a number -> float32 (8, 4)"));
}

TEST(OperatorRecords, explain_returns_the_error_of_the_call) {
  const auto x = iota<Matrix>(line(), Shard(0), {8, 4});
  const auto none = zeros<Matrix>(line(), Shard(0), {0, 4});
  const auto p = contributions<Vector>(ReduceOp::sum, {4});

  EXPECT_THAT(explain(ops::sum, x, 2), HasSubstr("sum: expected dims of a tensor with 2 dims"));
  EXPECT_THAT(explain(ops::max, none), HasSubstr("max: expected at least one element to reduce"));
  EXPECT_THAT(explain(ops::var, p, Dims{0}, 0), HasSubstr("reduces operand 0; then mean of"));
  if (world_size() > 1) {
    const auto other = iota<Matrix>(mesh_of({1, world_size()}), {Shard(0), Shard(1)}, {8, 4});
    EXPECT_THAT(explain(ops::add, x, other), HasSubstr("operator+: expected tensors on one mesh"));
  }
  const RedistributionScope strict(Redistribution::none);
  EXPECT_THAT(explain(ops::std, p), HasSubstr("std: expected a tensor that is not Partial"));
}

// --- exchanges and bytes -------------------------------------------------------------------------

/// Returns how many exchanges call() makes.
template <class Call>
int exchanges_of(const Call& call) {
  const Traffic traffic;
  call();
  return traffic.exchanges();
}

TEST(OperatorTraffic, of_each_family) {
  const auto x = iota<Matrix>(line(), Shard(0), {6, 4});
  const auto v = iota<Vector>(line(), Shard(0), {6});
  const auto p = contributions<Matrix>(ReduceOp::sum, {6, 4});
  const auto sum = ops::sum(x);
  EXPECT_EQ(exchanges_of([&] { x + x * 2.0; }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::where(x < 3.0, x, 0.0); }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::sum(x); }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::mean(x, 0); }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::norm(x, Norm::one); }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::dot(v, v); }), 0);
  EXPECT_EQ(exchanges_of([&] { ops::var(x, 1); }), 0);
  EXPECT_EQ(exchanges_of([&] { items(sum, sum, sum); }), one());
  EXPECT_EQ(exchanges_of([&] { item(sum); }), one());
  EXPECT_EQ(exchanges_of([&] { ops::exp(p); }), one());
  EXPECT_EQ(exchanges_of([&] { p* p; }), one());
  EXPECT_EQ(exchanges_of([&] { static_cast<void>(p < p); }), one());
  EXPECT_EQ(exchanges_of([&] { ops::argmax(x); }), one());
  EXPECT_EQ(exchanges_of([&] { ops::argmin(x, 0); }), one());
  EXPECT_EQ(exchanges_of([&] { ops::var(x); }), one());
  EXPECT_EQ(exchanges_of([&] { ops::std(x); }), 2 * one());
  EXPECT_EQ(exchanges_of([&] { ops::norm(x); }), one());
  EXPECT_EQ(exchanges_of([&] { equal(x, x); }), one());
  EXPECT_EQ(exchanges_of([&] { allclose(x, x); }), one());
}

TEST(OperatorTraffic, without_an_exchange_nothing_is_compared) {
  const auto x = iota<Matrix>(line(), Shard(0), {6, 4});
  const auto r = iota<Matrix>(line(), Replicate(), {6, 4});
  const Traffic traffic;
  const auto y = ops::sum((x + r) * 2.0, 0);

  EXPECT_EQ(traffic.exchanges() + traffic.agreements() + traffic.metadata(), 0);
  EXPECT_EQ(y.placements(), Placements{Partial()});
}

TEST(OperatorTraffic, results_of_reductions_over_sharded_dims_are_partial) {
  const auto x = iota<Matrix>(line(), Shard(0), {6, 4});
  EXPECT_EQ(ops::sum(x).placements(), Placements{Partial()});
  EXPECT_EQ(ops::max(x, 0).placements(), Placements{Partial(ReduceOp::max)});
  EXPECT_EQ(ops::any(x > 3.0).placements(), Placements{Partial(ReduceOp::bor)});
  EXPECT_EQ(ops::all(x > 3.0).placements(), Placements{Partial(ReduceOp::band)});
  EXPECT_EQ(ops::sum(x, 1).placements(), Placements{Shard(0)});
  EXPECT_EQ(ops::sum(iota<Matrix>(line(), Shard(1), {6, 4}), 0).placements(), Placements{Shard(0)});
}

// --- kernels, fences, allocations ----------------------------------------------------------------

/// Returns the number of kernels that the tools see for one operator: none where a single thread
/// does the work.
std::size_t kernels_of_one(std::int64_t bytes) {
  if constexpr (!host_can_access<Matrix>)
    return 1;
  else
    return detail::is_for_threads(Execution(), bytes) ? 1 : 0;
}

TEST(OperatorKernels, an_elementwise_operator_is_one_kernel_in_recycled_memory) {
  const auto x = iota<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  const auto z = iota<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  DTensor<Matrix> y;
  for (int i = 0; i < 3; ++i) y = x + z;
  const RecordedEvents seen;
  y = x + z;

  EXPECT_EQ(seen->kernels.size(), kernels_of_one(64 * 1024 * 8));
  EXPECT_THAT(seen->fences, IsEmpty());
  EXPECT_THAT(seen->allocations, IsEmpty());
  EXPECT_THAT(seen->copies, IsEmpty());
  EXPECT_EQ(wrong_iota(y, 2), "");
}

TEST(OperatorKernels, map_computes_an_expression_in_one) {
  const auto a = iota<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  const auto b = ones<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  DTensor<Matrix> y;
  for (int i = 0; i < 3; ++i) y = map(MultiplyAdd(), a, b, a);
  const RecordedEvents seen;
  y = map(MultiplyAdd(), a, b, a);

  EXPECT_EQ(seen->kernels.size(), kernels_of_one(64 * 1024 * 8));
  EXPECT_THAT(seen->fences, IsEmpty());
  EXPECT_THAT(seen->allocations, IsEmpty());
  EXPECT_EQ(wrong_iota(y, 2), "");
}

TEST(OperatorKernels, a_change_in_place_allocates_nothing) {
  const auto x = zeros<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  const auto z = iota<Matrix>(line(), Shard(0), {64 * world_size(), 1024});
  x += z;
  const RecordedEvents seen;
  x += z;

  EXPECT_EQ(seen->kernels.size(), kernels_of_one(64 * 1024 * 8));
  EXPECT_THAT(seen->fences, IsEmpty());
  EXPECT_THAT(seen->allocations, IsEmpty());
  EXPECT_EQ(wrong_iota(x, 2), "");
}

TEST(OperatorKernels, temporaries_lend_their_memory) {
  const auto x = iota<Vector>(line(), Shard(0), {1000 * world_size()});
  const RecordedEvents seen;
  const auto y = (x + x) * 2.0;

  EXPECT_EQ(seen->allocations.size(), 1);
  EXPECT_EQ(wrong_iota(y, 4), "");
}

TEST(OperatorKernels, results_that_somebody_holds_are_not_recycled) {
  const auto x = iota<Vector>(line(), Shard(0), {7});
  const auto once = x + 0.0;
  const auto twice = x * 2.0;
  const auto thrice = x * 3.0;

  EXPECT_EQ(wrong_iota(once), "");
  EXPECT_EQ(wrong_iota(twice, 2), "");
  EXPECT_EQ(wrong_iota(thrice, 3), "");
}

}  // namespace
}  // namespace tessera::test
