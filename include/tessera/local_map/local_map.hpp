// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/local_map/detail/checks.hpp>
#include <tessera/local_map/detail/misuse.hpp>
#include <tessera/local_map/detail/results.hpp>
#include <tessera/local_map/placements.hpp>
#include <tessera/tensor/detail/named_region.hpp>

namespace tessera {

/// LocalMapOptions say how a local_map takes its arguments. They are the same on every rank, except
/// the name.
struct LocalMapOptions {
  DeviceMesh device_mesh = {};       ///< if given, all DTensor arguments must be on it
  bool redistribute_inputs = false;  ///< whether to redistribute inputs with other placements than
                                     ///< asked for; if not: PlacementMismatch
  std::string name = {};             ///< name of the Kokkos region in which calls run; empty: none
};

/// A LocalMap is a function on local Views, callable with DTensors. It is made by local_map.
template <class Function, class Out, bool wraps_always>
class LocalMap {
 public:
  LocalMap(Function function, Out out, InPlacements in, LocalMapOptions options)
      : function_(std::move(function)),
        out_(std::move(out)),
        in_(std::move(in)),
        options_(std::move(options)) {}

  /// Runs the function on the local pieces of the arguments, see local_map. Collective as described
  /// there.
  template <class... Arguments>
  auto operator()(Arguments&&... arguments) const {
    constexpr bool wraps = wraps_always || (detail::has_dtensor_v<Arguments> || ...);
    if constexpr (!detail::expect_no_variables<Arguments...>()) {
      return detail::Unusable();
    } else if constexpr (!detail::expect_callable<Function, detail::Localized<Arguments>...>()) {
      return detail::Unusable();
    } else {
      using Result = std::remove_cvref_t<
          std::invoke_result_t<const Function&, detail::Localized<Arguments>...>>;
      constexpr bool has_outputs = wraps || std::is_void_v<Result>;
      if constexpr (!detail::expect_output<Result, std::conditional_t<has_outputs, Out, None>>())
        return typename detail::Stopped<Result>::type();
      else
        return call<wraps>(std::forward<Arguments>(arguments)...);
    }
  }

 private:
  template <bool wraps, class... Arguments>
  auto call(Arguments&&... arguments) const {
    std::vector<detail::Leaf> leaves;
    (detail::add_leaves(leaves, arguments), ...);
    const auto mesh = detail::mesh_of_call(leaves, options_.device_mesh);
    const detail::NamedRegion region(options_.name.c_str());
    auto* const calls = mesh.is_null() ? nullptr : detail::MeshAccess::calls(mesh);
    return collectively(calls, "local_map", [&](Operation& operation) {
      detail::check_inputs(leaves, in_, mesh, options_.redistribute_inputs);
      const auto outputs = detail::outputs_of(out_);
      const detail::LocalMapCall call{leaves, outputs};
      operation.agree(call.hash(), call);
      return run<wraps>(mesh, leaves, std::forward<Arguments>(arguments)...);
    });
  }

  template <bool wraps, class... Arguments>
  auto run(const DeviceMesh& mesh, const std::vector<detail::Leaf>& leaves,
           Arguments&&... arguments) const {
    detail::Localizer localize(leaves);
    const bool is_absent = !mesh.is_null() && !mesh.coordinate();

    using Locals = std::tuple<decltype(localize(std::forward<Arguments>(arguments)))...>;
    using Result = std::remove_cvref_t<decltype(std::apply(function_, std::declval<Locals>()))>;
    using Results = detail::Results<Result, std::conditional_t<std::is_void_v<Result>, None, Out>>;

    if constexpr (std::is_void_v<Result>) {
      if (!is_absent)
        std::apply(function_, Locals{localize(std::forward<Arguments>(arguments))...});
    } else if constexpr (wraps) {
      if (is_absent) return Results::absent(out_, mesh, leaves);
      Locals locals{localize(std::forward<Arguments>(arguments))...};
      return Results::wrapped(Result(std::apply(function_, std::move(locals))), out_, mesh, leaves);
    } else {
      if (is_absent) return Result{};
      return Result(std::apply(function_, Locals{localize(std::forward<Arguments>(arguments))...}));
    }
  }

