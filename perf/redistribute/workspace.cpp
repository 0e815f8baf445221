// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "workspace.hpp"

#include <new>

#include <sys/mman.h>

namespace tessera::perf {

namespace {

constexpr std::size_t page_bytes = std::size_t{2} << 20;

template <class View>
DTensor<View> tensor(const DeviceMesh& mesh, const Placement& placement, const Extents& shape) {
  const auto held = placement.is_partial() ? Placement(Replicate()) : placement;
  const auto view = empty<View>(mesh, {held}, shape).to_local();
  return from_local(view, mesh, {placement}, {.shape = shape});
}

template <class View>
Workspace make_workspace(const Case& test_case, const DeviceMesh& mesh) {
  Tensors<View> tensors{tensor<View>(mesh, test_case.source, test_case.shape),
                        tensor<View>(mesh, test_case.target, test_case.shape)};
  auto* const source = tensors.source.to_local().data();
  auto* const target = tensors.target.to_local().data();
  return {std::move(tensors), source, target};
}

}  // namespace

double* Buffer::at_least(std::int64_t count) {
  if (count <= size_) return data_.get();
  data_.reset();
  const auto pages = (static_cast<std::size_t>(count) * sizeof(double) - 1) / page_bytes + 1;
  data_.reset(static_cast<double*>(std::aligned_alloc(page_bytes, pages * page_bytes)));
  if (!data_) throw std::bad_alloc();
  madvise(data_.get(), pages * page_bytes, MADV_HUGEPAGE);
  size_ = count;
  return data_.get();
}

Workspace make_workspace(const Case& test_case, const DeviceMesh& mesh) {
  return test_case.shape.size() == 2 ? make_workspace<Matrix>(test_case, mesh)
                                     : make_workspace<Cube>(test_case, mesh);
}

}  // namespace tessera::perf
