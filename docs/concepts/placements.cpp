// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tessera/tessera.hpp>

#include "../check.hpp"
using namespace tessera;

namespace {

using docs::check;
using docs::message_of;

void chunk_rule() {
  DTensorSpec spec(MeshLayout({4}), {Shard(0)}, {10});
  spec.local_shape(3);    // (1)
  spec.global_offset(3);  // (9)
  spec.owner({5});        // 1
  check(spec.local_shape(0) == Extents{3} && spec.local_shape(3) == Extents{1}, "3, 3, 3, 1");
  check(spec.global_offset(3) == Extents{9} && spec.owner({5}) == 1, "offset and owner");
  for (int part = 0; part < 4; ++part)
    check(chunk({0, 10}, 4, part).begin == spec.global_offset(part)[0], "chunk() says the same");

  DTensorSpec sparse(MeshLayout({8}), {Shard(0)}, {10});  // 2, 2, 2, 2, 2, 0, 0, 0
  check(sparse.local_shape(4) == Extents{2} && sparse.local_shape(5) == Extents{0}, "empty pieces");
  check(sparse.global_offset(6) == Extents{10}, "their offset is the extent");
}

void several_mesh_dims() {
  MeshLayout mesh({2, 2}, {"a", "b"});
  DTensorSpec nested(mesh, {Shard(0), Shard(0)}, {10});
  DTensorSpec reversed(mesh, Placements({Shard(0), Shard(0)}, {1, 0}), {10});
  DTensorSpec by_names(mesh, by_dim(mesh, {{"b", "a"}}), {10});
  DTensorSpec from_text(mesh, parse_placements("S(0)[1], S(0)[0]"), {10});
  check(reversed == by_names && reversed == from_text, "three ways to say it");
  const std::vector<std::int64_t> offsets = {0, 3, 5, 8};
  const std::vector<int> order = {0, 2, 1, 3};
  for (int part = 0; part < 4; ++part) {
    check(nested.global_offset(part)[0] == offsets[static_cast<std::size_t>(part)], "a, then b");
    const int rank = order[static_cast<std::size_t>(part)];
    check(reversed.global_offset(rank)[0] == offsets[static_cast<std::size_t>(part)], "b, then a");
  }
  check(to_string(nested.placements()) == "S(0), S(0)", "the usual order is not said");

  DTensorSpec blocks(MeshLayout({4}), {Shard(0)}, {9});
  DTensorSpec halves(mesh, {Shard(0), Shard(0)}, {9});
  check(blocks.local_shape(3) == Extents{0} && halves.local_shape(3) == Extents{2},
        "3 3 3 0, 3 2 2 2");
}

void cuts() {
  MeshLayout mesh({4});
  DTensorSpec even(mesh, {Shard(0)}, {10}, {{0, 3, 6, 9, 10}});
  DTensorSpec uneven(mesh, {Shard(0)}, {10}, {{0, 1, 1, 6, 10}});  // 1, 0, 5 and 4 elements
  check(even == DTensorSpec(mesh, {Shard(0)}, {10}), "the chunk rule's are stored as none");
  check(uneven.local_shape(1) == Extents{0} && uneven.local_shape(2) == Extents{5}, "as told");
  check(uneven.boundaries() == Boundaries{{0, 1, 1, 6, 10}}, "kept");
}

void other_placements() {
  MeshLayout mesh({2, 2}, {"a", "b"});
  DTensorSpec replicas(mesh, {Shard(0), Replicate()}, {10});
  DTensorSpec partial(mesh, {Shard(0), Partial()}, {10});
  check(replicas.local_shape(0) == Extents{5} && replicas.local_shape(1) == Extents{5}, "both");
  check(partial.local_shape(1) == replicas.local_shape(1), "the shape of a replica");
  check(partial.owner({7}) == 2, "the lowest rank that contributes");
}

void equality() {
  DTensorSpec one(MeshLayout({2, 2}, {"a", "b"}), {Shard(0), Shard(-1)}, {10, 4});
  DTensorSpec other(MeshLayout({2, 2}), {Shard(0), Shard(1)}, {10, 4});
  check(one == other && one.hash() == other.hash(), "names do not count, dims are not negative");

  MeshLayout mesh({4, 1});
  DTensorSpec sharded(mesh, {Shard(0), Shard(1)}, {10, 4});
  DTensorSpec replicated(mesh, {Shard(0), Replicate()}, {10, 4});
  check(sharded != replicated, "alike by accident");
  check(make_plan(sharded, replicated, element_type<double>()).exchanges() == 0, "nothing moves");
}

void mistakes() {
  MeshLayout mesh({2, 2});
  check(!message_of<InvalidArgument>([&] { DTensorSpec(mesh, {Shard(0)}, {10}); }).empty(),
        "one placement for each mesh dim");
  check(!message_of<InvalidArgument>([&] {
           DTensorSpec(mesh, {Shard(0), Shard(1)}, {10});
         }).empty(),
        "no such tensor dim");
  check(!message_of<InvalidArgument>([&] {
           DTensorSpec(MeshLayout({2}), {Shard(0)}, {10}, {{0, 4, 9}});
         }).empty(),
        "boundaries end at the extent");
}

}  // namespace

int main() {
  chunk_rule();
  several_mesh_dims();
  cuts();
  other_placements();
  equality();
  mistakes();
  return docs::status();
}
