// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// What distribute_module() does to parameters, and its hooks.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "modules.hpp"

namespace tessera::test {
namespace {

using nn::distribute_module;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::int64_t elements_here(const nn::Module& module) {
  std::int64_t count = 0;
  for (const auto& parameter : detail::all_parameters(module))
    count += product(parameter->data().extents);
  return count;
}

TEST(DistributeModule, m1_places_what_the_partition_function_says_and_replicates_the_rest) {
  TwoScales model;
  std::vector<std::string> names;
  const Traffic traffic;
  distribute_module(model, all_ranks(), ByRowsAndColumns{&names});
  EXPECT_EQ(traffic.exchanges(), world_size() > 1 ? 1 : 0);
  EXPECT_THAT(names, ElementsAre("", "fc1", "fc2"));
  EXPECT_EQ(model.fc1().weight().tensor().placements(), Placements{Shard(0)});
  EXPECT_EQ(model.fc1().bias().tensor().placements(), Placements{Shard(0)});
  EXPECT_EQ(model.fc2().weight().tensor().placements(), Placements{Shard(1)});
  EXPECT_EQ(model.fc2().bias().tensor().placements(), Placements{Replicate()});
  EXPECT_EQ(model.registry().get<Vector>("s").placements(), Placements{Replicate()});
  for (const auto* scale : {&model.fc1(), &model.fc2()}) {
    EXPECT_EQ(wrong_iota(scale->weight().tensor()), "");
    EXPECT_EQ(wrong_iota(scale->bias().tensor()), "");
  }
  if (world_size() <= 2) {
    EXPECT_EQ(elements_here(model.registry()), world_size() == 2 ? 16 : 28);
  }
}

TEST(DistributeModule, m2_a_second_call_throws) {
  TwoScales model;
  distribute_module(model, all_ranks());
  EXPECT_THAT(invalid_argument_of([&] { distribute_module(model, all_ranks()); }),
              HasSubstr("should only be called once on a module"));
  std::vector<std::string> names;
  EXPECT_THAT(
      invalid_argument_of([&] { distribute_module(model, all_ranks(), ByRowsAndColumns{&names}); }),
      HasSubstr("should only be called once on a module"));
  EXPECT_TRUE(names.empty());
}

TEST(DistributeModule, a_call_on_a_submodule_that_is_distributed_changes_nothing) {
  TwoScales model;
  distribute_module(model, all_ranks(), ByRowsAndColumns());
  const Traffic traffic;
  distribute_module(model.fc1(), all_ranks());
  EXPECT_EQ(traffic.exchanges(), 0);
  EXPECT_EQ(model.fc1().weight().tensor().placements(), Placements{Shard(0)});
  EXPECT_EQ(detail::all_parameters(model.registry()).at(1)->name(), "fc1.weight");
}

TEST(DistributeModule, without_a_partition_function_all_becomes_replicate) {
  TwoScales model;
  distribute_module(model, all_ranks());
  for (const auto& parameter : model.registry().parameters())
    EXPECT_EQ(parameter.spec.placements(), Placements{Replicate()}) << parameter.name;
  EXPECT_EQ(elements_here(model.registry()), 28);
}

TEST(DistributeModule, data_comes_from_rank_0_in_one_exchange) {
  const auto all = all_ranks();
  nn::Module module("Other");
  const auto mine = detail::allocate<Matrix>({5, 3}, "mine");
  Kokkos::deep_copy(mine, 7 + all.rank());
  const auto weight = module.register_parameter("weight", mine);
  const auto bias = module.register_parameter("bias", iota_view<Vector>({5}));
  const Traffic traffic;
  distribute_module(
      Holding{module}, all,
      [](const std::string&, nn::Module& it, const DeviceMesh&) { it.place("weight", Shard(1)); });
  EXPECT_EQ(traffic.exchanges(), world_size() > 1 ? 1 : 0);
  EXPECT_EQ(wrong_piece(weight.tensor(), [](const Extents&) { return 7; }), "");
  EXPECT_EQ(wrong_iota(bias.tensor()), "");
}

TEST(DistributeModule, data_may_come_from_another_rank) {
  nn::Module module("Other");
  const auto all = all_ranks();
  const auto mine = detail::allocate<Vector>({3}, "mine");
  Kokkos::deep_copy(mine, all.rank());
  const auto weight = module.register_parameter("weight", mine);
  const int last = all.size() - 1;
  distribute_module(Holding{module}, all, {}, {}, {}, {.src_rank = last});
  EXPECT_EQ(wrong_piece(weight.tensor(), [&](const Extents&) { return last; }), "");
}

TEST(DistributeModule, each_rank_takes_its_own_slice) {
  TwoScales model;
  const Traffic traffic;
  distribute_module(model, all_ranks(), ByRowsAndColumns(), {}, {}, {.each_rank = true});
  EXPECT_EQ(traffic.exchanges() + traffic.metadata() + traffic.agreements(), 0);
  EXPECT_EQ(wrong_iota(model.fc1().weight().tensor()), "");
  EXPECT_EQ(wrong_iota(model.fc2().weight().tensor()), "");
  EXPECT_EQ(wrong_iota(model.fc2().bias().tensor()), "");
}

TEST(DistributeModule, what_the_partition_function_has_set_is_left_alone) {
  TwoScales model;
  const auto all = all_ranks();
  distribute_module(model, all,
                    [&](const std::string& name, nn::Module& module, const DeviceMesh& mesh) {
                      if (name == "fc1") module.set("weight", ones<Matrix>(mesh, Shard(1), {4, 3}));
                    });
  EXPECT_EQ(model.fc1().weight().tensor().placements(), Placements{Shard(1)});
  EXPECT_EQ(wrong_piece(model.fc1().weight().tensor(), [](const Extents&) { return 1; }), "");
  EXPECT_EQ(model.fc1().bias().tensor().placements(), Placements{Replicate()});
}

TEST(DistributeModule, buffers_become_replicate) {
  nn::Module module("Counter");
  using Counts = Kokkos::View<std::int64_t*, Kokkos::LayoutRight, TestSpace>;
  module.register_buffer("counts", iota_view<Counts>({3}));
  distribute_module(Holding{module}, all_ranks());
  EXPECT_EQ(module.get<Counts>("counts").placements(), Placements{Replicate()});
  EXPECT_EQ(wrong_iota(module.get<Counts>("counts")), "");
  EXPECT_TRUE(module.parameters().at(0).is_buffer);
  EXPECT_FALSE(module.parameters().at(0).trainable);
}

TEST(DistributeModule, parameters_keep_trainable_and_get_the_name_of_their_module) {
  Scale inner(2, 2);
  inner.module().register_parameter("fixed", iota_view<Vector>({2}), false);
  nn::Module outer("Outer");
  outer.register_module("inner", inner);
  distribute_module(Holding{outer}, all_ranks());
  const auto parameters = detail::all_parameters(outer);
  EXPECT_EQ(parameters.at(0)->name(), "inner.weight");
  EXPECT_TRUE(parameters.at(0)->is_trainable());
  EXPECT_EQ(parameters.at(2)->name(), "inner.fixed");
  EXPECT_FALSE(parameters.at(2)->is_trainable());
  EXPECT_EQ(detail::trainable_parameters(outer).size(), 2U);
}

TEST(DistributeModule, takes_the_mesh_of_the_scope) {
  TwoScales model;
  const DeviceMeshScope scope(all_ranks());
  distribute_module(model, ByRowsAndColumns());
  EXPECT_EQ(model.fc1().weight().tensor().device_mesh(), all_ranks());
  TwoScales other;
  distribute_module(other);
  EXPECT_EQ(other.fc1().weight().tensor().placements(), Placements{Replicate()});
}

TEST(DistributeModule, the_partition_function_may_open_scopes_of_its_own) {
  TwoScales model;
  const DeviceMeshScope scope(all_ranks());
  distribute_module(model, [](const std::string&, nn::Module&, const DeviceMesh& mesh) {
    EXPECT_EQ(mesh, all_ranks());
    const DeviceMeshScope first(mesh), second(mesh), third(mesh), fourth(mesh);
    EXPECT_EQ(mesh, default_device_mesh());
  });
  EXPECT_EQ(wrong_iota(model.fc1().weight().tensor()), "");
}

TEST(DistributeModule, without_a_mesh_it_throws) {
  TwoScales model;
  EXPECT_THAT(invalid_argument_of([&] { distribute_module(model); }),
              StartsWith("distribute_module: "));
}

DTensor<Matrix> input() {
  return ones<Matrix>(all_ranks(), Shard(0), {4, 2});
}

TEST(DistributeModule, hooks_are_at_the_root_only) {
  TwoScales model;
  int calls = 0;
  const auto hooked = distribute_module(
      model, all_ranks(), {}, [&](const auto&, const auto&, const DeviceMesh&) { ++calls; },
      [&](const auto&, const auto&, const DeviceMesh&) { ++calls; });
  hooked(input());
  EXPECT_EQ(calls, 2);
  model(input());  // the module itself has none
  EXPECT_EQ(calls, 2);
}

/// Returns what the model makes of 1.
double factor_of(const TwoScales& model) {
  return item(ops::max(model(input())).detach());
}

TEST(DistributeModule, input_fn_replaces_inputs) {
  const TwoScales model;
  const auto one_value =
      distribute_module(model, all_ranks(), {},
                        [](const TwoScales& module, const auto& inputs, const DeviceMesh& mesh) {
                          EXPECT_EQ(module.registry().name(), "TwoScales");
                          EXPECT_EQ(mesh, all_ranks());
                          return 2 * std::get<0>(inputs);
                        });
  EXPECT_EQ(item(ops::max(one_value(input())).detach()), 2 * factor_of(model));
  const TwoScales other;
  const auto tuple = distribute_module(other, all_ranks(), {},
                                       [](const auto&, const auto& inputs, const DeviceMesh&) {
                                         return std::tuple(redistribute(std::get<0>(inputs)));
                                       });
  EXPECT_EQ(tuple(input()).placements(), Placements{Replicate()});
}

TEST(DistributeModule, output_fn_replaces_outputs) {
  const TwoScales model;
  const auto hooked = distribute_module(model, all_ranks(), {}, {},
                                        [](const auto&, const auto& outputs, const DeviceMesh&) {
                                          return redistribute(outputs.detach());
                                        });
  EXPECT_EQ(hooked(input()).placements(), Placements{Replicate()});
}

TEST(DistributeModule, hooks_that_return_nothing_leave_values_alone) {
  const TwoScales model;
  const auto nothing = [](const auto&, const auto&, const DeviceMesh&) {};
  const auto hooked = distribute_module(model, all_ranks(), {}, nothing, nothing);
  EXPECT_EQ(item(ops::max(hooked(input())).detach()), factor_of(model));
  EXPECT_EQ(hooked(input()).placements(), Placements{Shard(0)});
}

TEST(DistributeModule, hooks_of_two_arguments_are_deprecated) {
  const TwoScales model;
  std::vector<std::string> texts;
  const LogScope scope([&](const LogRecord& record) { texts.push_back(to_string(record)); });
  const auto hooked = distribute_module(
      model, all_ranks(), {},
      [](const auto& inputs, const DeviceMesh&) { return 2 * std::get<0>(inputs); },
      [](const auto& outputs, const DeviceMesh&) { return 2 * outputs; });
  const auto y = hooked(input());
  EXPECT_EQ(item(ops::max(y).detach()), 4 * factor_of(model));
  hooked(input());  // warns no more
  EXPECT_THAT(texts,
              ElementsAre("nn: warning: distribute_module: an input_fn that takes (inputs, "
                          "mesh) is deprecated: take (module, inputs, mesh)",
                          "nn: warning: distribute_module: an output_fn that takes (outputs, "
                          "mesh) is deprecated: take (module, outputs, mesh)"));
}

TEST(DistributeModule, returns_the_module) {
  const TwoScales model;
  const TwoScales same = distribute_module(model, all_ranks());
  EXPECT_EQ(same.fc1().weight().tensor().to_local().data(),
            model.fc1().weight().tensor().to_local().data());
  const TwoScales other;
  const auto hooked =
      distribute_module(other, all_ranks(), {}, [](const auto&, const DeviceMesh&) {});
  EXPECT_EQ(hooked.module().fc1().weight().tensor().to_local().data(),
            other.fc1().weight().tensor().to_local().data());
}

TEST(DistributeModule, errors_of_placements_name_the_parameter_and_change_nothing) {
  TwoScales model;
  const auto place = [](const Target& target) {
    return [target](const std::string& name, nn::Module& module, const DeviceMesh&) {
      if (name == "fc1") module.place("weight", target);
    };
  };
  EXPECT_THAT(invalid_argument_of([&] { distribute_module(model, all_ranks(), place(Partial())); }),
              StartsWith("distribute_module: fc1.weight: expected Shard and Replicate"));
  EXPECT_THAT(invalid_argument_of([&] { distribute_module(model, all_ranks(), place(Shard(5))); }),
              StartsWith("distribute_module: fc1.weight: "));
  distribute_module(model, all_ranks());
  EXPECT_EQ(model.fc1().weight().tensor().placements(), Placements{Replicate()});
}

TEST(DistributeModule, what_the_partition_function_throws_all_ranks_throw) {
  TwoScales model;
  const auto last = world_size() - 1;
  const auto partition = [&](const std::string& name, nn::Module& module, const DeviceMesh& mesh) {
    if (name == "fc1" && mesh.rank() == last) throw InvalidArgument("no way");
    if (name == "fc2") module.place("weight", Shard(0));
  };
  EXPECT_THAT(invalid_argument_of([&] { distribute_module(model, all_ranks(), partition); }),
              HasSubstr("no way"));
  // The ranks have placed different parameters; the next call begins anew.
  distribute_module(model, all_ranks(), ByRowsAndColumns());
  EXPECT_EQ(wrong_iota(model.fc1().weight().tensor()), "");
}

TEST(DistributeModule, an_error_of_a_local_call_within_is_an_error_of_all_ranks) {
  TwoScales model;
  const int last = world_size() - 1;
  const auto partition = [&](const std::string& name, nn::Module& module, const DeviceMesh& mesh) {
    if (name != "fc1") return;
    const auto view = iota_view<Matrix>({mesh.rank() == last ? 3 : 4, 3});
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(mesh.size()), 0);
    sizes.front() = 4;
    module.set("weight", distribute_tensor(view, mesh, Sizes(0, sizes), {.each_rank = true}));
  };
  EXPECT_THAT(invalid_argument_of([&] { distribute_module(model, all_ranks(), partition); }),
              HasSubstr("distribute_tensor: "));
}

TEST(DistributeModule, ranks_that_place_differently_throw_together) {
  TwoScales model;
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto partition = [](const std::string& name, nn::Module& module, const DeviceMesh& mesh) {
    if (name == "fc1")
      module.place("weight", mesh.rank() == 0 ? Target(Shard(0)) : Target(Shard(1)));
  };
  const auto text = message_of<Error>([&] { distribute_module(model, all_ranks(), partition); });
  EXPECT_THAT(text, HasSubstr("fc1.weight"));
}

TEST(DistributeModule, works_on_meshes_of_two_dims_and_on_part_of_the_ranks) {
  const auto mesh = mesh_of({2, 2}, {"dp", "tp"});
  if (mesh.is_null()) GTEST_SKIP() << "needs 4 ranks";
  TwoScales model;
  distribute_module(model, mesh,
                    [](const std::string& name, nn::Module& module, const DeviceMesh&) {
                      if (name == "fc1") module.place("weight", {Replicate(), Shard(0)});
                      if (name == "fc2") module.place("weight", {Shard(1), Shard(0)});
                    });
  EXPECT_EQ(wrong_iota(model.fc1().weight().tensor()), "");
  EXPECT_EQ(wrong_iota(model.fc2().weight().tensor()), "");
  const auto pair = mesh_of({2});
  TwoScales other;
  distribute_module(other, pair, ByRowsAndColumns());
  EXPECT_EQ(wrong_iota(other.fc1().weight().tensor()), "");
  EXPECT_EQ(wrong_iota(other.fc2().bias().tensor()), "");
}

}  // namespace
}  // namespace tessera::test
