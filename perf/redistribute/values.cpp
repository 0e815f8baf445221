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

/// Returns the global index of the first element of row `row` of a box, where rows are counted in
/// packed order.
std::int64_t first_of_row(const Extents& shape, const Box& box, std::int64_t row) {
  const auto strides = row_major_strides(shape);
  const auto last = shape.size() - 1;
  auto global = box.offset[last];
  for (auto d = last; d-- > 0; row /= box.shape[d])
    global += (box.offset[d] + row % box.shape[d]) * strides[d];
  return global;
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

std::optional<std::string> mistake(const Extents& shape, const Box& box, const Rule& rule,
                                   const double* data) {
  if (box.is_empty()) return {};
  const auto length = box.shape[shape.size() - 1];
  for (std::int64_t row = 0; row < box.size() / length; ++row) {
    const auto first = first_of_row(shape, box, row);
    const auto* values = data + row * length;
    if (!is_right_row(values, length, rule, first))
      return describe(values, row * length, rule, first);
  }
  return {};
}

}  // namespace

void fill_source(const Geometry& geometry, double* source) {
  const auto& box = geometry.source[geometry.self()];
  if (box.is_empty()) return;
  const auto length = box.shape[geometry.shape.size() - 1];
  for (std::int64_t row = 0; row < box.size() / length; ++row)
    fill_row(source + row * length, length, source_rule(geometry),
             first_of_row(geometry.shape, box, row));
}

void poison_target(const Geometry& geometry, double* target) {
  const auto bytes = static_cast<std::size_t>(geometry.target_size()) * sizeof(double);
  if (bytes > 0) std::memset(target, 0xff, bytes);
}

std::optional<std::string> mistake_in_source(const Geometry& geometry, const double* source) {
  return mistake(geometry.shape, geometry.source[geometry.self()], source_rule(geometry), source);
}

std::optional<std::string> mistake_in_target(const Geometry& geometry, const double* target) {
  return mistake(geometry.shape, geometry.target[geometry.self()], target_rule(geometry), target);
}

}  // namespace tessera::perf
