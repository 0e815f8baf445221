// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/movement/roll.hpp>

namespace tessera::detail {

std::vector<PartMove> moves_of_roll(const DeviceMesh& mesh, const DTensorSpec& spec,
                                    const ArrayRef& from, const ArrayRef& to, std::int64_t shift,
                                    int tensor_dim) {
  const auto extent = spec.shape()[static_cast<std::size_t>(tensor_dim)];
  if (product(spec.shape()) == 0) return {};
  auto first = shift % extent;  // where element 0 goes
  if (first < 0) first += extent;
  const auto move = [&](Interval source, Interval destination) {
    return PartMove{part_along(mesh, spec, from, tensor_dim, source),
                    part_along(mesh, spec, to, tensor_dim, destination)};
  };
  std::vector<PartMove> moves{move({0, extent - first}, {first, extent})};
  if (first > 0) moves.push_back(move({extent - first, extent}, {0, first}));
  return moves;
}

std::string roll_in_words(const DTensorSpec& spec, std::int64_t shift, int tensor_dim) {
  return fmt::format("roll of {} by {} along tensor dim {}", to_string(spec), shift, tensor_dim);
}

}  // namespace tessera::detail
