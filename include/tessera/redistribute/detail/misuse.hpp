// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tessera/error/detail/never.hpp>
#include <tessera/redistribute/options.hpp>
#include <tessera/sharding/target.hpp>
#include <tessera/tensor/dtensor.hpp>

// Each function takes a View where a function of its name takes a DTensor, and stops the compiler
// with a sentence that says what to write.
namespace tessera {

template <class Out = void, LocalView V>
DTensor<V> redistribute(const V&, const Target& = all_replicate, const RedistributeOptions& = {}) {
  static_assert(
      detail::never<V>,
      "redistribute: expected a DTensor, got a View; make one by from_local(view, mesh, ...) "
      "or distribute_tensor(view, mesh, ...)");
  return {};
}
template <class Out = void, LocalView V>
DTensor<V> redistribute(const V& view, const DeviceMesh&, const Target& target = all_replicate,
                        const RedistributeOptions& = {}) {
  return redistribute(view, target);
}
template <LocalView V>
V full_tensor(const V&) {
  static_assert(
      detail::never<V>,
      "full_tensor: expected a DTensor, got a View; make one by from_local(view, mesh, ...) "
      "or distribute_tensor(view, mesh, ...)");
  return {};
}

}  // namespace tessera
