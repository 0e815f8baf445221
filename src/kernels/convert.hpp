// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine and movement: copies that change values on their way.
#pragma once

#include <cstdint>

#include <tessera/extents/factor.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera::detail {

/// Selects how a kernel writes: as usual (`cached`) or, where that is faster, with non-temporal
/// stores (`non_temporal`), for results so large that they leave the caches anyway.
enum class Stores : std::uint8_t { cached, non_temporal };

/// Sets `destination` to the elements of `source`, converted to its type, and scaled. Floating-point
/// numbers become integers by truncation; what is too large becomes the largest integer, and NaN
/// becomes 0. Numbers become bool by comparison with 0. Scaling happens in the type of the
/// destination, for 16-bit numbers in float; integers wrap.
///
/// Both arrays have equal extents and lie in one memory space; they do not overlap. Work is ordered
/// on `execution`, as that of copy() is.
/// Errors: InvalidArgument unless converts_to(), for numbers that do not fit the destination, and
/// for long double on a device.
void convert(const Execution& execution, const ArrayRef& source, const ArrayRef& destination,
             const Scaling& scaling = {}, Stores stores = Stores::cached);

}  // namespace tessera::detail
