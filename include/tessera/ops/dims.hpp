// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>

namespace tessera {

/// Dims lists the tensor dims over which a reduction goes; they are missing in the result. Negative
/// dims count from the last one. Example: ops::sum(x, Dims{0, 2}) of 3 dims gives one of 1 dim.
template <std::size_t N>
struct Dims {
  std::array<int, N> dims;

  template <std::integral... I>
  constexpr explicit Dims(I... tensor_dims) : dims{static_cast<int>(tensor_dims)...} {}
};
template <std::integral... I>
Dims(I...) -> Dims<sizeof...(I)>;

/// KeepDims lists the tensor dims over which a reduction goes; they have extent 1 in the result.
template <std::size_t N>
struct KeepDims {
  std::array<int, N> dims;

  template <std::integral... I>
  constexpr explicit KeepDims(I... tensor_dims) : dims{static_cast<int>(tensor_dims)...} {}
};
template <std::integral... I>
KeepDims(I...) -> KeepDims<sizeof...(I)>;

}  // namespace tessera
