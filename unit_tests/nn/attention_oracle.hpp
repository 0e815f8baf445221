// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Computes attention and its gradients by plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

#include "../support/tensors.hpp"

namespace tessera::test {

/// Holds all elements of an array of 4 dims, row-major.
struct Array4 {
  Extents shape;
  std::vector<double> values;

  explicit Array4(const Extents& extents)
      : shape(extents), values(static_cast<std::size_t>(product(extents))) {}
  double& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(((b * shape[1] + h) * shape[2] + i) * shape[3] + j)];
  }
};

/// Gives elements of queries, keys, values and start gradients by their global index.
struct AttentionElement {
  std::int64_t columns, rows, heads;
  std::int64_t number;  ///< tells operands apart

  AttentionElement(const Extents& shape, std::int64_t operand)
      : columns(shape[3]), rows(shape[2]), heads(shape[1]), number(operand) {}

  KOKKOS_FUNCTION double operator()(const Kokkos::Array<std::int64_t, 4>& index) const {
    const auto flat = ((index[0] * heads + index[1]) * rows + index[2]) * columns + index[3];
    return static_cast<double>((37 * flat + 11 * number + flat / 7) % 61 - 30) / 20;
  }
};

inline Array4 attention_array(const Extents& shape, std::int64_t operand) {
  Array4 result(shape);
  const AttentionElement element(shape, operand);
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t h = 0; h < shape[1]; ++h)
      for (std::int64_t i = 0; i < shape[2]; ++i)
        for (std::int64_t j = 0; j < shape[3]; ++j) result.at(b, h, i, j) = element({b, h, i, j});
  return result;
}

/// Holds a result, and the gradients of <result, start> with respect to q, k and v.
struct AttentionResult {
  Array4 y, dq, dk, dv;
};

/// Computes attention of one batch and head after the other, with all weights of a query at once.
inline AttentionResult serial_attention(Array4 q, Array4 k, Array4 v, Array4 dy, bool causal) {
  AttentionResult result{dy, Array4(q.shape), Array4(k.shape), Array4(v.shape)};
  const auto queries = q.shape[2], keys = k.shape[2], columns = q.shape[3], outputs = v.shape[3];
  const double scale = 1 / std::sqrt(static_cast<double>(columns));
  for (std::int64_t b = 0; b < q.shape[0]; ++b)
    for (std::int64_t h = 0; h < q.shape[1]; ++h)
      for (std::int64_t i = 0; i < queries; ++i) {
        const auto seen = causal ? i + 1 : keys;
        std::vector<double> weights(static_cast<std::size_t>(seen));
        double most = -INFINITY, sum = 0;
        for (std::int64_t j = 0; j < seen; ++j) {
          double score = 0;
          for (std::int64_t c = 0; c < columns; ++c) score += q.at(b, h, i, c) * k.at(b, h, j, c);
          weights[static_cast<std::size_t>(j)] = score * scale;
          most = std::max(most, score * scale);
        }
        for (auto& weight : weights) sum += weight = std::exp(weight - most);
        for (auto& weight : weights) weight /= sum;
        double mean = 0;
        for (std::int64_t c = 0; c < outputs; ++c) {
          double& y = result.y.at(b, h, i, c) = 0;
          for (std::int64_t j = 0; j < seen; ++j)
            y += weights[static_cast<std::size_t>(j)] * v.at(b, h, j, c);
          mean += y * dy.at(b, h, i, c);
        }
        for (std::int64_t j = 0; j < seen; ++j) {
          const double weight = weights[static_cast<std::size_t>(j)];
          double change = 0;
          for (std::int64_t c = 0; c < outputs; ++c) {
            change += dy.at(b, h, i, c) * v.at(b, h, j, c);
            result.dv.at(b, h, j, c) += weight * dy.at(b, h, i, c);
          }
          const double of_score = weight * (change - mean) * scale;
          for (std::int64_t c = 0; c < columns; ++c) {
            result.dq.at(b, h, i, c) += of_score * k.at(b, h, j, c);
            result.dk.at(b, h, j, c) += of_score * q.at(b, h, i, c);
          }
        }
      }
  return result;
}

/// Returns a tensor of the elements of an operand.
template <class V>
DTensor<V> attention_tensor(const DeviceMesh& mesh, const Target& target, const Extents& shape,
                            std::int64_t operand) {
  return from_function<V>(mesh, target, shape, AttentionElement(shape, operand));
}

/// Describes the first element of this rank's piece that differs from the expected one; "" if none does. Differences
/// are relative to 1 plus the expected value. Local.
template <class V>
std::string wrong_attention(const DTensor<V>& tensor, Array4 expected, double tolerance = 1e-12) {
  if (tensor.device_mesh().is_null() || !tensor.device_mesh().coordinate()) return "";
  if (!(tensor.shape() == expected.shape)) return "shape " + to_string(tensor.shape());
  const auto host = on_host(tensor.to_local());
  std::ostringstream text;
  text.precision(17);
  for_each_index_in({Extents::filled(4, 0), tensor.local_shape()}, [&](const Extents& index) {
    Extents at = index;
    for (std::size_t d = 0; d < 4; ++d) at[d] = tensor.global_index(static_cast<int>(d), index[d]);
    const double got = host(index[0], index[1], index[2], index[3]);
    const double right = expected.at(at[0], at[1], at[2], at[3]);
    if (!(std::abs(got - right) <= tolerance * (1 + std::abs(right))) && text.str().empty())
      text << "element " << to_string(at) << " is " << got << " instead of " << right << " under "
           << to_string(tensor.spec());
  });
  return text.str();
}

}  // namespace tessera::test
