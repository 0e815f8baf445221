// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <string>
#include <tuple>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Matrix = Kokkos::View<double**>;
using Labels = Kokkos::View<std::int64_t*>;
using Vector = Kokkos::View<double*>;
using Tensor4 = Kokkos::View<double****>;

/// Gives row i the label i mod 10.
struct LabelOfRow {
  KOKKOS_FUNCTION std::int64_t operator()(const Kokkos::Array<std::int64_t, 1>& row) const {
    return row[0] % 10;
  }
};

namespace {

using docs::check;
using docs::contains;

/// `count` on several ranks; one exchanges nothing.
std::int64_t on(const DeviceMesh& mesh, std::int64_t count) {
  return mesh.size() > 1 ? count : 0;
}

class Mlp {
 public:
  Mlp() { module_.register_module("fc1", fc1_), module_.register_module("fc2", fc2_); }
  const nn::Module& registry() const { return module_; }

  template <class X>
  auto operator()(const X& x) const {
    return module_.forward([&] { return fc2_(ops::relu(fc1_(x))); });
  }

 private:
  nn::Linear<Matrix> fc1_{64, 32}, fc2_{32, 10};
  nn::Module module_{"Mlp"};
};

/// Returns a mesh (dp, tp), with two ranks along tp if their number is even.
DeviceMesh make_mesh() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int tp = ranks % 2 == 0 ? 2 : 1;
  return init_device_mesh(MPI_COMM_WORLD, {ranks / tp, tp}, {"dp", "tp"});
}

Mlp distributed(const DeviceMesh& mesh) {
  auto model = nn::distribute_module(
      Mlp(), mesh, [](const std::string& name, nn::Module& module, const DeviceMesh& mesh) {
        if (name == "fc1") nn::column_parallel(module, mesh, "tp");
        if (name == "fc2") nn::row_parallel(module, mesh, "tp");
      });
  return model;
}

void placements(const DeviceMesh& mesh) {
  CommDebugMode mode;
  auto model = distributed(mesh);
  check(mode.get_total_counts() <= 1, "one exchange for all parameters");

  std::string text;
  for (const auto& parameter : model.registry().parameters())
    text += parameter.name + ": " + to_string(parameter.spec) + "\n";
  check(contains(text, "fc1.weight: (32, 64) on " + to_string(mesh) + " as R, S(0)"), "by rows");
  check(contains(text, "fc2.weight: (10, 32) on " + to_string(mesh) + " as R, S(1)"), "by columns");
  check(contains(text, "fc2.bias: (10) on " + to_string(mesh) + " as R, R"), "replicated");

  auto weight = model.registry().get<Matrix>("fc1.weight");  // a DTensor
  check(weight.placements() == Placements{Replicate(), Shard(0)}, "a tensor");
}

void training(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0), Replicate()}, {120, 64});
  auto targets = from_function<Labels>(mesh, {Shard(0), Replicate()}, {120}, LabelOfRow());
  auto model = distributed(mesh);
  const auto loss_now = [&] { return item(ops::cross_entropy(model(x), targets).detach()); };
  const double first = loss_now();
  {
    grad::Tape tape;
    nn::watch(model, tape);
    nn::SGD optimizer(model, {.lr = 0.1, .momentum = 0.9});
    for (int step = 0; step < 50; ++step) {
      auto loss = ops::cross_entropy(model(x), targets);
      tape.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
    }
  }
  check(std::abs(first - std::log(10)) < 0.3 && loss_now() < first, "it learns");

  const auto other = distributed(mesh);
  grad::Tape tape;
  nn::watch(other, tape);
  nn::Adam optimizer(other, {.lr = 1e-3});
  tape.backward(ops::cross_entropy(other(x), targets));
  auto gradient = other.registry().get<Matrix>("fc1.weight");
  const auto before = clone(gradient);
  optimizer.step();
  check(item(ops::max(ops::abs(gradient - before))) > 0, "a step of Adam");
}

void counting(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0), Replicate()}, {120, 64});
  auto targets = from_function<Labels>(mesh, {Shard(0), Replicate()}, {120}, LabelOfRow());
  auto model = distributed(mesh);
  grad::Tape tape;
  nn::watch(model, tape);

  CommDebugMode mode;
  tape.backward(ops::cross_entropy(model(x), targets));
  std::string table = mode.table(1);
  auto of_weight = mode.get_parameter_info().at("Mlp.fc1.weight");  // a DTensorSpec

  check(mesh.size() == 1 || contains(table, "backward"), "regions");
  check(of_weight.shape() == Extents{32, 64}, "parameters");
}

