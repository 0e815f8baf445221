// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/movement/detail/parts.hpp>
#include <tessera/redistribute/detail/redistribution.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

namespace detail {

/// Returns the moves that roll a tensor: those of the two parts into which it is cut.
std::vector<PartMove> moves_of_roll(const DeviceMesh& mesh, const DTensorSpec& spec,
                                    const ArrayRef& from, const ArrayRef& to, std::int64_t shift,
                                    int tensor_dim);
std::string roll_in_words(const DTensorSpec& spec, std::int64_t shift, int tensor_dim);

}  // namespace detail

/// Returns the tensor with its elements moved by `shift` along a tensor dim; what leaves it at one end
/// comes in at the other one. The spec stays, and the memory is new. Element i of the result is element
/// i − shift, modulo the extent, of `tensor`.
///
/// Collective over the mesh, with one exchange, or none if the dim is not sharded. Errors:
/// InvalidArgument for a dim out of range; MpiError.
template <LocalView V>
DTensor<redistributed_view_t<V>> roll(const DTensor<V>& tensor, std::int64_t shift,
                                      int tensor_dim) {
  return roll(Execution(), tensor, shift, tensor_dim);
}
/// Orders the work on `exec`.
template <LocalView V>
DTensor<redistributed_view_t<V>> roll(const Execution& exec, const DTensor<V>& tensor,
                                      std::int64_t shift, int tensor_dim) {
  using Result = redistributed_view_t<V>;
  const auto& mesh = tensor.device_mesh();
  return collectively(mesh, "roll", [&](Operation& operation) {
    constexpr auto label = "tessera::roll";
    const int dim = detail::dim_of(tensor.shape(), tensor_dim);
    auto result = detail::allocate_dtensor<Result>(mesh, tensor.spec(), label);
    const auto moves = detail::moves_of_roll(mesh, tensor.spec(), array_ref(tensor.to_local()),
                                             array_ref(result.to_local()), shift, dim);
    const auto words = [&] { return detail::roll_in_words(tensor.spec(), shift, dim); };
    detail::keeping(
        mesh.communicator(),
        [&] {
          detail::move_parts(operation, exec, mesh, moves, detail::settings_for<V, Result>(), words,
                             label);
        },
        [&] { return detail::held_with(tensor, result.to_local()); });
    return result;
  });
}

}  // namespace tessera
