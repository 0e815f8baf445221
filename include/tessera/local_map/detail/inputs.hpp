// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tessera/extents/element_type.hpp>
#include <tessera/local_map/placements.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera::detail {

enum class LeafKind { other, view, dtensor };

/// A Leaf is one flattened argument of a local_map.
struct Leaf {
  LeafKind kind = LeafKind::other;
  DeviceMesh mesh = {};
  DTensorSpec spec = {};  ///< spec of a DTensor; after check_inputs, the spec that func sees
  ElementType type = {};  ///< element type of a DTensor
};

/// Returns the mesh of a call: `asked` unless it is null, else that of the first DTensor, else
/// null.
DeviceMesh mesh_of_call(const std::vector<Leaf>& leaves, const DeviceMesh& asked);

/// Checks the arguments against `in`, and sets the spec of each to the one that func sees.
///
/// Errors: InvalidArgument for a wrong number or kind of placements; MeshMismatch;
/// PlacementMismatch.
void check_inputs(std::vector<Leaf>& leaves, const InPlacements& in, const DeviceMesh& mesh,
                  bool redistribute_inputs);

/// A LocalMapCall describes a call: its arguments as func sees them, and the placements of its
/// outputs (null for none).
struct LocalMapCall {
  const std::vector<Leaf>& leaves;
  std::span<const OutPlacement* const> outputs;

  std::string operator()() const;
  std::uint64_t hash() const;
};

std::string to_string(const OutPlacement& placement);
std::uint64_t hash_of(const OutPlacement& placement);

/// An Output is a View that func returned, without its type.
struct Output {
  const OutPlacement* placement;
  Extents local_shape;
  Extents static_extents;
  ElementType type;
};

/// Returns the specs of the outputs, after at most one metadata exchange. Collective over the mesh
/// if a Placements output has a Shard.
///
/// Errors: InvalidArgument, also if local shapes differ between ranks where the output is the same
/// size on all of them (no Shard, or even). It is thrown on this rank alone if a local shape does not
/// fit like_input or shaped.
std::vector<DTensorSpec> output_specs(const DeviceMesh& mesh, const std::vector<Output>& outputs,
                                      const std::vector<Leaf>& leaves);

/// Returns the spec of an output on a rank off the mesh, checked as far as is possible there. Where
/// the global shape depends on local shapes, it holds the static extents, and 0 for the other dims.
///
/// Errors: InvalidArgument.
DTensorSpec absent_spec(const DeviceMesh& mesh, const Output& output,
                        const std::vector<Leaf>& leaves);

}  // namespace tessera::detail
