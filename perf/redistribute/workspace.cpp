// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <new>

#include <tessera/tensor/detail/huge_pages.hpp>

#include "workspace.hpp"

namespace tessera::perf {

namespace {

constexpr auto page_bytes = static_cast<std::size_t>(detail::huge_page_bytes);

template <class View>
DTensor<View> tensor(Buffer& memory, const DeviceMesh& mesh, const Placement& placement,
                     const Extents& shape) {
  const auto held = placement.is_partial() ? Placement(Replicate()) : placement;
  const auto local_shape = DTensorSpec(mesh.layout(), {held}, shape).local_shape(mesh.rank());
  typename View::array_layout layout;
  for (std::size_t d = 0; d < View::rank(); ++d)
    layout.dimension[d] = static_cast<std::size_t>(local_shape[d]);
  const View view(memory.at_least(product(local_shape)), layout);
  return from_local(view, mesh, {placement}, shape);
}

template <class View>
Workspace make_workspace(const Case& test_case, const DeviceMesh& mesh) {
  Buffer source;
  Buffer target;
  Tensors<View> tensors{tensor<View>(source, mesh, test_case.source, test_case.shape),
                        tensor<View>(target, mesh, test_case.target, test_case.shape)};
  auto* const from = tensors.source.to_local().data();
  auto* const to = tensors.target.to_local().data();
  return {std::move(source), std::move(target), std::move(tensors), from, to};
}

}  // namespace

double* Buffer::at_least(std::int64_t count) {
  if (count <= size_) return data_.get();
  data_.reset();
  const auto pages = (static_cast<std::size_t>(count) * sizeof(double) - 1) / page_bytes + 1;
  data_.reset(static_cast<double*>(std::aligned_alloc(page_bytes, pages * page_bytes)));
  if (!data_) throw std::bad_alloc();
  detail::renew_as_huge_pages(data_.get(), pages * page_bytes);
  size_ = count;
  return data_.get();
}

Workspace make_workspace(const Case& test_case, const DeviceMesh& mesh) {
  return test_case.shape.size() == 2 ? make_workspace<Matrix>(test_case, mesh)
                                     : make_workspace<Cube>(test_case, mesh);
}

}  // namespace tessera::perf
