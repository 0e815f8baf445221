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

}  // namespace tessera
