// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "values.hpp"

namespace tessera::perf {

namespace {

/// Gives an element the value factor · (global index + 1) + summand.
struct Rule {
  double factor = 1;
  double summand = 0;

  double at(std::int64_t global) const {
    return factor * (static_cast<double>(global) + 1) + summand;
  }
};

Rule source_rule(const Geometry& geometry) {
  return {1, geometry.is_reduction ? static_cast<double>(geometry.rank) : 0};
}

Rule target_rule(const Geometry& geometry) {
  if (!geometry.is_reduction) return {};
  const double contributions = geometry.ranks();
  return {contributions / geometry.divisor,
          contributions * (contributions - 1) / 2 / geometry.divisor};
}

/// Calls visit(position in the piece, length, global index of the first element) for each run of
/// elements of a piece that follow one another in the tensor, too, in memory order.
template <class Visit>
void for_each_run(const Extents& shape, const Piece& piece, const Visit& visit) {
  if (piece.is_empty()) return;
  const auto strides = row_major_strides(shape);
  const auto local = piece.shape();
  const auto last = shape.size() - 1;
  std::int64_t position = 0;
  for (std::int64_t row = 0; row < piece.size() / local[last]; ++row) {
    std::int64_t first = 0;
    auto rest = row;
    for (auto d = last; d-- > 0; rest /= local[d])
      first += piece.sections[d].global_index(rest % local[d]) * strides[d];
    for (const auto& section : piece.sections[last])
      for (std::int64_t i = 0; i < section.count; ++i) {
        const auto block = section.interval(i);
        visit(position, block.size(), first + block.begin);
        position += block.size();
      }
  }
}

void fill_row(double* row, std::int64_t length, const Rule& rule, std::int64_t first) {
  const double start = rule.at(first);
  for (int i = 0; i < static_cast<int>(length); ++i) row[i] = start + rule.factor * i;
}

bool is_right_row(const double* row, std::int64_t length, const Rule& rule, std::int64_t first) {
  const double start = rule.at(first);
  int mistakes = 0;
  for (int i = 0; i < static_cast<int>(length); ++i)
    mistakes += row[i] == start + rule.factor * i ? 0 : 1;
  return mistakes == 0;
}

std::string describe(const double* row, std::int64_t at, const Rule& rule, std::int64_t first) {
  std::int64_t i = 0;
  while (row[i] == rule.at(first + i)) ++i;
  return "expected " + std::to_string(rule.at(first + i)) + " at element " +
         std::to_string(at + i) + " of the piece, got " + std::to_string(row[i]);
}

std::optional<std::string> mistake(const Extents& shape, const Piece& piece, const Rule& rule,
                                   const double* data) {
  std::optional<std::string> result;
  for_each_run(shape, piece, [&](std::int64_t at, std::int64_t length, std::int64_t first) {
    if (!result && !is_right_row(data + at, length, rule, first))
      result = describe(data + at, at, rule, first);
  });
  return result;
}

}  // namespace

void fill_source(const Geometry& geometry, double* source) {
  for_each_run(geometry.shape, geometry.source_pieces[geometry.self()],
               [&](std::int64_t at, std::int64_t length, std::int64_t first) {
                 fill_row(source + at, length, source_rule(geometry), first);
               });
}

void poison_target(const Geometry& geometry, double* target) {
  const auto bytes = static_cast<std::size_t>(geometry.target_size()) * sizeof(double);
  if (bytes > 0) std::memset(target, 0xff, bytes);
}

std::optional<std::string> mistake_in_source(const Geometry& geometry, const double* source) {
  return mistake(geometry.shape, geometry.source_pieces[geometry.self()], source_rule(geometry),
                 source);
}

std::optional<std::string> mistake_in_target(const Geometry& geometry, const double* target) {
  return mistake(geometry.shape, geometry.target_pieces[geometry.self()], target_rule(geometry),
                 target);
}

}  // namespace tessera::perf