void hooks(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, all_replicate, {120, 64});
  auto by_rows = [](const auto& /*module*/, const auto& inputs, const DeviceMesh& mesh) {
    return redistribute(std::get<0>(inputs), by_dim(mesh, {{"dp"}, {}}));  // replaces the input
  };
  auto reduced = [](const auto& /*module*/, const auto& outputs, const DeviceMesh& mesh) {
    return grad::redistribute(outputs, by_dim(mesh, {{"dp"}, {}}));  // a Partial is summed up
  };
  auto tensor_parallel = [](const std::string& name, nn::Module& module, const DeviceMesh& mesh) {
    if (name == "fc1") nn::column_parallel(module, mesh, "tp");
    if (name == "fc2") nn::row_parallel(module, mesh, "tp");
  };
  auto model = nn::distribute_module(Mlp(), mesh, tensor_parallel, by_rows, reduced);
  auto y = model(x);
  check(y.placements() == Placements{Shard(0), Replicate()}, "hooks");
}

/// Normalizes its input, and scales it by a number for each feature.
class Scale {
 public:
  explicit Scale(const Vector& values) : weight_(module_.register_parameter("weight", values)) {
    module_.register_module("norm", norm_);
  }
  const nn::Module& registry() const { return module_; }

  template <class X>
  auto operator()(const X& x) const {
    return module_.forward([&] { return norm_(x) * weight_.variable(); });
  }

 private:
  nn::Module module_{"Scale"};
  nn::Parameter<Vector> weight_;
  nn::LayerNorm<Vector> norm_{64};
};

void parameters_of_your_own(const DeviceMesh& mesh) {
  Vector values("values", 64);
  Kokkos::deep_copy(values, 2.0);
  auto layer = nn::distribute_module(Scale(values), mesh);
  auto y = layer(rand<Matrix>(mesh, all_replicate, {12, 64}));
  const double mean = item(ops::mean(ops::square(y.detach())));
  check(std::abs(mean - 4) < 1e-2, "variance 1, times 2");
}

void long_sequences() {
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  auto q =
      rand<Tensor4>(mesh, Shard(2), {2, 4, 96, 16}, {.seed = 1});  // batch, head, sequence, column
  auto k = rand<Tensor4>(mesh, Shard(2), {2, 4, 96, 16}, {.seed = 2});
  auto v = rand<Tensor4>(mesh, Shard(2), {2, 4, 96, 16}, {.seed = 3});
  const auto on_all = [](const auto& x) { return redistribute(x); };
  const auto expected =
      nn::scaled_dot_product_attention(on_all(q), on_all(k), on_all(v), {.causal = true});
  DTensor<Tensor4> y;
  CommDebugMode mode;
  {
    nn::ContextParallel cp(mesh, {.buffers = {std::ref(q), std::ref(k), std::ref(v)},
                                  .buffer_seq_dims = {2, 2, 2}});     // 1 exchange
    y = nn::scaled_dot_product_attention(q, k, v, {.causal = true});  // n - 1 exchanges
  }
  check(mode.get_total_counts() == on(mesh, mesh.size()), "a ring");
  check(q.placements() == Placements{Shard(2)}, "restored");
  check(y.placements() == Placements{HeadTail(2)}, "stays");
  check(item(ops::max(ops::abs(redistribute(y) - expected))) < 1e-12, "as on one rank");
}

void attention_gradients() {
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const Extents shape{1, 2, 48, 8};
  grad::Tape tape;
  auto q = tape.watch(rand<Tensor4>(mesh, HeadTail(2), shape, {.seed = 1}));
  auto k = tape.watch(rand<Tensor4>(mesh, HeadTail(2), shape, {.seed = 2}));
  auto v = tape.watch(rand<Tensor4>(mesh, HeadTail(2), shape, {.seed = 3}));
  auto y = nn::scaled_dot_product_attention(q, k, v, {.causal = true});
  CommDebugMode mode;
  tape.backward(ops::sum(ops::square(y)));  // n exchanges
  check(mode.get_total_counts() == on(mesh, mesh.size()), "backward ring");
  check(q.grad().placements() == Placements{HeadTail(2)}, "gradients");
}

void errors(const DeviceMesh& mesh) {
  std::string text;
  auto model = distributed(mesh);
  try {
    nn::distribute_module(model, mesh);
  } catch (const InvalidArgument& error) {  // on every rank
    text = error.what();
  }
  check(contains(text, "should only be called once on a module"), "twice");
  const auto early = docs::message_of<InvalidArgument>([&] {
    Mlp()(rand<Matrix>(mesh, all_replicate, {4, 64}));
  });
  check(contains(early, "distribute_module"), "not distributed");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = make_mesh();
  placements(mesh);
  training(mesh);
  counting(mesh);
  hooks(mesh);
  parameters_of_your_own(mesh);
  long_sequences();
  attention_gradients();
  errors(mesh);
  return docs::status();
}
