// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Public calls that read elements while a kernel still writes them. Without an execution space
// instance a call waits for the kernel; with the kernel's instance it is ordered after it.
#include <cstdint>
#include <functional>
#include <string>
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

  Filled()
      : exec_(Kokkos::Experimental::partition_space(Exec(), 1)[0]),
        tensor_(zeros<Matrix>(mesh(), {Shard(0)}, {world_size(), columns})) {
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

TEST(Awaited, kernels_before_calls_without_an_instance) {
  expect_calls_right(Filled());
}

TEST(Awaited, kernels_before_calls_on_their_instance) {
  const Filled filled;
  expect_calls_right(filled, filled.exec());
}

}  // namespace
}  // namespace tessera::test
