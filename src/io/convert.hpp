// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <tessera/extents/element_type.hpp>

namespace tessera::detail {

/// Returns whether numbers of kind `from` convert to kind `to`: bool to any number, integers to
/// integers that hold all their values, real numbers to floating-point and complex ones (which may
/// round), complex numbers to complex ones. Opaque elements do not convert.
bool can_convert(ElementKind from, ElementKind to);

/// Converts `count` dense elements in host memory. A bool of any byte but 0 is true. Expects
/// can_convert(from, to).
void convert(ElementKind from, const std::byte* source, ElementKind to, std::byte* destination,
             std::int64_t count);

/// Swaps the byte order of `count` dense elements in place, of both parts of a complex number
/// separately.
void swap_bytes(ElementType type, std::byte* data, std::int64_t count);

}  // namespace tessera::detail
