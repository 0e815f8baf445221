// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Public calls that read elements while a kernel still writes them. Without an execution space
// instance a call waits for the kernel; with the kernel's instance it is ordered after it.
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../io/npy_files.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "slow_kernels.hpp"

namespace tessera::test {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// One row per rank, which a kernel fills while a call already reads them.
class Filled {
 public:
  static constexpr std::int64_t columns = 1000;

  Filled() : Filled(Kokkos::Experimental::partition_space(Exec(), 1)[0]) {}
  /// The kernels run on this instance.
  explicit Filled(const Exec& exec)
      : exec_(exec), tensor_(zeros<Matrix>(mesh(), {Shard(0)}, {world_size(), columns})) {
    Kokkos::fence();
  }

  static const DeviceMesh& mesh() {
    static const auto result = mesh_of({world_size()});
    return result;
  }
  const Exec& exec() const { return exec_; }
  const DTensor<Matrix>& tensor() const { return tensor_; }
  const Matrix& view() const { return tensor_.to_local(); }
  /// The rows as one tensor with these placements.
  DTensor<Matrix> as(const Placement& placement) const {
    const auto rows = placement.is_shard() ? world_size() : 1;
    return from_local(view(), mesh(), {placement}, Extents{rows, columns});
  }

  /// Calls call(), which compares what it has read and returns what is wrong: first after a fast
  /// kernel, so that it has made its plan, then once for each rank, on which alone the kernel is slow.
  void expect_right(const char* name, const std::function<std::string()>& call) const {
    for (int rank = -1; rank < world_size(); ++rank) {
      fill_slowly(exec_, view(), rank == mesh().rank());
      EXPECT_EQ(call(), "") << name;
    }
  }

