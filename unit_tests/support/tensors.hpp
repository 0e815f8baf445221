// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/factories.hpp>

namespace tessera::test {

using Vector = Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using LeftMatrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

/// The row-major number of a global index, times `factor`.
struct GlobalIndex {
  Kokkos::Array<std::int64_t, 8> strides{};
  double factor;

  explicit GlobalIndex(const Extents& shape, double times = 1) : factor(times) {
    const auto row_major = row_major_strides(shape);
    for (std::size_t d = 0; d < shape.size(); ++d) strides[d] = row_major[d];
  }

  template <class Index>
  KOKKOS_FUNCTION double operator()(const Index& index) const {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < index.size(); ++d) number += index[d] * strides[d];
    return factor * static_cast<double>(number);
  }
};

/// A tensor in which each element is its global index.
template <class V>
DTensor<V> iota(const DeviceMesh& mesh, const Placements& placements, const Extents& shape) {
  return from_function<V>(mesh, placements, shape, GlobalIndex(shape));
}

/// Calls function(index) for the indices of a box, row-major.
template <class Function>
void for_each_index_in(const Box& box, const Function& function) {
  Extents index = box.offset;
  for (std::int64_t i = 0; i < box.size(); ++i) {
    function(index);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < box.offset[d] + box.shape[d]) break;
      index[d] = box.offset[d];
    }
  }
}

/// The element of a host View that is the piece at `offset`.
template <class HostView>
auto& element_of(const HostView& view, const Extents& offset, const Extents& index) {
  std::int64_t distance = 0;
  for (std::size_t d = 0; d < index.size(); ++d)
    distance += (index[d] - offset[d]) * static_cast<std::int64_t>(view.stride(d));
  return view.data()[distance];
}

/// A host View in which each element is its global index, where the piece at `offset` of a tensor
/// of `global_shape` lies.
template <class HostView>
void fill_iota(const HostView& view, const Extents& offset, const Extents& global_shape) {
  for_each_index_in({offset, detail::extents_of(view)}, [&](const Extents& index) {
    element_of(view, offset, index) =
        static_cast<typename HostView::value_type>(GlobalIndex(global_shape)(index));
  });
}

/// Every element of this rank's piece is `factor` times its global index.
template <class V>
bool is_iota(const DTensor<V>& tensor, double factor = 1) {
  const GlobalIndex number(tensor.shape(), factor);
  bool is_right = true;
  for_each_index_in({tensor.global_offset(), tensor.local_shape()}, [&](const Extents& index) {
    if (element_of(tensor.to_local(), tensor.global_offset(), index) != number(index))
      is_right = false;
  });
  return is_right;
}

/// A new host View in which each element is its index.
template <class HostView>
HostView iota_view(const Extents& shape) {
  const auto view = detail::allocate<HostView>(shape, "iota");
  fill_iota(view, Extents::filled(shape.size(), 0), shape);
  return view;
}

/// The first element of `view`, the piece `box`, that is not expected(its global index), in words;
/// "" where all are.
template <class V, class Expected>
std::string wrong_element(const V& view, const Box& box, const Expected& expected) {
  const auto extents = detail::extents_of(view);
  if (extents != box.shape && !(product(extents) == 0 && box.is_empty()))
    return "extents " + to_string(extents) + " instead of " + to_string(box.shape);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  std::ostringstream text;
  for_each_index_in(box, [&](const Extents& index) {
    const auto value = element_of(host, box.offset, index);
    const auto right = static_cast<std::remove_const_t<typename V::value_type>>(expected(index));
    if (value != right && text.str().empty())
      text << "element " << to_string(index) << " is " << value << " instead of " << right;
  });
  return text.str();
}

/// The same for a whole tensor held in one View.
template <class V, class Expected>
std::string wrong_whole(const V& view, const Extents& shape, const Expected& expected) {
  return wrong_element(view, {Extents::filled(shape.size(), 0), shape}, expected);
}

/// The same for a tensor's local piece. Off the mesh it has to be empty.
template <class V, class Expected>
std::string wrong_piece(const DTensor<V>& tensor, const Expected& expected) {
  if (tensor.device_mesh().coordinate())
    return wrong_element(tensor.to_local(), {tensor.global_offset(), tensor.local_shape()},
                         expected);
  return V::rank() == 0 || tensor.to_local().size() == 0 ? "" : "not empty off the mesh";
}

/// "" where each element of the local piece is `factor` times its global index.
template <class V>
std::string wrong_iota(const DTensor<V>& tensor, double factor = 1) {
  return wrong_piece(tensor, GlobalIndex(tensor.shape(), factor));
}

}  // namespace tessera::test
