// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/tensor/dtensor.hpp>

namespace tessera {

/// VisualizeOptions are the options of visualize_sharding().
struct VisualizeOptions {
  int width = 100;      ///< width of the picture, characters; fewer than 40 count as 40
  bool colour = false;  ///< whether each rank has a colour, for terminals
  /// Selects the slice to show of a tensor of 3 or more dims: an index along all dims but the last
  /// two. If empty, the first slices are shown.
  std::vector<std::int64_t> slice = {};
};

/// Returns whether the standard output is a terminal that shows colours, and the environment does
/// not set NO_COLOR.
bool terminal_has_colour();

/// Returns a picture of who holds what, for a terminal (UTF-8): a cell for each piece, to scale as
/// far as characters allow, with the mesh ranks that hold it.
///
/// "0=4" are replicas, "0+4 P(sum)" contributions that are still to be reduced. If there are many
/// parts, only the first and the last ones are shown, so that the picture of 100,000 ranks is small
/// and made at once.
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

/// Returns visualize_sharding() of a tensor of which this rank has a View of `local_extents`.
std::string visualize_pieces(const DeviceMesh& mesh, const DTensorSpec& spec,
                             const Extents& local_extents, const VisualizeOptions& options);

}  // namespace detail

/// Returns the picture of a tensor, after comparing its Views with its spec. A rank whose View has
/// other extents is marked with "!", and a line gives both shapes.
///
/// Collective over the mesh: one small all-gather of the extents (metadata). Ranks with the same
/// options get the same text, ranks off the mesh "". Errors: InvalidArgument as above, and for a
/// DTensor without a mesh.
template <LocalView V>
std::string visualize_sharding(const DTensor<V>& tensor, const VisualizeOptions& options = {}) {
  return detail::visualize_pieces(tensor.device_mesh(), tensor.spec(),
                                  detail::extents_of(tensor.to_local()), options);
}

}  // namespace tessera
