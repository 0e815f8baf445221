// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "random_case.hpp"

namespace tessera::test {

/// Returns the contribution to the element at a flat global index; `contribution` numbers the
/// combinations of coordinates on the Partial mesh dims. Contributions and results are small
/// integers, exact in every element type.
inline std::int64_t contribution_value(std::int64_t flat, int contribution, ReduceOp op) {
  const auto mixed = (flat * 7 + contribution * 13 + flat * contribution * 3) % 11;
  if (op == ReduceOp::product) return mixed % 3 == 0 ? 2 : 1;
  return mixed;
}

inline std::int64_t combine(ReduceOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case ReduceOp::product:
      return a * b;
    case ReduceOp::min:
      return std::min(a, b);
    case ReduceOp::max:
      return std::max(a, b);
    case ReduceOp::band:
      return a & b;
    case ReduceOp::bor:
      return a | b;
    case ReduceOp::bxor:
      return a ^ b;
    default:
      return a + b;
  }
}

/// Describes the reduction over the Partial mesh dims of a spec: which dims they are, how they
/// combine, and what the result is divided by.
struct PartialRule {
  std::vector<int> mesh_dims;
  ReduceOp op = ReduceOp::sum;
  int contributions = 1;
  std::int64_t divisor = 1;

  explicit PartialRule(const DTensorSpec& spec) {
    for (int d = 0; d < spec.layout().ndim(); ++d) {
      const auto& placement = spec.placements()[static_cast<std::size_t>(d)];
      if (!placement.is_partial()) continue;
      const int size = spec.layout().shape()[static_cast<std::size_t>(d)];
      mesh_dims.push_back(d);
      contributions *= size;
      if (placement.op() == ReduceOp::avg) divisor *= size;
      op = placement.op() == ReduceOp::avg ? ReduceOp::sum : placement.op();
    }
  }

  int contribution_of(const DTensorSpec& spec, const std::vector<int>& coordinate) const {
    int contribution = 0;
    for (const int d : mesh_dims)
      contribution = contribution * spec.layout().shape()[static_cast<std::size_t>(d)] +
                     coordinate[static_cast<std::size_t>(d)];
    return contribution;
  }
};

/// Returns the value of the logical tensor before the division, from the contributions under
/// `rule`.
inline std::int64_t logical_value(const PartialRule& rule, std::int64_t flat) {
  auto value = contribution_value(flat, 0, rule.op);
  for (int contribution = 1; contribution < rule.contributions; ++contribution)
    value = combine(rule.op, value, contribution_value(flat, contribution, rule.op));
  return value;
}

inline std::int64_t flat_index(const Extents& shape, const Extents& index) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return flat;
}

template <class T>
void store_as(std::byte* data, double value) {
  const T typed = static_cast<T>(value);
  std::memcpy(data, &typed, sizeof(T));
}

template <class T>
double load_as(const std::byte* data) {
  T typed;
  std::memcpy(&typed, data, sizeof(T));
  return static_cast<double>(typed);
}

inline void store(std::byte* data, ElementType type, double value) {
  switch (type.kind) {
    case ElementKind::float32:
      return store_as<float>(data, value);
    case ElementKind::int32:
      return store_as<std::int32_t>(data, value);
    case ElementKind::int64:
      return store_as<std::int64_t>(data, value);
    case ElementKind::uint16:
      return store_as<std::uint16_t>(data, value);
    case ElementKind::complex128:
      store_as<double>(data, value);
      return store_as<double>(data + 8, 0.0);
    default:
      store_as<double>(data, value);
      for (int offset = 8; offset < type.size; offset += 8) store_as<double>(data + offset, -value);
  }
}

/// Returns the element at `data`; NaN if the parts of a struct do not belong together.
inline double load(const std::byte* data, ElementType type) {
  switch (type.kind) {
    case ElementKind::float32:
      return load_as<float>(data);
    case ElementKind::int32:
      return load_as<std::int32_t>(data);
    case ElementKind::int64:
      return static_cast<double>(load_as<std::int64_t>(data));
    case ElementKind::uint16:
      return load_as<std::uint16_t>(data);
    case ElementKind::complex128:
      return load_as<double>(data);
    default:
      for (int offset = 8; offset < type.size; offset += 8)
        if (load_as<double>(data + offset) != -load_as<double>(data)) return std::nan("");
      return load_as<double>(data);
  }
}

