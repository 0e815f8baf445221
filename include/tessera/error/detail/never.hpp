// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::detail {

/// Is false for all types. static_assert(never<T>, "what to write instead") in the body of a
/// template stops programs that call it; g++ then prints six lines besides the chain of includes.
template <class... T>
inline constexpr bool never = false;

/// An Unusable is the result of a call that was stopped by a static_assert. It converts to
/// everything and can be called, so that the compiler reports the mistake alone, not what follows.
struct Unusable {
  template <class T>
  operator T() const;
  template <class... T>
  Unusable operator()(const T&...) const;
};

}  // namespace tessera::detail
