// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/chunking.hpp"

namespace tessera::detail {

Chunking::Chunking(const Extents& shape, std::int32_t element_size, std::int64_t most_bytes)
    : shape_(shape) {
  const auto most = std::max<std::int64_t>(1, most_bytes / element_size);
  dim_ = shape.size();
  std::int64_t inner = 1;
  while (dim_ > 0 && inner * shape[dim_ - 1] <= most) inner *= shape[--dim_];
  if (dim_ == 0) return;
  --dim_;
  chunks_per_row_ = (shape[dim_] + most / inner - 1) / (most / inner);
  thickness_ = (shape[dim_] + chunks_per_row_ - 1) / chunks_per_row_;
  chunks_per_row_ = (shape[dim_] + thickness_ - 1) / thickness_;
  chunks_ = chunks_per_row_;
  for (std::size_t d = 0; d < dim_; ++d) chunks_ *= shape[d];
}

Box Chunking::chunk(std::int64_t index) const {
  Box box{Extents::filled(shape_.size(), 0), shape_};
  if (chunks_ == 1) return box;
  box.offset[dim_] = index % chunks_per_row_ * thickness_;
  box.shape[dim_] = std::min(thickness_, shape_[dim_] - box.offset[dim_]);
  auto row = index / chunks_per_row_;
  for (std::size_t d = dim_; d-- > 0;) {
    box.offset[d] = row % shape_[d];
    box.shape[d] = 1;
    row /= shape_[d];
  }
  return box;
}

}  // namespace tessera::detail
