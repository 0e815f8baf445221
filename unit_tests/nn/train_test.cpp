// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// The example train: its digits, its network on several meshes, and its picture.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/nn/adam.hpp>
#include <tessera/nn/sgd.hpp>
#include <tessera/tessera.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"
#include "../support/xml.hpp"
#include "curve.hpp"
#include "digits.hpp"
#include "loops.hpp"
#include "network.hpp"

namespace tessera::test {
namespace {

using train::Batches, train::Digits, train::Network, train::Rows;

constexpr std::int64_t batch = 64, hidden = 128, steps = 10;
constexpr nn::SgdOptions sgd{.lr = 0.1, .momentum = 0.9};
constexpr nn::AdamOptions adam{.lr = 5e-3};
const std::string data = TRAIN_DATA;

/// Returns the meshes for which there are enough ranks.
std::vector<DeviceMesh> meshes() {
  std::vector<DeviceMesh> result;
  for (const auto& shape : std::vector<std::vector<int>>{
           {1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 1}, {1, 3}, {4, 1}, {1, 4}})
    if (const auto mesh = mesh_of(shape, {"dp", "tp"}); !mesh.is_null()) result.push_back(mesh);
  return result;
}

/// Returns the meshes that this rank is on.
std::vector<DeviceMesh> my_meshes() {
  auto result = meshes();
  std::erase_if(result, [](const DeviceMesh& mesh) { return !is_on(mesh); });
  return result;
}

DeviceMesh alone() {
  return kept_mesh("train: alone", [] {
    return init_device_mesh(MPI_COMM_SELF, {1, 1}, {"dp", "tp"});
  });
}

Digits digits_on(const DeviceMesh& mesh) {
  return train::read_digits(mesh, data + "/digits.npy", data + "/digits_labels.npy");
}

Network network_on(const DeviceMesh& mesh) {
  return train::distributed(Network(64, hidden, 7), mesh);
}

/// Returns the losses of the first steps. Collective over the mesh.
template <class Optimizer, class Options>
std::vector<double> losses_on(const DeviceMesh& mesh, const Options& options) {
  const auto batches = train::shuffled(digits_on(mesh), batch, 1);
  const auto network = network_on(mesh);
  Optimizer optimizer(network, options);
  grad::Tape tape;
  nn::watch(network, tape);
  std::vector<double> result;
  for (std::int64_t i = 0; i < steps; ++i)
    result.push_back(item(train::training_step(
        network, tape, optimizer, slice(batches.pictures, i, tessera::all, tessera::all),
        slice(batches.labels, i, tessera::all))));
  return result;
}

template <class V>
Values values_of(const DTensor<V>& tensor) {
  const auto host = on_host(tensor.to_local());
  return {host.data(), host.data() + host.size()};
}

LoopLayer layer_of(const nn::Module& module, const std::string& name) {
  const auto& weight = module.get<train::Matrix>(name + ".weight");
  using Bias = nn::Linear<train::Matrix>::Bias;
  return {static_cast<std::size_t>(weight.extent(1)),
          static_cast<std::size_t>(weight.extent(0)),
          values_of(weight),
          values_of(module.get<Bias>(name + ".bias")),
          {},
          {}};
}

/// Returns the losses of plain loops.
template <class Update>
std::vector<double> losses_of_loops(Update update) {
  const auto batches = train::shuffled(digits_on(alone()), batch, 1);
  const auto network = network_on(alone());
  LoopNetwork loops{layer_of(network.registry(), "fc1"), layer_of(network.registry(), "fc2")};
  const auto pictures = on_host(batches.pictures.to_local());
  const auto labels = on_host(batches.labels.to_local());
  std::vector<double> result;
  for (std::int64_t i = 0; i < steps; ++i) {
    const double* const x = pictures.data() + i * batch * 64;
    const std::int64_t* const t = labels.data() + i * batch;
    result.push_back(loops.step({x, x + batch * 64}, {t, t + batch}, std::ref(update)));
  }
  return result;
}

/// Returns the largest relative difference.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, std::abs(a[i] - b[i]) / std::abs(b[i]));
  return most;
}

TEST(Train, first_losses_on_all_meshes_are_those_of_plain_loops) {
  const auto expected = losses_of_loops(LoopSgd{sgd.lr, sgd.momentum});
  EXPECT_NEAR(expected.front(), std::log(10), 0.2);  // before it knows anything
  EXPECT_LT(expected.back(), expected.front());
  for (const auto& mesh : my_meshes())
    EXPECT_LE(difference(losses_on<nn::SGD>(mesh, sgd), expected), 1e-9) << to_string(mesh);
}

TEST(Train, first_losses_of_adam_on_all_meshes_are_those_of_plain_loops) {
  const auto expected = losses_of_loops(LoopAdam{adam.lr});
  for (const auto& mesh : my_meshes())
    EXPECT_LE(difference(losses_on<nn::Adam>(mesh, adam), expected), 1e-9) << to_string(mesh);
}

TEST(Train, two_trainings_on_one_mesh_give_the_same_bits) {
  for (const auto& mesh : my_meshes())
    EXPECT_EQ(losses_on<nn::SGD>(mesh, sgd), losses_on<nn::SGD>(mesh, sgd)) << to_string(mesh);
}

TEST(Train, batches_hold_the_rows_asked_for_wherever_they_are_read) {
  const auto all = digits_on(alone());
  const auto pictures = on_host(all.pictures.to_local());
  const auto labels = on_host(all.labels.to_local());
  const Rows rows{5, 1796, 0, 700, 5, 3, 900};  // the last one does not fill a batch
  for (const auto& mesh : my_meshes()) {
    const auto batches = train::batches_of(digits_on(mesh), train::in_batches(mesh, rows, 3));
    const auto x = on_host(full_tensor(batches.pictures));
    const auto t = on_host(full_tensor(batches.labels));
    EXPECT_EQ(batches.pictures.shape(), (Extents{2, 3, 64}));
    EXPECT_EQ(batches.pictures.placements(), (Placements{Shard(1), Replicate()}));
    EXPECT_EQ(batches.labels.placements(), (Placements{Shard(1), Replicate()}));
    int wrong = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      wrong += t(i / 3, i % 3) != labels(static_cast<std::size_t>(rows[i]));
      for (std::size_t j = 0; j < 64; ++j)
        wrong += x(i / 3, i % 3, j) != pictures(static_cast<std::size_t>(rows[i]), j);
    }
    EXPECT_EQ(wrong, 0) << to_string(mesh);
  }
}

