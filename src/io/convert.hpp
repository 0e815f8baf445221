// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <tessera/extents/element_type.hpp>

namespace tessera::detail {

/// Numbers of kind `from` stay what they are in kind `to`: bool to any number, integers to integers
/// that hold all their values, real numbers to floating ones and to complex ones (which may round),
/// complex to complex. Not opaque.
bool can_convert(ElementKind from, ElementKind to);

/// Converts `count` dense elements in host memory. Any byte but 0 is true. Expects can_convert.
void convert(ElementKind from, const std::byte* source, ElementKind to, std::byte* destination,
             std::int64_t count);

/// Turns `count` dense elements to the other byte order, in place; parts of complex numbers on
/// their own.
void swap_bytes(ElementType type, std::byte* data, std::int64_t count);

}  // namespace tessera::detail