/// Fills this rank's piece of the source with its contributions.
inline void fill_source(const DTensorSpec& spec, int mesh_rank, const StridedArray& piece) {
  const auto coordinate = spec.layout().coordinate(mesh_rank);
  const PartialRule rule(spec);
  const int contribution = rule.contribution_of(spec, coordinate);
  for_each_element(spec.sections(coordinate), [&](const Extents& index, const Extents& local) {
    const auto value = contribution_value(flat_index(spec.shape(), index), contribution, rule.op);
    store(piece.element(local), piece.array().type, static_cast<double>(value));
  });
}

/// Returns the value that the target tensor must have at a flat index, as its element type holds
/// it.
inline double expected_value(const RandomCase& random, std::int64_t flat) {
  const PartialRule rule(random.source);
  const auto value = logical_value(rule, flat);
  if (is_integer(random.type.kind)) return static_cast<double>(value / rule.divisor);
  return static_cast<double>(value) / static_cast<double>(rule.divisor);
}

/// Returns the values of the target tensor at `index`, reduced in double over the Partial mesh
/// dims: one value for each combination of coordinates on the other mesh dims whose piece has that
/// index. value_at(mesh_rank, index) returns what a rank holds.
template <class ValueAt>
std::vector<double> reduced_values(const DTensorSpec& target, const Extents& index,
                                   const ValueAt& value_at) {
  const PartialRule rule(target);
  std::vector<double> result;
  const auto& layout = target.layout();
  for (int rank = 0; rank < layout.size(); ++rank) {
    auto coordinate = layout.coordinate(rank);
    if (rule.contribution_of(target, coordinate) != 0) continue;
    if (!local_index(target.sections(coordinate), index)) continue;
    std::vector<double> contributions;
    for (int other = 0; other < layout.size(); ++other) {
      auto candidate = layout.coordinate(other);
      bool is_contribution = true;
      for (int d = 0; d < layout.ndim(); ++d) {
        const bool is_partial = target.placements()[static_cast<std::size_t>(d)].is_partial();
        is_contribution =
            is_contribution && (is_partial || candidate[static_cast<std::size_t>(d)] ==
                                                  coordinate[static_cast<std::size_t>(d)]);
      }
      if (is_contribution) contributions.push_back(value_at(other, index));
    }
    double value = contributions.front();
    for (std::size_t t = 1; t < contributions.size(); ++t) {
      if (rule.op == ReduceOp::sum) value += contributions[t];
      if (rule.op == ReduceOp::product) value *= contributions[t];
      if (rule.op == ReduceOp::min) value = std::min(value, contributions[t]);
      if (rule.op == ReduceOp::max) value = std::max(value, contributions[t]);
      if (rule.op == ReduceOp::band || rule.op == ReduceOp::bor || rule.op == ReduceOp::bxor)
        value = static_cast<double>(combine(rule.op, static_cast<std::int64_t>(value),
                                            static_cast<std::int64_t>(contributions[t])));
    }
    result.push_back(rule.op == ReduceOp::sum ? value / static_cast<double>(rule.divisor) : value);
  }
  return result;
}

/// Returns a description of the first element of the target that differs from the oracle's; "" if
/// none does. value_at(mesh_rank, index) returns what a rank holds.
template <class ValueAt>
std::string first_difference(const RandomCase& random, const ValueAt& value_at) {
  std::string difference;
  const Box all{Extents::filled(random.target.shape().size(), 0), random.target.shape()};
  for_each_index(all, [&](const Extents& index) {
    const auto expected = expected_value(random, flat_index(random.target.shape(), index));
    const double tolerance = random.type.kind == ElementKind::float32 ? 1e-6 : 1e-14;
    for (const double value : reduced_values(random.target, index, value_at))
      if (!(std::abs(value - expected) <= tolerance * std::abs(expected)) && difference.empty())
        difference = to_string(index) + ": " + std::to_string(value) + " instead of " +
                     std::to_string(expected);
  });
  return difference;
}

/// Returns whether the Partials of both specs leave integers exact: integer averages truncate at
/// each reduction.
inline bool is_exact_for_integers(const RandomCase& random) {
  const auto averages = [](const DTensorSpec& spec) {
    return std::ranges::any_of(spec.placements(),
                               [](const auto& p) { return p.is_partial(ReduceOp::avg); });
  };
  return !is_integer(random.type.kind) || (!averages(random.source) && !averages(random.target));
}

}  // namespace tessera::test