 private:
  Exec exec_;
  DTensor<Matrix> tensor_;
};

double column(const Extents& index) {
  return static_cast<double>(index[1]);
}
double column_of_all(const Extents& index) {
  return world_size() * column(index);
}
template <class V>
std::string wrong_columns(const V& view, std::int64_t rows, double (*expected)(const Extents&)) {
  return wrong_view(view, {rows, Filled::columns}, expected);
}

/// Expects all calls to be right; `exec`: that of the kernel, or none.
template <class... Instance>
void expect_calls_right(const Filled& filled, const Instance&... exec) {
  const auto& mesh = Filled::mesh();
  const auto ranks = std::int64_t{world_size()};
  const auto& tensor = filled.tensor();
  const auto then = [&](auto result) {
    (exec.fence(), ...);
    return result;
  };
  const Placements replicated{Replicate()};

  filled.expect_right("redistribute", [&] {
    return wrong_piece(then(redistribute(exec..., tensor, replicated)), column);
  });
  filled.expect_right("redistribute to the host", [&] {
    return wrong_piece(then(redistribute<HostMatrix>(exec..., tensor, replicated)), column);
  });
  filled.expect_right("redistribute_into", [&] {
    const auto target = empty<Matrix>(mesh, replicated, tensor.shape());
    redistribute_into(exec..., target, tensor);
    return wrong_piece(then(target), column);
  });
  filled.expect_right("redistribute_async", [&] {
    return wrong_piece(then(redistribute_async(exec..., tensor, replicated).wait()), column);
  });
  filled.expect_right("redistribute_all", [&] {
    return wrong_piece(then(redistribute_all(exec..., std::vector{tensor, tensor}, replicated))[1],
                       column);
  });
  filled.expect_right("redistribute without communication", [&] {
    const auto replica = filled.as(Replicate());
    return wrong_piece(then(redistribute(exec..., replica, {Shard(1)})), column);
  });
  filled.expect_right("reduce_partial", [&] {
    return wrong_piece(then(reduce_partial(exec..., filled.as(Partial()))), column_of_all);
  });
  filled.expect_right("full_tensor", [&] {
    return wrong_columns(then(full_tensor(exec..., tensor)), ranks, column);
  });
  filled.expect_right("gather_to", [&] {
    const auto gathered = then(gather_to(exec..., tensor, 0));
    return mesh.rank() == 0 ? wrong_columns(gathered, ranks, column) : "";
  });
  filled.expect_right("Redistributor", [&] {
    static const auto target = with_placements(tensor.spec(), replicated);
    static const auto redistributor = make_plan<Matrix>(tensor.spec(), target).bind(mesh);
    const auto result = empty<Matrix>(mesh, replicated, tensor.shape());
    redistributor.execute(exec..., tensor.to_local(), result.to_local());
    return wrong_piece(then(result), column);
  });
  filled.expect_right("to another mesh", [&] {
    static const auto other = mesh_of({world_size()});
    return wrong_piece(then(redistribute(exec..., tensor, other, replicated)), column);
  });
  filled.expect_right("item", [&] {
    const Kokkos::View<double, TestSpace> fifth(filled.view().data() + 5);
    const auto scalar = from_local(fifth, mesh, replicated);
    return item(exec..., scalar) == 5.0 ? "" : "wrong item";
  });
  filled.expect_right("clone", [&] { return wrong_piece(then(clone(exec..., tensor)), column); });
  filled.expect_right("from_local, checked", [&] {
    return wrong_piece(then(from_local(filled.view(), mesh, replicated, {.run_check = true})),
                       column);
  });
  for (const bool each_rank : {false, true})
    filled.expect_right("distribute_tensor", [&] {
      const Distribute options{.each_rank = each_rank};
      return wrong_piece(then(distribute_tensor(exec..., filled.view(), mesh, {Shard(1)}, options)),
                         column);
    });
  filled.expect_right("all_reduce", [&] {
    return wrong_columns(then(all_reduce(exec..., filled.view(), ReduceOp::sum, mesh, 0)), 1,
                         column_of_all);
  });
  filled.expect_right("all_gather", [&] {
    return wrong_columns(then(all_gather(exec..., filled.view(), 0, mesh, 0)), ranks, column);
  });
  filled.expect_right("all_gather_async", [&] {
    return wrong_columns(then(all_gather_async(exec..., filled.view(), 0, mesh, 0).wait()), ranks,
                         column);
  });
  filled.expect_right("broadcast", [&] {
    return wrong_columns(then(broadcast(exec..., filled.view(), 0, mesh, 0)), 1, column);
  });
  filled.expect_right("write_npy", [&] {
    const SharedPath file;
    write_npy(exec..., file.path(), tensor);
    return wrong_piece(read_npy<HostMatrix>(file.path(), mesh, replicated), column);
  });
  // local_map fences nothing: its function works on the kernel's instance.
  filled.expect_right("local_map", [&] {
    const Twice twice{filled.exec()};
    const auto mapped = local_map(twice, {Placements{Shard(0)}})(tensor);
    filled.exec().fence();
    return wrong_piece(mapped, [](const Extents& index) { return 2 * column(index); });
  });
}

/// Gives the column.
struct Column {
  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 2>& index) const {
    return static_cast<double>(index[1]);
  }
};

constexpr double sum_of_row = 0.5 * (Filled::columns - 1) * Filled::columns;

/// Doubles a number.
struct Doubled {
  KOKKOS_FUNCTION double operator()(double value) const { return 2 * value; }
};

