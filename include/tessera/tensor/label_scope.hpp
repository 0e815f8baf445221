// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tessera {

/// While a LabelScope lives, the Views of results that this thread makes have its label, so that the
/// tools of Kokkos tell one array from another. Without one, the label is the name of the call, such
/// as "tessera::zeros". Scopes nest; the innermost one counts. A result in memory of an earlier result
/// keeps the label of that. Local.
///
/// Example: { LabelScope label("temperature"); t = zeros<View>(mesh, Shard(0), {ny, nx}); }
class LabelScope {
 public:
  explicit LabelScope(std::string label);
  ~LabelScope();
  LabelScope(const LabelScope&) = delete;
  LabelScope& operator=(const LabelScope&) = delete;
};

namespace detail {

/// Returns the label of a View that `function` makes as its result.
std::string label_of_result(const char* function);

}  // namespace detail
}  // namespace tessera
