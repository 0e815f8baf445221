// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include <tessera/error/error.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

namespace detail {

/// Throws unless the local pieces of both tensors hold the same elements on every rank.
void require_same_pieces(const DeviceMesh& mesh, const DTensorSpec& destination,
                         const DeviceMesh& source_mesh, const DTensorSpec& source);
/// Throws if the Views share memory but are not the same.
void require_same_or_separate(const ArrayRef& destination, const ArrayRef& source);

template <class V, class Source>
void deep_copy(const Execution& execution, const DTensor<V>& destination, const Source& source) {
  static_assert(!std::is_const_v<typename V::value_type>,
                "deep_copy: expected a destination that can be written");
  const auto instance = execution.instance<memory_space<V>>();
  const auto& view = destination.to_local();
  require_writable(array_ref(view));
  execution.fence("tessera::deep_copy: before the copy");
  if constexpr (is_dtensor_v<Source>) {
    static_assert(
        std::is_same_v<typename V::value_type, std::remove_const_t<typename Source::value_type>>,
        "deep_copy: expected tensors of one element type");
    static_assert(V::rank() == Source::view_type::rank(),
                  "deep_copy: expected tensors of as many dims");
    require_same_pieces(destination.device_mesh(), destination.spec(), source.device_mesh(),
                        source.spec());
    require_same_or_separate(array_ref(view), array_ref(source.to_local()));
    if (view.size() > 0) Kokkos::deep_copy(instance, view, source.to_local());
  } else {
    if (view.size() > 0)
      Kokkos::deep_copy(instance, view, static_cast<typename V::value_type>(source));
  }
  finish(execution, "tessera::deep_copy");
}

}  // namespace detail

/// Copies the values of `source`, a tensor of the same spec, or one number for all elements, into
/// the memory of `destination`.
///
/// Local. redistribute_into() copies to a tensor of another spec, and between a host and a device
/// whose Views have other layouts. Errors: MeshMismatch; InvalidArgument for specs that differ, for
/// Views that share memory without being the same, and for a destination whose own elements share
/// memory.
template <LocalView V, class Source>
requires(is_dtensor_v<Source> ||
         std::convertible_to<Source, typename V::value_type>) void deep_copy(const DTensor<V>&
                                                                                 destination,
                                                                             const Source& source) {
  detail::named("deep_copy", [&] { detail::deep_copy(Execution(), destination, source); });
}
/// Orders the copy on `exec`.
template <LocalView V, class Source>
requires(is_dtensor_v<Source> ||
         std::convertible_to<Source, typename V::value_type>) void deep_copy(const Execution& exec,
                                                                             const DTensor<V>&
                                                                                 destination,
                                                                             const Source& source) {
  detail::named("deep_copy", [&] { detail::deep_copy(exec, destination, source); });
}

}  // namespace tessera
