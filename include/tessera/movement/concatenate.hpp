// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ranges>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/movement/detail/parts.hpp>
#include <tessera/redistribute/redistribute_all.hpp>
#include <tessera/sharding/target.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

namespace detail {

/// Returns the shape of tensors one after another along a dim. Errors: InvalidArgument for no tensors,
/// a dim out of range, and shapes that differ along other dims.
Extents joined_shape(const std::vector<DTensorSpec>& specs, int tensor_dim);
/// Returns the moves of all tensors to their places in `result`.
std::vector<PartMove> moves_of_concatenation(const DeviceMesh& mesh,
                                             const std::vector<TensorPart>& tensors,
                                             const TensorPart& result, int tensor_dim);
std::string concatenation_in_words(const std::vector<DTensorSpec>& specs, const DTensorSpec& result,
                                   int tensor_dim);

template <class Tensor>
struct ViewOf;
template <class V>
struct ViewOf<DTensor<V>> {
  using type = V;
};
template <class List>
using view_of_list_t = typename ViewOf<std::ranges::range_value_t<const List&>>::type;

/// Returns the mesh of the first tensor. Errors: InvalidArgument for no tensors.
template <class List>
const DeviceMesh& mesh_of_list(const char* function, const List& tensors) {
  return named(function, [&]() -> const DeviceMesh& {
    require(std::ranges::begin(tensors) != std::ranges::end(tensors),
            "expected at least 1 tensor, got none");
    return std::ranges::begin(tensors)->device_mesh();
  });
}

template <class List>
PreparedParts<redistributed_view_t<view_of_list_t<List>>> prepare_joined(const List& tensors,
                                                                         int tensor_dim,
                                                                         const Target& target) {
  using V = view_of_list_t<List>;
  using Result = redistributed_view_t<V>;
  constexpr auto label = "tessera::concatenate";
  const auto& mesh = std::ranges::begin(tensors)->device_mesh();
  std::vector<DTensorSpec> specs;
  std::vector<TensorPart> parts;
  for (const auto& tensor : tensors) {
    require_all_on(mesh, tensor.device_mesh());
    specs.push_back(tensor.spec());
    parts.push_back({tensor.spec(), array_ref(tensor.to_local())});
  }
  const auto shape = joined_shape(specs, tensor_dim);
  const int dim = dim_of(shape, tensor_dim);
  const auto spec = target_spec(mesh.layout(), shape, target);
  require_representable<Result>(spec);
  const auto result = allocate_dtensor<Result>(mesh, spec, label);
  const auto views = std::make_shared<std::vector<std::shared_ptr<void>>>();
  for (const auto& tensor : tensors) views->push_back(held_with(tensor, result.to_local()));
  return {result,
          {moves_of_concatenation(mesh, parts, {spec, array_ref(result.to_local())}, dim),
           settings_for<V, Result>(),
           [specs, spec, dim] { return concatenation_in_words(specs, spec, dim); }, views, label}};
}

}  // namespace detail

/// Returns the tensors one after another along a tensor dim, as one tensor in new memory.
///
/// `tensors` is a std::vector or a std::array of tensors of one View type on one mesh, whose shapes
/// differ along that dim at most. Its placements are those of `target`, by their rules; without a
/// target, those of the first tensor.
///
/// Collective over the mesh: one exchange, and one more for each other way in which some tensors are
/// reduced. Errors: InvalidArgument for no tensors, or shapes that do not fit; MeshMismatch for tensors
/// on different meshes; those of redistribute().
template <class List>
DTensor<redistributed_view_t<detail::view_of_list_t<List>>> concatenate(const List& tensors,
                                                                        int tensor_dim) {
  const auto first = std::ranges::begin(tensors);
  const bool is_empty = first == std::ranges::end(tensors);
  return concatenate(Execution(), tensors, tensor_dim,
                     is_empty ? Target(all_replicate) : Target(first->placements()));
}
/// Takes a target.
template <class List>
DTensor<redistributed_view_t<detail::view_of_list_t<List>>> concatenate(const List& tensors,
                                                                        int tensor_dim,
                                                                        const Target& target) {
  return concatenate(Execution(), tensors, tensor_dim, target);
}
/// Orders the work on `exec`.
template <class List>
DTensor<redistributed_view_t<detail::view_of_list_t<List>>> concatenate(const Execution& exec,
                                                                        const List& tensors,
                                                                        int tensor_dim,
                                                                        const Target& target) {
  return detail::move_parts("concatenate", exec, detail::mesh_of_list("concatenate", tensors),
                            [&] { return detail::prepare_joined(tensors, tensor_dim, target); });
}

/// Starts concatenate() in the background, with a target. If there are several exchanges, all but the
/// last are complete on return.
template <class List>
Pending<DTensor<redistributed_view_t<detail::view_of_list_t<List>>>> concatenate_async(
    const List& tensors, int tensor_dim, const Target& target) {
  return concatenate_async(Execution(), tensors, tensor_dim, target);
}
/// Starts concatenate() in the background, ordered on `exec`.
template <class List>
Pending<DTensor<redistributed_view_t<detail::view_of_list_t<List>>>> concatenate_async(
    const Execution& exec, const List& tensors, int tensor_dim, const Target& target) {
  return detail::start_parts("concatenate_async", exec,
                             detail::mesh_of_list("concatenate_async", tensors),
                             [&] { return detail::prepare_joined(tensors, tensor_dim, target); });
}

}  // namespace tessera
