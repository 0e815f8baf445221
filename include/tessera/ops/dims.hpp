// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>

namespace tessera {

/// Dims lists the tensor dims over which a reduction goes; they are missing in the result. Negative
/// dims count from the end. For a tensor x of 3 dims, ops::sum(x, Dims{0, 2}) has 1 dim.
template <std::size_t N>
struct Dims {
  std::array<int, N> dims;

  template <std::integral... I>
  constexpr explicit Dims(I... tensor_dims) : dims{static_cast<int>(tensor_dims)...} {}
};
/// Derives the number of dims from the arguments.
template <std::integral... I>
Dims(I...) -> Dims<sizeof...(I)>;

/// KeepDims lists the tensor dims over which a reduction goes; they have extent 1 in the result,
/// which therefore broadcasts to the shape of the operand. Negative dims count from the end.
template <std::size_t N>
struct KeepDims {
  std::array<int, N> dims;

  template <std::integral... I>
  constexpr explicit KeepDims(I... tensor_dims) : dims{static_cast<int>(tensor_dims)...} {}
};
/// Derives the number of dims from the arguments.
template <std::integral... I>
KeepDims(I...) -> KeepDims<sizeof...(I)>;

}  // namespace tessera
