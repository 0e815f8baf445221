// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/tensor/dtensor.hpp>

namespace tessera {

/// How visualize_sharding() draws.
struct VisualizeOptions {
  int width = 100;      ///< in characters; at least 40 are taken
  bool colour = false;  ///< by rank, for terminals
  /// Index along all dims but the last two, for tensors of 3 and more: shows the slice there.
  /// Empty: the first slices.
  std::vector<std::int64_t> slice = {};
};

/// The standard output is a terminal that shows colours, and the environment does not say NO_COLOR.
bool terminal_has_colour();

/// Who holds what, as a picture for a terminal (UTF-8): a cell for each piece, to scale as far as
/// characters allow, with the mesh ranks that hold it.
///
/// "0=4" are replicas, "0+4 P(sum)" terms that are still to be reduced. Of many parts the first and
/// the last ones are shown, so that the picture of 100,000 ranks is small and made at once.
/// Example: (10, 4) on (dp=2, tp=2) as S(0), R:
///
///       0-3
///     ┌─────┐
/// 0-4 │ 0=1 │
///     ├─────┤
/// 5-9 │ 2=3 │
///     └─────┘
///
/// Errors: InvalidArgument for a slice that is no index along the leading dims.
std::string visualize_sharding(const DTensorSpec& spec, const VisualizeOptions& options = {});

namespace detail {

/// visualize_sharding of a tensor of which this rank has a View of `local_extents`.
std::string visualize_pieces(const DeviceMesh& mesh, const DTensorSpec& spec,
                             const Extents& local_extents, const VisualizeOptions& options);

}  // namespace detail

/// The same of a tensor, after a look at the Views: a rank whose View has other extents than its
/// spec says is marked with "!", and a line says which.
///
/// Collective over the mesh: one small all-gather of the extents (metadata). Ranks with the same
/// options get the same text; ranks off the mesh "". Errors: InvalidArgument as above, and for no
/// tensor at all.
template <class V>
std::string visualize_sharding(const DTensor<V>& tensor, const VisualizeOptions& options = {}) {
  return detail::visualize_pieces(tensor.device_mesh(), tensor.spec(),
                                  detail::extents_of(tensor.to_local()), options);
}

}  // namespace tessera
