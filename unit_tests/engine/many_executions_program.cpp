// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Executes one plan many times (the first argument, 100,000 by default) and, where that is many,
// fails if the process grows meanwhile. Prints what it found on rank 0. Host memory only: the driver
// of a device has memory of its own in the process.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

#include <tessera/tessera.hpp>

#include "../support/instrumented.hpp"

namespace {

using namespace tessera;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Bytes that this process has in memory.
long resident_bytes() {
  long total = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

struct Number {
  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 2>& index) const {
    return static_cast<double>(100 * index[0] + index[1]);
  }
};

bool is_right(const DTensor<Matrix>& tensor) {
  const auto view = tensor.to_local();
  const auto& offset = tensor.global_offset();
  for (std::size_t i = 0; i < view.extent(0); ++i)
    for (std::size_t j = 0; j < view.extent(1); ++j)
      if (view(i, j) != static_cast<double>(100 * (offset[0] + static_cast<std::int64_t>(i)) +
                                            offset[1] + static_cast<std::int64_t>(j)))
        return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  const long executions = argc > 1 ? std::atol(argv[1]) : 100000;
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const auto rows = from_function<Matrix>(mesh, {Shard(0)}, {37, 41}, Number());
  const auto columns = zeros<Matrix>(mesh, {Shard(1)}, {37, 41});
  const auto plan = make_plan(rows.spec(), columns.spec(), element_type<double>());
  const auto redistributor = plan.bind(mesh);
  const auto execute = [&](long times) {
    for (long i = 0; i < times; ++i) {
      redistributor.execute(rows.to_local(), columns.to_local());
      if (i % 4 == 0) redistribute(columns, {Shard(0)});
    }
  };
  execute(executions / 10);
  const long before = resident_bytes();
  execute(executions);
  const long growth = resident_bytes() - before;
  constexpr long most = 256 * 1024;
  const bool is_flat = growth <= most || executions < 100000 || test::is_instrumented;
  if (mesh.rank() == 0)
    std::printf("%ld executions: %ld bytes more, %s\n", executions, growth,
                is_right(columns) ? "right" : "wrong");
  return is_flat && is_right(columns) ? 0 : 1;
}
