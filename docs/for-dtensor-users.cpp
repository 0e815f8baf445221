// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <functional>
#include <string>

#include <tessera/tessera.hpp>

#include "check.hpp"
using namespace tessera;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight>;

namespace {

using docs::check;
using docs::contains;
using docs::message_of;
using docs::on_host;

Matrix product(Matrix w, Matrix x) {
  Matrix y("y", w.extent(0), x.extent(1));
  Kokkos::parallel_for(
      w.extent(0), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t k = 0; k < w.extent(1); ++k)
          for (std::size_t j = 0; j < x.extent(1); ++j) y(i, j) += w(i, k) * x(k, j);
      });
  return y;
}

void one_program(int dp, int tp) {
  Matrix weight("weight", 12, 8), input("input", 8, 16);
  Kokkos::deep_copy(weight, 1.0);
  Kokkos::deep_copy(input, 2.0);

  auto mesh = init_device_mesh(MPI_COMM_WORLD, {dp, tp}, {"dp", "tp"});
  auto w = distribute_tensor(weight, mesh, {Replicate(), Shard(1)});
  auto x = distribute_tensor(input, mesh, {Shard(1), Shard(0)});
  auto mm = local_map(product, {Shard(1), Partial()},
                      {{Replicate(), Shard(1)}, {Shard(1), Shard(0)}}, {.device_mesh = mesh});
  auto y = mm(w, x);
  auto z = redistribute(y, {Shard(1), Shard(0)});  // reduce_scatter along tp
  auto full = full_tensor(z);

  check(full.extent(0) == 12 && full.extent(1) == 16 && on_host(full)(11, 15) == 16, "the product");
}

void orders(int dp, int tp) {
  auto mesh = init_device_mesh(MPI_COMM_WORLD, {dp, tp}, {"dp", "tp"});
  auto plain = rand<Matrix>(mesh, {Shard(0), Shard(0)}, {8, 8});         // dp splits first
  auto strided = redistribute(plain, by_dim(mesh, {{"tp", "dp"}, {}}));  // tp splits first
  check(to_string(strided.placements()) == "S(0)[1], S(0)[0]", "FSDP over TP");
  const auto host = on_host(full_tensor(strided));
  check(host(7, 7) == on_host(full_tensor(plain))(7, 7), "gathered right");
}

void uneven(const DeviceMesh& mesh) {
  Matrix mine("mine", 2 + mesh.rank(), 3);      // 2, 3, 4, 5 rows
  auto t = from_local(mine, mesh, {Shard(0)});  // (14, 3)
  check(t.extent(0) == mesh.size() * (mesh.size() + 3) / 2, "exact, not 4 times the first");
}

void run_check(const DeviceMesh& mesh) {
  Matrix mine("mine", 2, 3);
  Kokkos::deep_copy(mine, mesh.rank());  // no replicas
  const auto text = message_of<InvalidArgument>([&] {
    from_local(mine, mesh, {Replicate()}, {.run_check = true});  // throws on every rank
  });
  check(mesh.size() == 1 || contains(text, "rank"), "names the ranks");
}

void to_partial(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 8});
  auto partial = redistribute(x, {Partial()});
  check(on_host(full_tensor(partial))(11, 7) == on_host(full_tensor(x))(11, 7), "and back");
}

void scopes(const DeviceMesh& mesh) {
  DeviceMeshScope scope(mesh);  // with mesh:
  auto x = zeros<Matrix>({Shard(0)}, {12, 8});
  check(x.device_mesh() == mesh, "the mesh of the scope");
}

void operators(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 8});
  auto centred = x - ops::mean(x, 0);
  auto norm = item(ops::norm(centred));
  auto y = ops::where(centred > 0, centred, 0.0);
  check(norm > 0 && item(ops::min(y)) == 0, "values");
  check(y.spec() == x.spec(), "by rows");
  auto erf = map(
      KOKKOS_LAMBDA(double a) { return Kokkos::erf(a); }, x);
  check(item(ops::max(erf)) < 1, "a function that ops has not");
}

void who_moves(const DeviceMesh& mesh) {
  auto rows = rand<Matrix>(mesh, {Shard(0)}, {12, 8});
  auto columns = rand<Matrix>(mesh, {Shard(1)}, {12, 8});
  std::string text;
  try {
    rows + columns;
  } catch (const PlacementMismatch& error) {
    text = error.what();  // … write redistribute(y, {Shard(0)}) …
  }
  RedistributionScope scope(Redistribution::any);  // as PyTorch does
  auto sum = rows + columns;
  check(mesh.size() == 1 || contains(text, "write redistribute("), "what to write");
  check(sum.shape() == rows.shape(), "then it moves");
}

void partials(const DeviceMesh& mesh) {
  auto x = ones<Matrix>(mesh, {Shard(0)}, {10, 8});
  const auto once = redistribute(ops::sum(x, 0) + 1);
  check(on_host(once.to_local())(3) == 11, "1 is added once");
  check(item(ops::mean(x)) == 1, "of uneven shards");
}

