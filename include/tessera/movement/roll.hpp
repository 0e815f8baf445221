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

template <class V>
PreparedParts<redistributed_view_t<V>> prepare_roll(const DTensor<V>& tensor, std::int64_t shift,
                                                    int tensor_dim) {
  using Result = redistributed_view_t<V>;
  constexpr auto label = "tessera::roll";
  const auto& mesh = tensor.device_mesh();
  const int dim = dim_of(tensor.shape(), tensor_dim);
  const auto result = allocate_dtensor<Result>(mesh, tensor.spec(), label);
  return {result,
          {moves_of_roll(mesh, tensor.spec(), array_ref(tensor.to_local()),
                         array_ref(result.to_local()), shift, dim),
           settings_for<V, Result>(),
           [spec = tensor.spec(), shift, dim] { return roll_in_words(spec, shift, dim); },
           held_with(tensor, result.to_local()), label}};
}

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
  return detail::move_parts("roll", exec, tensor.device_mesh(),
                            [&] { return detail::prepare_roll(tensor, shift, tensor_dim); });
}

/// Starts roll() in the background.
template <LocalView V>
Pending<DTensor<redistributed_view_t<V>>> roll_async(const DTensor<V>& tensor, std::int64_t shift,
                                                     int tensor_dim) {
  return roll_async(Execution(), tensor, shift, tensor_dim);
}
/// Starts roll() in the background, ordered on `exec`.
template <LocalView V>
Pending<DTensor<redistributed_view_t<V>>> roll_async(const Execution& exec,
                                                     const DTensor<V>& tensor, std::int64_t shift,
                                                     int tensor_dim) {
  return detail::start_parts("roll_async", exec, tensor.device_mesh(),
                             [&] { return detail::prepare_roll(tensor, shift, tensor_dim); });
}

}  // namespace tessera
