// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "picture/piece_grid.hpp"

namespace tessera::detail {

namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

std::vector<int> cell_of(const DTensorSpec& spec, const std::vector<int>& coordinate) {
  std::vector<int> cell;
  for (int d = 0; d < spec.tensor_dims(); ++d) cell.push_back(spec.split(at(d)).number(coordinate));
  return cell;
}

std::int64_t positions(const MeshLayout& layout, const std::vector<int>& mesh_dims) {
  std::int64_t result = 1;
  for (const int d : mesh_dims) result *= layout.shape()[at(d)];
  return result;
}

/// Sets the coordinates along `mesh_dims` to the row-major position `index`.
void move_to(std::vector<int>& coordinate, const MeshLayout& layout,
             const std::vector<int>& mesh_dims, std::int64_t index) {
  for (std::size_t k = mesh_dims.size(); k-- > 0;) {
    const int size = layout.shape()[at(mesh_dims[k])];
    coordinate[at(mesh_dims[k])] = static_cast<int>(index % size);
    index /= size;
  }
}

/// Lists the Partial placements, each op once: " P(sum)", with a space before each.
std::string partials_text(const Placements& placements) {
  std::string text;
  for (const auto& placement : placements) {
    if (!placement.is_partial()) continue;
    const auto name = fmt::format(" {}", to_string(placement));
    if (text.find(name) == std::string::npos) text += name;
  }
  return text;
}

constexpr int most_holders = 4;

}  // namespace

PartIntervals::PartIntervals(const DimSplit& split) : extent_(split.extent), parts_(split.parts()) {
  if (split.rule(0) == ShardingRule::cyclic && parts_ > 1) {
    block_ = split.block;
    count_ = extent_ / block_ + (extent_ % block_ != 0 ? 1 : 0);
    return;
  }
  for (int part = 0; part < parts_; ++part)
    for (const auto& section : split.part(part))
      list_.push_back({part, {section.begin, section.end()}});
  std::ranges::sort(list_, {}, [](const ShownPart& part) { return part.interval.begin; });
  count_ = std::ssize(list_);
}

ShownPart PartIntervals::at(std::int64_t index) const {
  if (!list_.empty()) return list_[static_cast<std::size_t>(index)];
  const auto begin = index * block_;
  return {static_cast<int>(index % parts_), {begin, begin + std::min(block_, extent_ - begin)}};
}

ShownPart PartIntervals::with(std::int64_t index) const {
  if (list_.empty()) return at(index / block_);
  return *std::ranges::upper_bound(list_, index, {},
                                   [](const ShownPart& part) { return part.interval.end; });
}

PieceGrid::PieceGrid(const DTensorSpec& spec, std::vector<WrongPiece> wrong, RankNumbers numbers)
    : spec_(spec), wrong_(std::move(wrong)), numbers_(numbers) {
  for (int d = 0; d < spec.tensor_dims(); ++d) parts_.emplace_back(spec.split(at(d)));
  for (int d = 0; d < spec.layout().ndim(); ++d) {
    if (spec.placements()[at(d)].is_replicate()) replicated_.push_back(d);
    if (spec.placements()[at(d)].is_partial()) partial_.push_back(d);
  }
  for (const auto& piece : wrong_)
    ++wrong_in_[cell_of(spec, spec.layout().coordinate(piece.mesh_rank))];
}

bool PieceGrid::has_elements() const {
  return std::ranges::none_of(parts_, [](const auto& parts) { return parts.count() == 0; });
}

bool PieceGrid::has_replicas() const {
  return positions(spec_.layout(), replicated_) > 1;
}

std::vector<ShownPart> PieceGrid::parts(int tensor_dim, int most) const {
  if (tensor_dim < 0) return {{0, {0, 1}}};
  const auto& all = parts_[at(tensor_dim)];
  std::vector<ShownPart> result;
  for (const auto i : shown_indices(all.count(), most))
    result.push_back(i < 0 ? ShownPart{-1, {}} : all.at(i));
  return result;
}

