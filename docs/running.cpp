// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

#include "check.hpp"
using namespace tessera;

namespace {

using docs::check;
using docs::contains;

void what_was_found() {
  std::vector<std::string> warnings;
  LogScope scope([&](const LogRecord& record) { warnings.push_back(to_string(record)); });
  auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  if (mesh.rank() == 0) std::printf("%s", info(mesh).c_str());
  check(contains(info(mesh), "  nodes: "), "nodes");
  check(contains(info(mesh), "  messages: "), "device memory");
}

void dealt_out(int ranks, int nodes) {
  std::vector<int> order;  // ranks of one node side by side: 0 2 1 3 for 4 ranks on 2 nodes
  for (int node = 0; node < nodes; ++node)
    for (int rank = node; rank < ranks; rank += nodes) order.push_back(rank);
  auto mesh = DeviceMesh::from_ranks(MPI_COMM_WORLD, order, {ranks});
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  check(order[static_cast<std::size_t>(mesh.rank())] == world_rank, "positions in the list");
  if (mesh.rank() == 0) std::printf("blocks %s\n", to_string(mesh.ranks_per_node()).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  what_was_found();
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  dealt_out(ranks, 2);
  return docs::status();
}
