// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <tessera/error/detail/never.hpp>
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

/// Stops the compiler: a tensor meets a plain View.
template <class... A>
auto refuse_view(const A&...) {
  static_assert(
      never<A...>,
      "an operator takes tensors and numbers: a View means nothing without its placements. "
      "Make it a tensor by from_local(view, mesh, placements), or write x + implicit(view) "
      "with ImplicitReplication implicit(mesh)");
  return typename FirstTensor<A...>::type();
}

}  // namespace tessera::detail
