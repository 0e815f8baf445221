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

}  // namespace detail

/// Returns the tensors one after another along a tensor dim, as one tensor in new memory.
///
/// `tensors` is a std::vector or a std::array of tensors of one View type on one mesh, whose shapes
/// differ along that dim at most. Its placements are those of `target`, by their rules; without a
/// target, those of the first tensor.
///
/// Collective over the mesh: one exchange, two if some tensors are reduced and others are not. Errors:
/// InvalidArgument for no tensors, or shapes that do not fit; MeshMismatch for tensors on different
/// meshes; those of redistribute().
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
  using V = detail::view_of_list_t<List>;
  using Result = redistributed_view_t<V>;
  require(std::ranges::begin(tensors) != std::ranges::end(tensors),
          "concatenate: expected at least 1 tensor, got none");
  const auto& mesh = std::ranges::begin(tensors)->device_mesh();
  return collectively(mesh, "concatenate", [&](Operation& operation) {
    constexpr auto label = "tessera::concatenate";
    std::vector<DTensorSpec> specs;
    std::vector<detail::TensorPart> parts;
    for (const auto& tensor : tensors) {
      detail::require_all_on(mesh, tensor.device_mesh());
      specs.push_back(tensor.spec());
      parts.push_back({tensor.spec(), array_ref(tensor.to_local())});
    }
    const auto shape = detail::joined_shape(specs, tensor_dim);
    const int dim = detail::dim_of(shape, tensor_dim);
    auto spec = detail::target_spec(mesh.layout(), shape, target);
    detail::require_representable<Result>(spec);
    auto result = detail::allocate_dtensor<Result>(mesh, spec, label);
    const auto moves = detail::moves_of_concatenation(
        mesh, parts, {result.spec(), array_ref(result.to_local())}, dim);
    const auto words = [&] { return detail::concatenation_in_words(specs, result.spec(), dim); };
    detail::keeping(
        mesh.communicator(),
        [&] {
          detail::move_parts(operation, exec, mesh, moves, detail::settings_for<V, Result>(), words,
                             label);
        },
        [&] {
          auto all = std::make_shared<std::vector<std::shared_ptr<void>>>();
          for (const auto& tensor : tensors)
            all->push_back(detail::held_with(tensor, result.to_local()));
          return all;
        });
    return result;
  });
}

}  // namespace tessera
