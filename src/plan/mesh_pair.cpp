// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "plan/cells.hpp"
#include "plan/mesh_pair.hpp"

namespace tessera::detail {
namespace {

std::vector<int> united(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::ranges::sort(a);
  a.erase(std::unique(a.begin(), a.end()), a.end());
  return a;
}

/// Returns the mesh dims along which ranks hold copies.
std::vector<int> copy_dims(const DTensorSpec& spec) {
  std::vector<int> dims;
  for (int d = 0; d < spec.layout().ndim(); ++d)
    if (!spec.placements()[at(d)].is_shard()) dims.push_back(d);
  return dims;
}

/// Sets the coordinates of `dims` to those of the copy with this number, counted row-major, modulo
/// the number of copies.
void choose_copy(const MeshLayout& layout, const std::vector<int>& dims, int number,
                 std::vector<int>& coordinate) {
  for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
    const int size = layout.shape()[at(*d)];
    coordinate[at(*d)] = number % size;
    number /= size;
  }
}

/// Sets the coordinates of `dims` so that they name the copy that a target rank fetches: its own
/// copy if it has one, else the copy with this number. `own` is the rank's coordinate on the
/// source; empty off that mesh.
void choose_copy_for(const Transfer& transfer, const std::vector<int>& dims, int number,
                     std::span<const int> own, std::vector<int>& coordinate) {
  bool is_own = !own.empty();
  for (std::size_t d = 0; is_own && d < coordinate.size(); ++d)
    if (transfer.from.placements()[d].is_shard()) is_own = coordinate[d] == own[d];
  if (is_own)
    coordinate.assign(own.begin(), own.end());
  else
    choose_copy(transfer.from.layout(), dims, number, coordinate);
}

/// Returns the coordinate that the rank at `position` has on the source of the transfer; empty off
/// it.
std::vector<int> source_coordinate(const Transfer& transfer, const MeshPair& pair, int position) {
  const int rank = pair.mesh_rank(transfer.from.layout(), position);
  return rank < 0 ? std::vector<int>() : transfer.from.layout().coordinate(rank);
}

Blocks by_position(Blocks blocks, const MeshPair& pair, const MeshLayout& layout) {
  blocks.renumber([&](int peer) { return pair.position(layout, peer); });
  return blocks;
}

/// Returns the number of a target rank. It differs between ranks that need the same, and between
/// ranks that need neighbouring parts.
int number_of(const DTensorSpec& to, std::span<const int> coordinate) {
  int part = 0;
  int copy = 0;
  for (int d = 0; d < to.layout().ndim(); ++d) {
    int& number = to.placements()[at(d)].is_shard() ? part : copy;
    number = number * to.layout().shape()[at(d)] + coordinate[at(d)];
  }
  return part + copy;
}

}  // namespace

MeshPair::MeshPair(const MeshLayout& source, const MeshLayout& target)
    : source_(source), ranks_(united(source.ranks(), target.ranks())) {
  const auto number = [&](const MeshLayout& layout, Numbers& numbers) {
    numbers.by_position.assign(ranks_.size(), -1);
    for (int rank = 0; rank < layout.size(); ++rank) {
      const auto own = std::ranges::lower_bound(ranks_, layout.ranks()[at(rank)]);
      const auto position = own - ranks_.begin();
      numbers.by_position[static_cast<std::size_t>(position)] = rank;
      numbers.by_mesh_rank.push_back(static_cast<int>(position));
    }
  };
  number(source, source_numbers_);
  number(target, target_numbers_);
}

int MeshPair::mesh_rank(const MeshLayout& layout, int position) const {
  return numbers(layout).by_position[at(position)];
}

int MeshPair::position(const MeshLayout& layout, int mesh_rank) const {
  return numbers(layout).by_mesh_rank[at(mesh_rank)];
}

Piece MeshPair::piece(const DTensorSpec& spec, int position) const {
  const int rank = mesh_rank(spec.layout(), position);
  if (rank >= 0) return spec.sections(spec.layout().coordinate(rank));
  Piece nothing;
  for (const auto extent : spec.shape()) nothing.sections.emplace_back(Interval{extent, extent});
  return nothing;
}

Blocks blocks_to_receive(const Transfer& transfer, const MeshPair& pair, int position) {
  const auto& target = transfer.to.layout();
  const int rank = pair.mesh_rank(target, position);
  if (rank < 0) return {};
  const auto coordinate = target.coordinate(rank);
  if (transfer.is_on_one_mesh())
    return by_position(blocks_to_receive(transfer, coordinate), pair, target);
  Blocks blocks;
  if (!transfer.fetches(coordinate)) return blocks;
  const auto& source = transfer.from.layout();
  const auto own = source_coordinate(transfer, pair, position);
  const auto copies = copy_dims(transfer.from);
  std::vector<int> peer(source.shape().size(), 0);
  const int number = number_of(transfer.to, coordinate);
  const auto cells = Cells::of_receiver(transfer, coordinate, blocks);
  cells.for_each(peer, [&](Block block) {
    choose_copy_for(transfer, copies, number, own, peer);
    block.peer = pair.position(source, source.mesh_rank(peer));
    blocks.push_back(block);
  });
  return blocks;
}

Blocks blocks_to_send(const Transfer& transfer, const MeshPair& pair, int position) {
  const auto& source = transfer.from.layout();
  const int rank = pair.mesh_rank(source, position);
  if (rank < 0) return {};
  const auto coordinate = source.coordinate(rank);
  if (transfer.is_on_one_mesh())
    return by_position(blocks_to_send(transfer, coordinate), pair, source);
  Blocks blocks;
  const auto& target = transfer.to.layout();
  const auto copies = copy_dims(transfer.from);
  const std::vector<int> any(target.shape().size(), -1);
  std::vector<int> peer(target.shape().size(), 0);
  auto holder = coordinate;
  const auto cells = Cells::of_sender(transfer, coordinate, any, blocks);
  cells.for_each(peer, [&](Block block) {
    for_each_coordinate(target, copy_dims(transfer.to), peer, [&](int) {
      if (!transfer.fetches(peer)) return;
      const int other = pair.position(target, target.mesh_rank(peer));
      if (other == position) return;
      choose_copy_for(transfer, copies, number_of(transfer.to, peer),
                      source_coordinate(transfer, pair, other), holder);
      block.peer = other;
      if (holder == coordinate) blocks.push_back(block);
      holder = coordinate;
    });
  });
  return blocks;
}

bool communicates(const Transfer& transfer, const MeshPair& pair) {
  if (transfer.is_on_one_mesh()) return communicates(transfer);
  for (int position = 0; position < pair.size(); ++position)
    for (const auto& block : blocks_to_receive(transfer, pair, position))
      if (block.peer != position) return true;
  return false;
}

}  // namespace tessera::detail
