// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;
using Matrix = Kokkos::View<double**>;

namespace {

using docs::check;
using docs::contains;

void once(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 10});
  CommDebugMode mode;
  for (int step = 0; step < 100; ++step) redistribute(x, {Shard(1)});
  const auto counts = mode.get_comm_counts();  // 100 data movements, 1 agreement
  if (mesh.size() == 1) return;
  check(counts.at("redistribute") == 100, "data movements");
  check(counts.at("agreement") == 1, "compared once");
}

/// The page's picture.
void drawn(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {1200, 1000});
  CommDebugMode mode;
  for (int step = 0; step < 3; ++step) redistribute(x, {Shard(1)});
  mode.write_chrome_trace(mesh, "agreement.json");
}

void other_arguments(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 10});
  const bool is_first = mesh.rank() == 0;
  std::string text;
  try {
    redistribute(x, {is_first ? Placement(Replicate()) : Placement(Shard(1))});
  } catch (const InvalidArgument& error) {
    text = error.what();  // names both calls and the ranks that made them
  }
  auto y = redistribute(x, {Shard(1)});  // works
  check(mesh.size() == 1 || contains(text, "(on rank 0)"), "the ranks");
  check(y.placements() == Placements{Shard(1)}, "the next call");
}

void wrong_alone(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 10});
  const int last = mesh.size() - 1;
  std::string text;
  try {
    redistribute(x, {Shard(mesh.rank() == last ? 5 : 1)});  // there is no tensor dim 5
  } catch (const InvalidArgument& error) {
    text = error.what();  // … got S(5) (on rank 3), on every rank
  }
  check(contains(text, "got S(5)"), "the cause");
  check(mesh.size() == 1 || contains(text, "(on rank " + std::to_string(last) + ")"), "the rank");
}

Matrix fails_on_rank_0(const DeviceMesh& mesh, Matrix piece) {
  if (mesh.rank() == 0) throw std::runtime_error("no convergence");
  return piece;
}

void inside(const DeviceMesh& mesh) {
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 10});
  std::string text;
  try {
    local_map(fails_on_rank_0, {Shard(0)})(mesh, x);  // all need the sizes of all outputs
  } catch (const std::exception& error) {             // rank 0: its own; the others: Error
    text = error.what();
  }
  check(contains(text, "no convergence"), "its text, on every rank");
}

void late(const DeviceMesh& mesh) {
  const auto before = agreement(mesh);
  auto x = rand<Matrix>(mesh, {Shard(0)}, {12, 10});
  std::string text;
  set_agreement(mesh, {.timeout = 2});
  if (mesh.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(3));
  try {
    full_tensor(x);
  } catch (const Timeout& error) {  // also on rank 0, which comes too late
    text = error.what();            // names the ranks that did not come
  }
  check(mesh.size() == 1 || !text.empty(), "a timeout");
  if (mesh.rank() == 0) std::printf("%s\n", text.c_str());
  set_agreement(mesh, before);
  check(full_tensor(x).extent(0) == 12, "the next call");
}

}  // namespace

int main(int argc, char** argv) {
  ScopeGuard guard(argc, argv);
  docs::enter_folder("agreement");
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  once(mesh);
  drawn(mesh);
  other_arguments(mesh);
  wrong_alone(mesh);
  inside(mesh);
  late(mesh);
  return docs::status();
}
