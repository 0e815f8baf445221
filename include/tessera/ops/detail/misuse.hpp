// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <tessera/ops/detail/operand.hpp>

namespace tessera::detail {

template <class... A>
inline constexpr bool has_tensor = (is_dtensor_v<A> || ...);
template <class... A>
inline constexpr bool has_view = (Kokkos::is_view_v<A> || ...);
template <class... A>
inline constexpr bool has_other_tensor = ((is_tensor_operand_v<A> && !is_dtensor_v<A>) || ...);

/// Names the first tensor type among operands.
template <class... A>
struct FirstTensor {
  using type = DTensor<typename FirstView<typename OperandView<A>::type...>::type>;
};

}  // namespace tessera::detail
