// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/movement/concatenate.hpp>

namespace tessera::detail {

Extents joined_shape(const std::vector<DTensorSpec>& specs, int tensor_dim) {
  auto shape = specs.front().shape();
  const auto dim = static_cast<std::size_t>(dim_of(shape, tensor_dim));
  for (std::size_t i = 1; i < specs.size(); ++i) {
    const auto& other = specs[i].shape();
    auto alike = other;
    alike[dim] = specs.front().shape()[dim];
    require(alike == specs.front().shape(), [&] {
      return fmt::format(
          "expected tensors whose shapes differ along tensor dim {} at most, got {} and "
          "{}",
          dim, to_string(specs.front().shape()), to_string(other));
    });
    shape[dim] += other[dim];
  }
  return shape;
}

std::vector<PartMove> moves_of_concatenation(const DeviceMesh& mesh,
                                             const std::vector<TensorPart>& tensors,
                                             const TensorPart& result, int tensor_dim) {
  std::vector<PartMove> moves;
  std::int64_t begin = 0;
  for (const auto& tensor : tensors) {
    const auto end = begin + tensor.spec.shape()[static_cast<std::size_t>(tensor_dim)];
    if (product(tensor.spec.shape()) > 0)
      moves.push_back(
          {tensor, part_along(mesh, result.spec, result.array, tensor_dim, {begin, end})});
    begin = end;
  }
  return moves;
}

std::string concatenation_in_words(const std::vector<DTensorSpec>& specs, const DTensorSpec& result,
                                   int tensor_dim) {
  auto text = fmt::format("concatenate of {} tensors along tensor dim {} to {}:", specs.size(),
                          tensor_dim, to_string(result));
  for (const auto& spec : specs) text += ' ' + to_string(spec) + ';';
  return text;
}

}  // namespace tessera::detail