std::int64_t PieceGrid::count(int tensor_dim) const {
  return tensor_dim < 0 ? 1 : parts_[at(tensor_dim)].count();
}

std::vector<int> PieceGrid::first_coordinate(const Cell& cell) const {
  std::vector<int> result(spec_.layout().shape().size(), 0);
  for (std::size_t d = 0; d < cell.size(); ++d)
    move_to(result, spec_.layout(), spec_.split(d).mesh_dims, cell[d]);
  return result;
}

int PieceGrid::number_of(int mesh_rank) const {
  return numbers_ == RankNumbers::mesh ? mesh_rank : spec_.layout().ranks()[at(mesh_rank)];
}

int PieceGrid::first_rank(const Cell& cell) const {
  return number_of(spec_.layout().mesh_rank(first_coordinate(cell)));
}

Extents PieceGrid::shape(const Cell& cell) const {
  return spec_.local_shape(first_coordinate(cell));
}

std::string PieceGrid::rank_text(int mesh_rank) const {
  const auto found = std::ranges::lower_bound(wrong_, mesh_rank, {}, &WrongPiece::mesh_rank);
  const bool is_wrong = found != wrong_.end() && found->mesh_rank == mesh_rank;
  return fmt::format("{}{}", number_of(mesh_rank), is_wrong ? "!" : "");
}

std::string PieceGrid::contribution_text(std::vector<int> coordinate) const {
  const auto& layout = spec_.layout();
  std::string text;
  for (const auto i : shown_indices(positions(layout, replicated_), most_holders)) {
    if (!text.empty()) text += "=";
    if (i >= 0) move_to(coordinate, layout, replicated_, i);
    text += i >= 0 ? rank_text(layout.mesh_rank(coordinate)) : "…";
  }
  return text;
}

std::string PieceGrid::with_hidden_marks(const std::string& text, const Cell& cell) const {
  const auto found = wrong_in_.find(cell);
  if (found == wrong_in_.end() || std::ranges::count(text, '!') == found->second) return text;
  const std::string ellipsis = "…";
  std::string marked;
  std::size_t begin = 0;
  for (auto i = text.find(ellipsis); i != text.npos; i = text.find(ellipsis, begin)) {
    marked.append(text, begin, i + ellipsis.size() - begin);
    marked.push_back('!');
    begin = i + ellipsis.size();
  }
  return marked.append(text, begin);
}

std::string PieceGrid::holders(const Cell& cell) const {
  const auto& layout = spec_.layout();
  auto coordinate = first_coordinate(cell);
  std::string text;
  for (const auto i : shown_indices(positions(layout, partial_), most_holders)) {
    if (!text.empty()) text += has_replicas() ? " +" : "+";
    if (i >= 0) move_to(coordinate, layout, partial_, i);
    text += i >= 0 ? contribution_text(coordinate) : "…";
  }
  return with_hidden_marks(text, cell) + partials_text(spec_.placements());
}

std::string PieceGrid::empty_ranks() const {
  std::vector<int> ranks;
  const auto& layout = spec_.layout();
  bool is_any_empty = false;
  for (std::size_t d = 0; d < parts_.size(); ++d)
    is_any_empty = is_any_empty || parts_[d].count() < spec_.split(d).parts();
  for (int rank = 0; is_any_empty && rank < layout.size(); ++rank)
    if (product(spec_.local_shape(rank)) == 0) ranks.push_back(number_of(rank));
  std::ranges::sort(ranks);
  if (ranks.empty()) return "";
  return fmt::format("{} {} {} nothing", ranks.size() == 1 ? "rank" : "ranks", ranges_text(ranks),
                     ranks.size() == 1 ? "holds" : "hold");
}

std::string PieceGrid::parts_left_out(int tensor_dim, int most) const {
  const auto all = count(tensor_dim);
  if (all <= most) return "";
  return fmt::format("not shown: {} of {} parts of dim {}", all - (most - 1), all, tensor_dim);
}

}  // namespace tessera::detail
