// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <tessera/tensor/array_ref.hpp>

// What calls of the library do not write to: memory that a tape keeps for its backward pass, and
// Views whose elements share memory.
namespace tessera::detail {

/// Counts the arrays that are saved now, in all threads.
extern std::atomic<std::int64_t> saved_arrays;

/// Returns an object that saves an array: while it lives, require_unsaved() throws for what shares
/// memory with the array. `function`, a text in static storage, names in errors who needs the elements.
/// The object is null for an array without elements.
std::shared_ptr<const void> save_memory(const ArrayRef& array, const char* function);

/// Throws InvalidArgument if an element of `array` shares memory with a saved array. Its text names no call.
void require_not_saved(const ArrayRef& array);

/// Throws InvalidArgument if a tape keeps some of the elements of `array`.
inline void require_unsaved(const ArrayRef& array) {
  if (saved_arrays.load(std::memory_order_relaxed) != 0) [[unlikely]]
    require_not_saved(array);
}

/// Throws InvalidArgument if two elements of `destination` share memory, as those along a dim of
/// stride 0 do. Its text names no call.
void require_separate_elements(const ArrayRef& destination);

/// Throws InvalidArgument if a call must not write to `array`, because its elements share memory, or
/// because a tape keeps some of them. A function that writes to memory which its caller has chosen
/// calls it where it checks its arguments: before the ranks agree on the call, and inside of
/// collectively() if there is one.
inline void require_writable(const ArrayRef& array) {
  require_separate_elements(array);
  require_unsaved(array);
}

}  // namespace tessera::detail
