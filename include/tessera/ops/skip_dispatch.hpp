// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/ops/factories.hpp>
#include <tessera/ops/operator.hpp>
#include <tessera/ops/reductions.hpp>

namespace tessera {

/// A SkipDTensorDispatch runs operators on local Views: skip(ops::sum, t, Dims{0}) is
/// ops::sum(t.to_local(), Dims{0}), a View. Placements do not matter, and nothing travels.
///
/// Operators that are given to the constructor, as objects or, but for factories, by name, are kept: they compute on
/// the tensors, and the call returns the local View of the result. If that is Partial, the View
/// holds the contribution of this rank.
class SkipDTensorDispatch {
 public:
  /// Takes the operators that are kept. Errors: InvalidArgument for a name that no operator has.
  template <class... Op>
  explicit SkipDTensorDispatch(const Op&... kept) : kept_{detail::operator_name(kept)...} {}

  /// Runs an operator and returns a View; the first argument may be an execution space instance.
  /// Local, unless the operator is kept.
  template <class Op, class... A>
  auto operator()(const Op& op, const A&... arguments) const {
    using Local = std::remove_cvref_t<decltype(op(local(arguments)...))>;
    const auto is_kept = std::ranges::find(kept_, detail::operator_name(op)) != kept_.end();
    if (is_kept) return Local(op(arguments...).to_local());
    return op(local(arguments)...);
  }

 private:
  template <class A>
  static decltype(auto) local(const A& argument) {
    if constexpr (is_dtensor_v<A>)
      return argument.to_local();
    else
      return (argument);
  }

  std::vector<std::string> kept_;
};

}  // namespace tessera
