// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For redistribute: whether arrays share memory.
#pragma once

#include <cstdint>

#include <tessera/tensor/array_ref.hpp>

namespace tessera::detail {

/// Holds the addresses of the first byte of an array and of the first one behind it.
struct AddressRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};
/// Returns the range of `array`; an empty one if that has no elements.
AddressRange address_range(const ArrayRef& array);

/// Returns whether an element of `a` shares memory with an element of `b`, which has the same size.
///
/// The answer is exact where strides nest, as those of parts of one array do: the even columns of a
/// matrix share nothing with the odd ones. Where it would take long to find, the answer is whether
/// the address ranges overlap.
bool share_memory(const ArrayRef& a, const ArrayRef& b);

/// Returns whether two elements of `array` share memory, as those along a dim of stride 0 do. It is
/// true where the answer would take long to find.
bool shares_memory_with_itself(const ArrayRef& array);

}  // namespace tessera::detail