  Function function_;
  Out out_;
  InPlacements in_;
  LocalMapOptions options_;
};

/// Returns a callable that runs `func` on the local pieces of its DTensor arguments and makes
/// DTensors of the Views that `func` returns.
///
/// Each DTensor argument, also one in a tuple, pair, array or vector, or in a tree of these, is
/// replaced by its local View (exactly its view_type); everything else is passed on. A container that
/// holds tensors at any depth counts as its elements, flattened depth first, and has as many as it
/// holds in this call. A container without tensors is one argument.
///
/// in:   one InPlacement per flattened argument; if left out, nothing is checked. A DTensor with
///       other placements than asked for is redistributed if options.redistribute_inputs is set;
///       otherwise PlacementMismatch is thrown. What func writes into a redistributed input is
///       lost, and func must not return an unmanaged View of one.
/// out:  none, Placements, even, like_input or shaped; or a std::tuple of them, one for each
///       element of the tuple (or pair) that func returns.
/// Without a DTensor argument the result is what func returns, unless a mesh is the first argument
/// of local_map: then Views always become DTensors.
///
/// Example:    auto gemm = local_map(local_gemm, {Partial()}, {{Shard(1)}, {Shard(0)}});
///             auto y = gemm(w, x);
/// Collective: over the mesh. It communicates if the ranks have not made such a call before, if
///             inputs are redistributed or output sizes inferred, if an output without a Shard (or
///             with even) has a shape that is new, and if func communicates. Off the mesh func does
///             not run; plain outputs are value-initialised.
/// Errors:     InvalidArgument for wrong numbers or kinds of placements, a View that does not fit
///             like_input or shaped, and Views of different shapes on the ranks for an output
///             without a Shard, or with even; MeshMismatch; PlacementMismatch, also for inputs that are
///             split by the same mesh dims at different boundaries; what func throws (on other
///             ranks Error with its text; a type of Tessera stays that type everywhere). Every rank
///             that cannot complete the call throws, see collectively().
template <class Function>
LocalMap<Function, OutPlacement, false> local_map(Function func, OutPlacement out,
                                                  InPlacements in = {},
                                                  LocalMapOptions options = {}) {
  return {std::move(func), std::move(out), std::move(in), std::move(options)};
}
/// Takes a function that returns nothing, or one value that is passed on as it is.
template <class Function>
LocalMap<Function, None, false> local_map(Function func, None out, InPlacements in = {},
                                          LocalMapOptions options = {}) {
  return {std::move(func), out, std::move(in), std::move(options)};
}

namespace detail {

/// StoredOut is the type of a stored output placement: None or OutPlacement.
template <class Out>
using StoredOut = std::conditional_t<std::is_convertible_v<Out, None>, None, OutPlacement>;

inline LocalMapOptions on(const DeviceMesh& mesh, LocalMapOptions options) {
  require<MeshMismatch>(options.device_mesh.is_null() || options.device_mesh == mesh, [&] {
    const auto [expected, got] = told_apart(mesh, options.device_mesh);
    return "local_map: expected options.device_mesh to be the mesh given first, " + expected +
           ", got " + got;
  });
  options.device_mesh = mesh;
  return options;
}

}  // namespace detail

/// Takes a function that returns a tuple or a pair. `out` has an output placement for each element,
/// `none` for one that is passed on as it is. Another number of placements does not compile.
template <class Function, class... Outs>
LocalMap<Function, std::tuple<detail::StoredOut<Outs>...>, false> local_map(
    Function func, const std::tuple<Outs...>& out, InPlacements in = {},
    LocalMapOptions options = {}) {
  return {std::move(func), std::tuple<detail::StoredOut<Outs>...>(out), std::move(in),
          std::move(options)};
}

/// Takes `mesh`, too: Views that func returns become DTensors even if no argument is one.
template <class Function>
LocalMap<Function, OutPlacement, true> local_map(const DeviceMesh& mesh, Function func,
                                                 OutPlacement out, InPlacements in = {},
                                                 LocalMapOptions options = {}) {
  return {std::move(func), std::move(out), std::move(in), detail::on(mesh, std::move(options))};
}
/// Takes `mesh`, and a function that returns nothing, or one value that is passed on as it is.
template <class Function>
LocalMap<Function, None, true> local_map(const DeviceMesh& mesh, Function func, None out,
                                         InPlacements in = {}, LocalMapOptions options = {}) {
  return {std::move(func), out, std::move(in), detail::on(mesh, std::move(options))};
}
/// Takes `mesh`, and a function that returns a tuple or a pair.
template <class Function, class... Outs>
LocalMap<Function, std::tuple<detail::StoredOut<Outs>...>, true> local_map(
    const DeviceMesh& mesh, Function func, const std::tuple<Outs...>& out, InPlacements in = {},
    LocalMapOptions options = {}) {
  return {std::move(func), std::tuple<detail::StoredOut<Outs>...>(out), std::move(in),
          detail::on(mesh, std::move(options))};
}

}  // namespace tessera
