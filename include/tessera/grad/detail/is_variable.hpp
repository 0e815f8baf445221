// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <tessera/ops/detail/operand.hpp>

namespace tessera {

namespace grad {
template <class T>
class BasicVariable;
}

/// Is true: operators compute on variables as on tensors.
template <class T>
inline constexpr bool is_tensor_operand_v<grad::BasicVariable<T>> = true;

namespace detail {

template <class T>
inline constexpr bool is_variable_v = false;
template <class T>
inline constexpr bool is_variable_v<grad::BasicVariable<T>> = true;

/// Is true for operands of which at least one is a variable.
template <class... A>
concept HasVariable = (is_variable_v<A> || ...);

template <class T>
struct OperandElement<grad::BasicVariable<T>> : OperandElement<T> {};
template <class T>
struct OperandView<grad::BasicVariable<T>> : OperandView<T> {};
template <class T>
inline constexpr std::size_t operand_rank<grad::BasicVariable<T>> = operand_rank<T>;

}  // namespace detail
}  // namespace tessera