TEST(Train, rows_are_held_out_by_their_number_alone) {
  EXPECT_EQ(train::split_rows(12, true), (Rows{4, 9}));
  EXPECT_EQ(train::split_rows(12, false), (Rows{0, 1, 2, 3, 5, 6, 7, 8, 10, 11}));
}

TEST(Train, a_shuffle_keeps_all_rows_and_depends_on_the_seed) {
  const auto rows = train::split_rows(100, false);
  auto first = rows, second = rows, other = rows;
  train::shuffle(first, 3);
  train::shuffle(second, 3);
  train::shuffle(other, 4);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
  EXPECT_NE(first, rows);
  std::ranges::sort(first);
  EXPECT_EQ(first, rows);
}

/// Returns the exchanges of one step after the first one. Collective over the mesh.
int exchanges_of_step(const DeviceMesh& mesh) {
  const auto batches = train::shuffled(digits_on(mesh), batch, 1);
  const auto network = network_on(mesh);
  nn::SGD optimizer(network, sgd);
  grad::Tape tape;
  nn::watch(network, tape);
  const Traffic traffic;
  train::training_step(network, tape, optimizer,
                       slice(batches.pictures, 0, tessera::all, tessera::all),
                       slice(batches.labels, 0, tessera::all));
  return traffic.exchanges();
}

TEST(Train, tensor_parallel_steps_exchange_the_logits_alone) {
  for (const auto& mesh : my_meshes()) {
    if (mesh.layout().shape()[0] > 1) continue;
    EXPECT_EQ(exchanges_of_step(mesh), mesh.size() > 1 ? 1 : 0) << to_string(mesh);
  }
}

TEST(Train, picture_is_well_formed_and_has_a_point_for_each_epoch) {
  std::vector<train::Epoch> epochs;
  for (int i = 0; i < 7; ++i) epochs.push_back({2.0 / (i + 1), 70.0 + 4 * i});
  const auto svg = train::curve_svg(epochs, "title", 95);
  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_EQ(occurrences(svg, "<circle"), 14);
  EXPECT_EQ(occurrences(svg, ">95<"), 1);
  const auto one = train::curve_svg({{0, 100}}, "title", 95);
  EXPECT_EQ(xml_problem(one), "");
  EXPECT_EQ(occurrences(one, "nan"), 0);
  EXPECT_EQ(occurrences(one, "inf"), 0);
}

TEST(Train, ticks_are_few_and_round) {
  EXPECT_DOUBLE_EQ(train::tick_distance(2.3, 5), 0.5);
  EXPECT_DOUBLE_EQ(train::tick_distance(30, 10), 5);
  EXPECT_DOUBLE_EQ(train::tick_distance(10, 5), 2);
  EXPECT_DOUBLE_EQ(train::tick_distance(0.09, 5), 0.02);
}

}  // namespace
}  // namespace tessera::test
