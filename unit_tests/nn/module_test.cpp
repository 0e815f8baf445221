// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// What a Module lists, and what traces show of modules.
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "modules.hpp"

namespace tessera::test {
namespace {

using nn::distribute_module;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> names_of(const std::vector<nn::ParameterInfo>& parameters) {
  std::vector<std::string> names;
  for (const auto& parameter : parameters) names.push_back(parameter.name);
  return names;
}

TEST(Module, lists_its_own_parameters_first) {
  const TwoScales model;
  EXPECT_THAT(names_of(model.registry().parameters()),
              ElementsAre("s", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"));
}

TEST(Module, describes_parameters_before_and_after_they_are_distributed) {
  const TwoScales model;
  const auto before = model.registry().parameters().at(1);
  EXPECT_EQ(before.shape, Extents({4, 3}));
  EXPECT_EQ(before.spec, DTensorSpec());
  EXPECT_EQ(before.type, element_type<double>());
  EXPECT_TRUE(before.trainable);
  EXPECT_FALSE(before.is_buffer);
  distribute_module(model, all_ranks(), ByRowsAndColumns());
  const auto after = model.registry().parameters().at(1);
  EXPECT_EQ(after.shape, Extents({4, 3}));
  EXPECT_EQ(after.spec.placements(), Placements{Shard(0)});
}

TEST(Module, lists_submodules_after_itself_and_each_once) {
  const TwoScales model;
  nn::Module outer("Outer");
  outer.register_module("a", model);
  outer.register_module("b", model);
  std::vector<std::string> names;
  for (const auto& [name, module] : outer.named_modules()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("", "a", "a.fc1", "a.fc2"));
}

TEST(Module, refuses_names_that_are_taken_or_have_dots) {
  TwoScales model;
  const auto view = iota_view<Vector>({2});
  EXPECT_EQ(invalid_argument_of([&] { model.module().register_buffer("s", view); }),
            "register_buffer: expected a new name, TwoScales has 's' already");
  EXPECT_EQ(invalid_argument_of([&] { model.module().register_parameter("fc1", view); }),
            "register_parameter: expected a new name, TwoScales has 'fc1' already");
  EXPECT_EQ(invalid_argument_of([&] { model.module().register_parameter("a.b", view); }),
            "register_parameter: expected a name that is not empty and has no dots, got 'a.b'");
  EXPECT_EQ(invalid_argument_of([&] { model.module().register_module("", Scale(1, 1)); }),
            "register_module: expected a name that is not empty and has no dots, got ''");
}

TEST(Module, refuses_a_module_that_has_it) {
  TwoScales model;
  auto inner = model.fc1().registry();
  EXPECT_THAT(invalid_argument_of([&] { inner.register_module("outer", model); }),
              StartsWith("register_module: expected a module that does not have fc1 itself"));
}

TEST(Module, refuses_parameters_after_it_is_distributed) {
  TwoScales model;
  distribute_module(model, all_ranks());
  auto inner = model.fc1().registry();
  EXPECT_THAT(
      invalid_argument_of([&] { inner.register_parameter("late", iota_view<Vector>({2})); }),
      StartsWith("register_parameter: expected a module that is not distributed yet, got fc1"));
}

TEST(Module, gets_and_sets_tensors_by_name) {
  TwoScales model;
  distribute_module(model, all_ranks());
  const auto& tensor = model.registry().get<Matrix>("fc1.weight");
  EXPECT_EQ(tensor.to_local().data(), model.fc1().weight().tensor().to_local().data());
  model.module().set("fc1.weight", ones<Matrix>(all_ranks(), Shard(1), {4, 3}));
  EXPECT_EQ(model.fc1().weight().tensor().placements(), Placements{Shard(1)});
}

TEST(Module, errors_name_what_there_is) {
  TwoScales model;
  EXPECT_EQ(invalid_argument_of([&] { model.fc1().registry().get<Matrix>("wieght"); }),
            "Module::get: expected a parameter or buffer of fc1 (weight, bias), got 'wieght'");
  EXPECT_EQ(invalid_argument_of([&] { model.fc1().registry().get<Vector>("weight"); }),
            "Module::get: expected the View type of 'weight', which has 2 dims of float64, got one "
            "with 1 of float64");
  EXPECT_EQ(invalid_argument_of([&] { model.fc1().registry().get<LeftMatrix>("weight"); }),
            "Module::get: expected the View type that 'weight' was registered with, got one of "
            "another layout, memory space or traits");
  EXPECT_EQ(
      invalid_argument_of([&] { model.fc1().registry().get<Matrix>("weight"); }),
      "Module::get: expected a module that is distributed: 'weight' is not yet a tensor; call "
      "distribute_module(module, mesh) first");
  distribute_module(model, all_ranks());
  EXPECT_THAT(invalid_argument_of([&] { model.module().place("fc1.weight", Shard(0)); }),
              StartsWith("Module::place: expected a parameter that is not distributed yet, got "
                         "'fc1.weight'"));
}

TEST(Module, computes_only_once_it_is_distributed) {
  const Scale model(2, 2);
  const auto x = ones<Matrix>(all_ranks(), Shard(0), {4, 2});
  EXPECT_THAT(invalid_argument_of([&] { model(x); }), HasSubstr("call distribute_module("));
}

TEST(Module, copies_share_parameters) {
  const TwoScales model;
  const TwoScales copy = model;
  distribute_module(model, all_ranks());
  EXPECT_EQ(copy.fc1().weight().tensor().to_local().data(),
            model.fc1().weight().tensor().to_local().data());
}

TEST(Module, hooks_run_before_and_after_the_forward_pass) {
  TwoScales model;
  distribute_module(model, all_ranks());
  std::vector<std::string> calls;
  auto inner = model.fc1().registry();
  inner.register_forward_pre_hook(
      [&](const nn::Module& module) { calls.push_back("before " + module.name()); });
  model.module().register_forward_hook(
      [&](const nn::Module& module) { calls.push_back("after " + module.name()); });
  model(ones<Matrix>(all_ranks(), Shard(0), {4, 2}));
  EXPECT_THAT(calls, ElementsAre("before fc1", "after TwoScales"));
}

TEST(Module, hooks_may_register_hooks) {
  TwoScales model;
  distribute_module(model, all_ranks());
  int calls = 0;
  model.module().register_forward_pre_hook([&model, &calls](const nn::Module&) {
    for (int i = 0; i < 20; ++i)
      model.module().register_forward_pre_hook([&calls](const nn::Module&) { ++calls; });
    calls += 100;
  });
  model(ones<Matrix>(all_ranks(), Shard(0), {4, 2}));
  EXPECT_EQ(calls, 120);
}

TEST(Module, forward_returns_a_value_where_its_function_returns_a_reference) {
  const nn::Module module("Constant");
  const std::string text = "constant";
  const auto forward = [&]() -> const std::string& { return text; };
  static_assert(std::is_same_v<decltype(module.forward(forward)), std::string>);
  EXPECT_EQ(module.forward(forward), text);
}

TEST(Module, gradients_reach_what_is_watched) {
  TwoScales model;
  model.module().register_parameter("fixed", iota_view<Vector>({2}), false);
  distribute_module(model, all_ranks(), ByRowsAndColumns());
  grad::Tape tape;
  nn::watch(model, tape);
  const auto x = ones<Matrix>(all_ranks(), Shard(0), {4, 2});
  tape.backward(ops::sum(model(x)));
  // The sum of fc2 is 28 + 1, that of x is 8.
  EXPECT_EQ(
      wrong_piece(model.fc1().weight().variable().grad(), [](const Extents&) { return 29 * 8; }),
      "");
  EXPECT_EQ(model.fc1().weight().variable().grad().placements(), Placements{Shard(0)});
  EXPECT_FALSE(detail::all_parameters(model.registry()).at(1)->gradient().has_value());
}

TEST(Module, that_several_modules_share_keeps_its_first_name) {
  const Scale shared(4, 3);
  nn::Module a("A"), b("B");
  a.register_module("first", shared);
  b.register_module("second", shared);
  EXPECT_EQ(shared.registry().name(), "first");
  EXPECT_EQ(b.parameters().at(0).name, "second.weight");
}

TEST(Module, watch_needs_a_module_that_is_distributed) {
  const TwoScales model;
  grad::Tape tape;
  EXPECT_THAT(invalid_argument_of([&] { nn::watch(model, tape); }),
              HasSubstr("call distribute_module("));
}

/// Runs the model, and its backward pass.
void run(const TwoScales& model, grad::Tape& tape) {
  const auto x = ones<Matrix>(all_ranks(), Shard(0), {4, 2});
  tape.backward(ops::sum(model(x)));
}

/// Returns the exchanges in the regions that begin with `path`.
int exchanges_in(const CommDebugMode& mode, const std::vector<std::string>& path) {
  int count = 0;
  for (const auto& record : mode.records())
    if (record.kind == TraceKind::exchange && record.region.size() >= path.size() &&
        std::equal(path.begin(), path.end(), record.region.begin()))
      ++count;
  return count;
}

TEST(ModuleTraces, forward_and_backward_are_counted_apart_by_module) {
  TwoScales model;
  distribute_module(model, all_ranks(), ByRowsAndColumns());
  grad::Tape tape;
  nn::watch(model, tape);
  const CommDebugMode mode;
  run(model, tape);
  const int one = world_size() > 1 ? 1 : 0;
  // Both modules reduce the sum of their sharded parameters; fc1 that of its bias, too.
  EXPECT_GE(exchanges_in(mode, {"forward", "TwoScales", "fc1"}), one);
  EXPECT_GE(exchanges_in(mode, {"forward", "TwoScales", "fc2"}), one);
  EXPECT_EQ(exchanges_in(mode, {"forward", "TwoScales"}),
            exchanges_in(mode, {"forward", "TwoScales", "fc1"}) +
                exchanges_in(mode, {"forward", "TwoScales", "fc2"}));
  EXPECT_EQ(mode.get_total_counts(),
            exchanges_in(mode, {"forward"}) + exchanges_in(mode, {"backward"}));
  bool has_operators = false;
  for (const auto& record : mode.records())
    has_operators |= record.kind == TraceKind::operation &&
                     record.region == std::vector<std::string>{"backward", "TwoScales", "fc1"};
  EXPECT_TRUE(has_operators);
  const auto table = mode.table(3);
  for (const auto* text : {"  forward: ", "  backward: ", "    TwoScales: ", "      fc1: "})
    EXPECT_THAT(table, HasSubstr(text));
}

TEST(ModuleTraces, parameter_info_has_shapes_and_placements) {
  TwoScales model;
  distribute_module(model, all_ranks(), ByRowsAndColumns());
  const CommDebugMode mode;
  EXPECT_TRUE(mode.get_parameter_info().empty());
  model(ones<Matrix>(all_ranks(), Shard(0), {4, 2}));
  const auto info = mode.get_parameter_info();
  EXPECT_EQ(info.size(), 5U);
  EXPECT_EQ(info.at("TwoScales.fc1.weight").shape(), Extents({4, 3}));
  EXPECT_EQ(info.at("TwoScales.fc1.weight").placements(), Placements{Shard(0)});
  EXPECT_EQ(info.at("TwoScales.s").placements(), Placements{Replicate()});
  const auto json = nlohmann::json::parse(mode.json());
  EXPECT_EQ(json["parameters"]["TwoScales.fc2.weight"]["shape"], (std::vector<int>{2, 4}));
  EXPECT_EQ(json["parameters"]["TwoScales.fc2.weight"]["placements"], "S(1)");
  EXPECT_EQ(mode.get_comm_counts().count("parameter"), 0U);
}

TEST(ModuleTraces, parameters_are_below_their_module_in_the_table_from_noise_level_1_on) {
  TwoScales model;
  distribute_module(model, all_ranks(), ByRowsAndColumns());
  const CommDebugMode mode;
  model(ones<Matrix>(all_ranks(), Shard(0), {4, 2}));
  model(ones<Matrix>(all_ranks(), Shard(0), {4, 2}));
  const auto line = "        weight: " + to_string(model.fc1().weight().tensor().spec()) + "\n";
  EXPECT_THAT(mode.table(1), HasSubstr(line));
  EXPECT_THAT(mode.table(0), Not(HasSubstr(line)));
}

TEST(ModuleTraces, modules_that_were_distributed_apart_keep_their_parameters_apart) {
  const Scale a(4, 2, "A"), b(3, 1, "B");
  nn::Module root("Root");
  for (const auto* layer : {&a, &b}) {
    distribute_module(*layer, all_ranks());
    root.register_module(layer == &a ? "a" : "b", *layer);
  }
  const CommDebugMode mode;
  const auto x = ones<Matrix>(all_ranks(), Shard(0), {4, 2});
  root.forward([&] { return b(a(x)); });
  EXPECT_EQ(mode.get_parameter_info().at("Root.a.weight").shape(), Extents({4, 2}));
  EXPECT_EQ(mode.get_parameter_info().at("Root.b.weight").shape(), Extents({3, 1}));
}

TEST(ModuleTraces, hooks_are_in_the_region_of_their_module) {
  TwoScales model;
  const auto exchange = [](const nn::Module&) {
    redistribute(ones<Matrix>(all_ranks(), Shard(0), {4, 2}), Target(Shard(1)));
  };
  model.module().register_forward_pre_hook(exchange);
  model.module().register_forward_hook(exchange);
  const auto replicated = [](const auto&, const auto& inputs, const DeviceMesh&) {
    return redistribute(std::get<0>(inputs), Target(Replicate()));
  };
  const auto by_rows = [](const auto&, const auto& outputs, const DeviceMesh&) {
    return redistribute(redistribute(outputs, Target(Shard(0))), Target(Shard(1)));
  };
  const auto hooked =
      distribute_module(model, all_ranks(), detail::NoFunction(), replicated, by_rows);
  const CommDebugMode mode;
  hooked(ones<Matrix>(all_ranks(), Shard(0), {4, 2}));
  EXPECT_EQ(exchanges_in(mode, {"forward", "TwoScales"}), mode.get_total_counts());
  EXPECT_EQ(exchanges_in(mode, {"forward", "TwoScales", "TwoScales"}), 0);
  EXPECT_EQ(mode.get_total_counts(), world_size() > 1 ? 4 : 0);
}

TEST(ModuleTraces, go_on_after_a_hook_that_throws) {
  TwoScales model;
  distribute_module(model, all_ranks());
  bool throws = true;
  model.module().register_forward_pre_hook([&](const nn::Module&) {
    if (throws) throw std::runtime_error("not yet");
  });
  const CommDebugMode mode;
  const auto x = ones<Matrix>(all_ranks(), Shard(0), {4, 2});
  EXPECT_THROW(model(x), std::runtime_error);
  throws = false;
  model(x);
  for (const auto& record : mode.records()) EXPECT_EQ(record.region.at(0), "forward");
  EXPECT_FALSE(mode.records().empty());
}

TEST(ModuleTraces, parameters_have_their_last_spec) {
  TwoScales model;
  distribute_module(model, all_ranks());
  const CommDebugMode mode;
  const auto run_in = [&](const char* region) {
    const detail::NamedRegion scope(region);
    model(ones<Matrix>(all_ranks(), Shard(0), {4, 2}));
  };
  run_in("a");
  run_in("b");
  model.module().set("s", redistribute(model.registry().get<Vector>("s"), Target(Shard(0))));
  run_in("a");
  EXPECT_EQ(mode.get_parameter_info().at("TwoScales.s").placements(), Placements{Shard(0)});
}

TEST(ModuleTraces, a_module_that_runs_again_is_listed_once) {
  const Scale frozen(4, 3);
  distribute_module(frozen, all_ranks());
  grad::Tape tape;
  const auto a = tape.watch(ones<Matrix>(all_ranks(), Shard(0), {4, 2}));
  nn::Module root("Root");
  root.register_module("inner", frozen);
  const CommDebugMode mode;
  const auto y = root.forward([&] { return grad::checkpoint(frozen, a); });
  tape.backward(ops::sum(y));
  for (const auto& [name, spec] : mode.get_parameter_info())
    EXPECT_THAT(name, StartsWith("Root.inner."));
}

/// Has a layer that communicates in both passes where the columns of its input are split.
class Normed {
 public:
  Normed() { module_.register_module("norm", norm_); }

  const nn::Module& registry() const { return module_; }
  template <class X>
  auto operator()(const X& x) const {
    return module_.forward([&] { return norm_(x); });
  }

 private:
  nn::LayerNorm<Matrix> norm_{8};
  nn::Module module_{"Normed"};
};

TEST(ModuleTraces, exchanges_of_the_backward_pass_are_in_their_module) {
  const Normed model;
  distribute_module(model, all_ranks());
  grad::Tape tape;
  const auto x = tape.watch(iota<Matrix>(all_ranks(), Shard(1), {2, 8}));
  const auto y = model(x);
  const auto dy = ones<Matrix>(all_ranks(), y.spec(), y.shape());
  const CommDebugMode mode;
  tape.backward(y, dy);
  EXPECT_EQ(exchanges_in(mode, {"backward", "Normed", "norm"}), world_size() > 1 ? 1 : 0);
  EXPECT_EQ(exchanges_in(mode, {"forward"}), 0);
  const auto json = nlohmann::json::parse(mode.json());
  int count = 0;
  for (const auto& record : json["records"])
    if (record["kind"] == "redistribute" &&
        record["region"] == nlohmann::json({"backward", "Normed", "norm"}))
      ++count;
  EXPECT_EQ(count, exchanges_in(mode, {"backward", "Normed", "norm"}));
}

}  // namespace
}  // namespace tessera::test
