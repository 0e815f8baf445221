// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <tessera/ops/detail/call.hpp>
#include <tessera/tensor/from_local.hpp>

namespace tessera {

/// An ImplicitReplication makes tensors of Views that all ranks of a mesh hold alike, so that
/// operators take them: ImplicitReplication implicit(mesh); y = x + implicit(view). Whether the
/// Views are alike is not checked.
class ImplicitReplication {
 public:
  explicit ImplicitReplication(DeviceMesh mesh) : mesh_(std::move(mesh)) {}

  /// Returns the View as a tensor that is Replicate along every mesh dim. Its shape is that of the
  /// View on this rank. Local. Off the mesh the result is empty.
  template <LocalView V>
  DTensor<V> operator()(const V& view) const {
    return from_local(view, mesh_, all_replicate, detail::extents_of(view));
  }

 private:
  DeviceMesh mesh_;
};

}  // namespace tessera
