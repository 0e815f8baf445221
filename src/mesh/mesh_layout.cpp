// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/mesh/mesh_layout.hpp>

#include "agreement/on_ranks.hpp"

namespace tessera {

struct MeshLayout::Data {
  std::vector<int> ranks;
  std::vector<int> shape;
  std::vector<std::string> dim_names;
  std::uint64_t hash;
};

namespace {

int checked_size(const std::vector<int>& shape) {
  std::int64_t size = 1;
  for (const int extent : shape) {
    require(extent >= 1, [&] {
      return fmt::format("mesh: expected sizes >= 1, got shape ({})", fmt::join(shape, ", "));
    });
    size *= extent;
    require(size <= std::numeric_limits<int>::max(), [&] {
      return fmt::format("mesh: expected at most 2^31 - 1 ranks, got shape ({})",
                         fmt::join(shape, ", "));
    });
  }
  return static_cast<int>(size);
}

std::vector<int> iota(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

template <class T>
bool has_duplicates(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) != values.end();
}

}  // namespace

MeshLayout::MeshLayout() : MeshLayout(std::vector<int>{}) {}

MeshLayout::MeshLayout(const std::vector<int>& shape, std::vector<std::string> dim_names)
    : data_(from_ranks(iota(checked_size(shape)), shape, std::move(dim_names)).data_) {}

MeshLayout MeshLayout::from_ranks(std::vector<int> ranks, std::vector<int> shape,
                                  std::vector<std::string> dim_names) {
  const int size = checked_size(shape);
  require(std::ssize(ranks) == size, [&] {
    return fmt::format("mesh: expected {} ranks for shape ({}), got {}", size,
                       fmt::join(shape, ", "), ranks.size());
  });
  require(std::all_of(ranks.begin(), ranks.end(), [](int rank) { return rank >= 0; }),
          "mesh: expected ranks >= 0");
  require(!has_duplicates(ranks), "mesh: expected each rank once, got one twice");
  require(dim_names.empty() || dim_names.size() == shape.size(), [&] {
    return fmt::format("mesh: expected {} dim names for shape ({}), got {}", shape.size(),
                       fmt::join(shape, ", "), dim_names.size());
  });
  require(!has_duplicates(dim_names), [&] {
    return fmt::format("mesh: expected different dim names, got ({})", fmt::join(dim_names, ", "));
  });
  const auto hash = hash_range(hash_range(0, shape), ranks);
  return MeshLayout(std::make_shared<const Data>(
      Data{std::move(ranks), std::move(shape), std::move(dim_names), hash}));
}

const std::vector<int>& MeshLayout::shape() const {
  return data_->shape;
}
int MeshLayout::size() const {
  return static_cast<int>(data_->ranks.size());
}
int MeshLayout::size(const MeshDim& mesh_dim) const {
  return shape()[static_cast<std::size_t>(index(mesh_dim))];
}
const std::vector<std::string>& MeshLayout::dim_names() const {
  return data_->dim_names;
}
const std::vector<int>& MeshLayout::ranks() const {
  return data_->ranks;
}
std::uint64_t MeshLayout::hash() const {
  return data_->hash;
}

int MeshLayout::index(const MeshDim& mesh_dim) const {
  if (const auto* name = std::get_if<std::string>(&mesh_dim.value())) {
    const auto found = std::find(dim_names().begin(), dim_names().end(), *name);
    require(found != dim_names().end(), [&] {
      return fmt::format("mesh: expected a dim of mesh {}, got \"{}\"", to_string(*this), *name);
    });
    return static_cast<int>(found - dim_names().begin());
  }
  const int given = std::get<int>(mesh_dim.value());
  const int result = given < 0 ? given + ndim() : given;
  require(0 <= result && result < ndim(), [&] {
    return fmt::format("mesh: expected a dim of mesh {}, got {}", to_string(*this), given);
  });
  return result;
}

std::vector<int> MeshLayout::indices(const MeshDims& mesh_dims) const {
  std::vector<int> result;
  for (const auto& mesh_dim : mesh_dims.values()) result.push_back(index(mesh_dim));
  require(!result.empty(), "mesh: expected at least one mesh dim, got none");
  require(!has_duplicates(result), [&] {
    return fmt::format("mesh: expected each dim of mesh {} at most once, got ({})",
                       to_string(*this), fmt::join(result, ", "));
  });
  return result;
}

std::vector<int> MeshLayout::coordinate(int mesh_rank) const {
  require(0 <= mesh_rank && mesh_rank < size(), [&] {
    return fmt::format("mesh: expected a rank of mesh {}, 0 to {}, got {}", to_string(*this),
                       size() - 1, mesh_rank);
  });
  std::vector<int> result(shape().size());
  for (std::size_t d = shape().size(); d-- > 0;) {
    result[d] = mesh_rank % shape()[d];
    mesh_rank /= shape()[d];
  }
  return result;
}

int MeshLayout::mesh_rank(std::span<const int> coordinate) const {
  int result = 0;
  for (std::size_t d = 0; d < shape().size(); ++d) result = result * shape()[d] + coordinate[d];
  return result;
}

int MeshLayout::position_of(int rank) const {
  const auto found = std::find(ranks().begin(), ranks().end(), rank);
  return found == ranks().end() ? -1 : static_cast<int>(found - ranks().begin());
}

std::optional<int> MeshLayout::neighbour(int mesh_rank, const MeshDim& mesh_dim, int distance,
                                         bool is_periodic) const {
  const auto d = static_cast<std::size_t>(index(mesh_dim));
  auto coordinate = this->coordinate(mesh_rank);
  const std::int64_t size = shape()[d];
  auto wanted = std::int64_t{coordinate[d]} + distance;
  if (is_periodic) wanted = (wanted % size + size) % size;
  if (wanted < 0 || wanted >= size) return {};
  coordinate[d] = static_cast<int>(wanted);
  return this->mesh_rank(coordinate);
}

MeshLayout MeshLayout::sub(const std::vector<int>& mesh_dims,
                           std::span<const int> coordinate) const {
  std::vector<int> sub_shape;
  std::vector<std::string> sub_names;
  for (const int mesh_dim : mesh_dims) {
    sub_shape.push_back(shape()[static_cast<std::size_t>(mesh_dim)]);
    if (!dim_names().empty()) sub_names.push_back(dim_names()[static_cast<std::size_t>(mesh_dim)]);
  }
  const MeshLayout positions(sub_shape);
  std::vector<int> sub_ranks;
  std::vector<int> full(coordinate.begin(), coordinate.end());
  for (int position = 0; position < positions.size(); ++position) {
    const auto sub_coordinate = positions.coordinate(position);
    for (std::size_t i = 0; i < mesh_dims.size(); ++i)
      full[static_cast<std::size_t>(mesh_dims[i])] = sub_coordinate[i];
    sub_ranks.push_back(ranks()[static_cast<std::size_t>(mesh_rank(full))]);
  }
  return from_ranks(std::move(sub_ranks), std::move(sub_shape), std::move(sub_names));
}

MeshLayout MeshLayout::flattened(std::string dim_name) const {
  return from_ranks(ranks(), {size()}, {std::move(dim_name)});
}

MeshLayout MeshLayout::reshaped(std::vector<int> shape) const {
  return from_ranks(ranks(), std::move(shape));
}

std::vector<int> ranks_per_node(const MeshLayout& layout, std::span<const int> node) {
  const auto node_of = [&](int mesh_rank) {
    return node[static_cast<std::size_t>(layout.ranks()[static_cast<std::size_t>(mesh_rank)])];
  };
  std::vector<int> result;
  int stride = layout.size();
  for (const int size : layout.shape()) {
    stride /= size;
    const auto is_on_one_node = [&](int block) {
      for (int rank = 0; rank < layout.size(); ++rank)
        if (node_of(rank) != node_of(rank - rank / stride % size % block * stride)) return false;
      return true;
    };
    int block = size;
    while (size % block != 0 || !is_on_one_node(block)) --block;
    result.push_back(block);
  }
  return result;
}

bool operator==(const MeshLayout& a, const MeshLayout& b) {
  return a.data_ == b.data_ ||
         (a.hash() == b.hash() && a.shape() == b.shape() && a.ranks() == b.ranks());
}

std::string detail::with_ranks(const MeshLayout& layout) {
  constexpr std::size_t most = 16;
  return to_string(layout) + " of " + ranks_in_words(layout.ranks(), most);
}

std::pair<std::string, std::string> detail::told_apart(const MeshLayout& a, const MeshLayout& b) {
  std::pair names(to_string(a), to_string(b));
  if (names.first == names.second) names = {with_ranks(a), with_ranks(b)};
  return names;
}

std::string to_string(const MeshLayout& layout) {
  std::vector<std::string> dims;
  for (int d = 0; d < layout.ndim(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const auto size = std::to_string(layout.shape()[i]);
    dims.push_back(layout.dim_names().empty() ? size : layout.dim_names()[i] + "=" + size);
  }
  return fmt::format("({})", fmt::join(dims, ", "));
}

std::ostream& operator<<(std::ostream& out, const MeshLayout& value) {
  return out << to_string(value);
}

}  // namespace tessera
