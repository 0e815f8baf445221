// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera {

template <class V>
class DTensor;

/// Tells whether T is a DTensor of some View type; references and const types are not.
template <class T>
inline constexpr bool is_dtensor_v = false;
template <class V>
inline constexpr bool is_dtensor_v<DTensor<V>> = true;

/// Tells whether operators compute on a T as on one array. A layer above may specialise it for types
/// of its own, for which it then declares apply_op().
template <class T>
inline constexpr bool is_tensor_operand_v = is_dtensor_v<T>;

}  // namespace tessera