/// Expects all operators to be right; `exec`: that of the kernel, or none if it is the default one. An
/// operator without an exchange is ordered on its instance, and fences nothing.
template <class... Instance>
void expect_operators_right(const Filled& filled, const Instance&... exec) {
  const auto& mesh = Filled::mesh();
  const auto ranks = std::int64_t{world_size()};
  const auto& tensor = filled.tensor();
  const auto then = [&](auto result) {
    filled.exec().fence();
    return result;
  };
  const auto twice = [](const Extents& index) { return 2 * column(index); };
  const auto right = [](bool is_right) { return std::string(is_right ? "" : "wrong number"); };
  const double total = static_cast<double>(ranks) * sum_of_row;

  filled.expect_right("add",
                      [&] { return wrong_piece(then(ops::add(exec..., tensor, tensor)), twice); });
  filled.expect_right("operators on results of operators", [&] {
    const auto once = ops::add(exec..., tensor, 1.0);
    return wrong_piece(then(ops::subtract(exec..., ops::multiply(exec..., once, 2.0), 2.0)), twice);
  });
  filled.expect_right("map",
                      [&] { return wrong_piece(then(map(exec..., Doubled(), tensor)), twice); });
  filled.expect_right("map_into", [&] {
    const auto target = empty_like(tensor);
    map_into(exec..., target, Doubled(), tensor);
    return wrong_piece(then(target), twice);
  });
  filled.expect_right("sum along the columns", [&] {
    return wrong_piece(then(ops::sum(exec..., tensor, KeepDims{1})),
                       [](const Extents&) { return sum_of_row; });
  });
  filled.expect_right("sum along the rows", [&] {
    const auto sums = ops::sum(exec..., tensor, KeepDims{0});
    return wrong_piece(then(reduce_partial(exec..., sums)), column_of_all);
  });
  filled.expect_right("sum of all elements",
                      [&] { return right(item(exec..., ops::sum(exec..., tensor)) == total); });
  filled.expect_right("items", [&] {
    const auto values = items(exec..., ops::sum(exec..., tensor), ops::max(exec..., tensor));
    return right(values == std::tuple(total, Filled::columns - 1.0));
  });
  filled.expect_right("items_async", [&] {
    auto values = items_async(exec..., ops::sum(exec..., tensor), ops::min(exec..., tensor));
    return right(values.wait() == std::tuple(total, 0.0));
  });
  filled.expect_right("argmax", [&] {
    return right(item(exec..., ops::argmax(exec..., tensor)) == Filled::columns - 1);
  });
  filled.expect_right("argmax along the rows", [&] {
    return wrong_piece(then(ops::argmax(exec..., tensor, KeepDims{0})),
                       [](const Extents&) { return std::int64_t{0}; });
  });
  filled.expect_right("var", [&] {
    const auto n = static_cast<double>(Filled::columns);
    return right(item(exec..., ops::var(exec..., tensor, Dims{0, 1}, 0)) == (n * n - 1) / 12);
  });
  const auto known = from_function<Matrix>(mesh, {Shard(0)}, tensor.shape(), Column());
  Kokkos::fence();
  filled.expect_right("equal", [&] { return right(equal(exec..., tensor, known)); });
  filled.expect_right("allclose", [&] { return right(allclose(exec..., tensor, known)); });
  filled.expect_right("add of contributions", [&] {
    const auto sums = filled.as(Partial());
    return wrong_piece(then(reduce_partial(exec..., ops::add(exec..., sums, sums))),
                       [&](const Extents& index) { return 2 * column_of_all(index); });
  });
  filled.expect_right("square of contributions", [&] {
    return wrong_piece(then(ops::square(exec..., filled.as(Partial()))), [](const Extents& index) {
      return column_of_all(index) * column_of_all(index);
    });
  });
  filled.expect_right("an operand that is sliced", [&] {
    const auto replica = filled.as(Replicate());
    const auto sharded = zeros<Matrix>(mesh, {Shard(1)}, replica.shape());
    return wrong_piece(then(ops::add(exec..., replica, sharded)), column);
  });
}

/// Has a weight, which begins as the rows that a kernel fills.
struct Layer {
  explicit Layer(const Matrix& values) { module.register_parameter("weight", values); }
  const nn::Module& registry() const { return module; }

  nn::Module module{"Layer"};
};

TEST(Awaited, kernels_before_calls_of_modules) {
  const Filled filled;
  const auto& mesh = Filled::mesh();
  for (const int sequence_dim : {0, 1})  // by 0, rows are where they were
    filled.expect_right("ContextParallel", [&] {
      auto x = filled.tensor();
      const nn::ContextParallel scope(
          mesh, {.buffers = {std::ref(x)}, .buffer_seq_dims = {sequence_dim}, .causal = false});
      return wrong_piece(x, column);
    });
  filled.expect_right("distribute_module", [&] {
    const Layer layer(filled.view());
    nn::distribute_module(layer, mesh);
    return wrong_piece(layer.registry().get<Matrix>("weight"), column);
  });
}

TEST(Awaited, kernels_before_operators_on_the_default_instance) {
  expect_operators_right(Filled(Exec()));
}

TEST(Awaited, kernels_before_operators_on_their_instance) {
  const Filled filled;
  expect_operators_right(filled, filled.exec());
}

TEST(Awaited, kernels_before_calls_without_an_instance) {
  expect_calls_right(Filled());
}

TEST(Awaited, kernels_before_calls_on_their_instance) {
  const Filled filled;
  expect_calls_right(filled, filled.exec());
}

}  // namespace
}  // namespace tessera::test