void descent(const DeviceMesh& mesh) {
  const auto x = ones<Matrix>(mesh, {Shard(0)}, {8, 3});
  const auto y = ones<Matrix>(mesh, {Shard(0)}, {8, 2});
  const auto weights = zeros<Matrix>(mesh, {Replicate()}, {3, 2});
  grad::Tape tape;
  auto w = tape.watch(weights);
  auto loss = ops::mean(ops::square(ops::matmul(x, w) - y));
  tape.backward(loss);        // 1 exchange: each rank has a part of the sum over the rows
  weights -= 0.1 * w.grad();  // the gradient is R, as the weights are
  const auto first = on_host(weights.to_local())(0, 0);
  check(first > 0.0999 && first < 0.1001, "a step against the gradient, which is -1");
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

using Classes = Kokkos::View<std::int64_t*, Kokkos::LayoutRight>;

void training(int dp, int tp) {
  auto mesh = init_device_mesh(MPI_COMM_WORLD, {dp, tp}, {"dp", "tp"});
  const auto x = rand<Matrix>(mesh, {Shard(0), Replicate()}, {20, 64}, {.seed = 1});
  const auto targets = zeros<Classes>(mesh, {Shard(0), Replicate()}, {20});

  auto model = nn::distribute_module(
      Mlp(), mesh, [](const std::string& name, nn::Module& module, const DeviceMesh& mesh) {
        if (name == "fc1") nn::column_parallel(module, mesh, "tp");
        if (name == "fc2") nn::row_parallel(module, mesh, "tp");
      });
  grad::Tape tape;
  nn::watch(model, tape);
  nn::Adam optimizer(model, {.lr = 1e-3});
  tape.backward(ops::cross_entropy(model(x), targets));
  optimizer.step();
  optimizer.zero_grad();

  const auto& weight = model.registry().get<Matrix>("fc1.weight");
  check(weight.placements() == Placements{Replicate(), Shard(0)}, "its rows are split along tp");
}

void layers(const DeviceMesh& mesh) {
  const auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 64});
  const auto targets = zeros<Classes>(mesh, {Shard(0)}, {12});
  nn::Linear<Kokkos::View<double**>> layer(64, 10);
  nn::distribute_module(layer, mesh);
  auto y = layer(x);
  check(y.shape() == Extents{12, 10}, "10 features");

  const auto& model = layer;
  grad::Tape tape;
  nn::watch(model, tape);
  tape.backward(ops::cross_entropy(model(x), targets));
  tape.zero_grad();
  const auto loss = [&] {
    const grad::NoRecordScope plain;
    return item(ops::cross_entropy(model(x), targets).detach());
  };
  const auto before = loss();
  nn::SGD optimizer(model, {.lr = 0.1, .momentum = 0.9});
  tape.backward(ops::cross_entropy(model(x), targets));
  optimizer.step();
  optimizer.zero_grad();
  check(loss() < before, "a step makes the loss smaller");

  nn::LayerNorm<Matrix> normalize(64);
  nn::distribute_module(normalize, mesh);
  check(normalize(x).placements() == x.placements(), "placed as its input");
}

using Heads = Kokkos::View<double****, Kokkos::LayoutRight>;

void heads(const DeviceMesh& mesh) {
  const auto q = rand<Heads>(mesh, {Shard(1)}, {2, 4, 32, 8});
  const auto k = q, v = q;
  auto y = nn::scaled_dot_product_attention(q, k, v, {.causal = true});
  check(y.spec() == q.spec(), "each rank has some of the heads");
}

void sequences(const DeviceMesh& mesh) {
  const Extents shape{2, 4, 32, 8};  // batch, head, sequence, column
  auto q = rand<Heads>(mesh, {Replicate()}, shape);
  auto k = rand<Heads>(mesh, {Replicate()}, shape);
  auto v = rand<Heads>(mesh, {Replicate()}, shape);
  const auto attend = [&] {
    nn::ContextParallel cp(
        mesh, {.buffers = {std::ref(q), std::ref(k), std::ref(v)}, .buffer_seq_dims = {2, 2, 2}});
    return nn::scaled_dot_product_attention(q, k, v, {.causal = true});  // q is HeadTail(2)
  };
  auto y = attend();  // q, k and v are Replicate again

  check(y.placements() == Placements{HeadTail(2)}, "placed as the queries were");
  check(q.placements() == Placements{Replicate()}, "restored");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  int sizes[2] = {0, 0};
  MPI_Dims_create(mesh.size(), 2, sizes);
  one_program(sizes[0], sizes[1]);
  orders(sizes[0], sizes[1]);
  uneven(mesh);
  run_check(mesh);
  to_partial(mesh);
  scopes(mesh);
  operators(mesh);
  who_moves(mesh);
  partials(mesh);
  descent(mesh);
  training(sizes[0], sizes[1]);
  layers(mesh);
  heads(mesh);
  sequences(mesh);
  return docs::status();
}
