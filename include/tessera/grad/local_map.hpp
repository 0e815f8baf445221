// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/error/detail/never.hpp>
#include <tessera/grad/detail/local_map_adjoint.hpp>
#include <tessera/grad/detail/local_map_inputs.hpp>
#include <tessera/grad/detail/local_map_outputs.hpp>
#include <tessera/grad/tape.hpp>
#include <tessera/local_map/detail/checks.hpp>
#include <tessera/local_map/local_map.hpp>

namespace tessera::grad {

/// Is a function on local Views with its adjoint, callable with variables and tensors. It is made by
/// grad::local_map.
template <class Func, class Vjp, class Out>
class LocalMapWithVjp {
 public:
  LocalMapWithVjp(Func func, Vjp vjp, Out out, InPlacements in, InPlacements in_grad,
                  LocalMapOptions options)
      : plain_(std::move(func), out, in, options),
        vjp_(std::make_shared<const Vjp>(std::move(vjp))),
        out_(std::move(out)),
        in_(std::move(in)),
        in_grad_(std::move(in_grad)),
        options_(std::move(options)) {}

  /// Runs the function on the local pieces of the arguments, see grad::local_map.
  template <class... A>
  auto operator()(A&&... arguments) const {
    if constexpr (!detail::expect_arguments<std::remove_cvref_t<A>...>())
      return detail::Unusable();
    else if constexpr (!detail::HasVariable<std::remove_cvref_t<A>...>)
      return plain_(std::forward<A>(arguments)...);
    else if constexpr (!detail::expect_callable<
                           Func, detail::Localized<const detail::value_of_t<A>&>...>())
      return detail::Unusable();
    else
      return call(std::index_sequence_for<A...>(), arguments...);
  }

 private:
  using Outs = detail::as_tuple_t<Out>;

  template <std::size_t... I, class... A>
  auto call(std::index_sequence<I...>, const A&... arguments) const {
    const auto tape = detail::tape_of(arguments...);
    detail::LocalMapArguments all;
    (all.add(arguments), ...);
    const auto mesh = detail::mesh_of_call(all.leaves, options_.device_mesh);
    std::vector<DTensorSpec> specs;
    const auto seen = as_func_sees<I...>(mesh, all, specs, arguments...);
    const auto y = detail::as_tuple(std::apply(plain_, seen));
    const auto results = detail::output_variables<Outs>(tape, y);

    using Inputs = detail::KeptTuple<A...>;
    using Outputs = detail::kept_outputs_t<std::remove_const_t<decltype(results)>>;
    using Adjoint = detail::LocalMapAdjoint<Vjp, Inputs, Outputs, A...>;
    if constexpr (!detail::expect_vjp<true, Vjp, typename Adjoint::Arguments, A...>()) {
      return detail::Unusable();
    } else {
      if (tape)
        tape->record(detail::slots_of(results),
                     Adjoint{vjp_,
                             options_.name,
                             mesh,
                             {(detail::is_variable_v<A> ? specs[all.start(I)] : DTensorSpec())...},
                             Inputs{detail::keep_as_seen(*tape, arguments, std::get<I>(seen))...},
                             detail::keep_outputs(*tape, results)});
      if constexpr (detail::is_tuple_v<Out>)
        return results;
      else
        return std::get<0>(results);
    }
  }

  /// Checks the arguments, and returns them as func sees them. Sets the specs of the tensors whose
  /// pieces vjp returns, by leaf.
  template <std::size_t... I, class... A>
  auto as_func_sees(const DeviceMesh& mesh, detail::LocalMapArguments& all,
                    std::vector<DTensorSpec>& specs, const A&... arguments) const {
    auto* const calls = mesh.is_null() ? nullptr : detail::MeshAccess::calls(mesh);
    return collectively(calls, "local_map", [&](Operation& operation) {
      detail::check_inputs(all.leaves, in_, mesh, options_.redistribute_inputs);
      specs = detail::gradient_specs(all.leaves, all.is_variable, in_grad_);
      const auto outputs = detail::outputs_of(out_);
      const detail::LocalMapCall text{all.leaves, outputs};
      operation.agree(text.hash(), text);
      return std::tuple<detail::value_of_t<A>...>{all.seen(I, arguments)...};
    });
  }

  tessera::LocalMap<Func, Out, false> plain_;
  std::shared_ptr<const Vjp> vjp_;
  Out out_;
  InPlacements in_;
  InPlacements in_grad_;
  LocalMapOptions options_;
};

/// Returns a callable that runs `func` on the local pieces of its arguments, as tessera::local_map
/// does, and has the adjoint `vjp`. Each argument may be a Variable, a LocalVariable, a DTensor or
/// something else.
///
/// func: gets the local View of each variable and tensor, and other arguments as const. The Views
///       that it returns become Variables, with `out` as in tessera::local_map; at least one output
///       has a placement. If no argument is a Variable or a tensor they become LocalVariables.
/// vjp:  is called as vjp(inputs…, outputs…, output gradients…), once in a backward pass, on the
///       ranks of the mesh. It gets what func got, all that func returned, and the local View of
///       the gradient of each output that has a placement. These gradients have the placements of
///       the output, with Replicate for Partial; they are zeros if no gradient has arrived. vjp
///       returns one View for each argument that is a variable, in their order: a single View, or a
///       std::tuple or std::pair.
/// in:      has one InPlacement per flattened argument, as in tessera::local_map. Variables, and
///          tensors beside them, are not in containers.
/// in_grad: says of which tensors the Views that vjp returns are local pieces. It has one element
///          per flattened argument: placements, or keep for those that func saw with Replicate for
///          Partial, and nullopt for what is no Variable. Left out, it is keep for all Variables.
///          It is Partial() where func saw replicated values, and each rank computes a contribution
///          to their gradient.
/// options: with redistribute_inputs, vjp gets the redistributed inputs, which are kept until then.
///          Their gradients travel when they reach a watched variable, which has its own
///          placements, or an operation that needs other ones.
/// Without a variable among the arguments, the result is that of tessera::local_map.
///
/// Example:    auto scaled = grad::local_map(
///                 [](const Matrix& x, const Vector& scale) { return ops::multiply(x, scale); },
///                 [](const Matrix& x, const Vector& scale, const Matrix& /*y*/, const Matrix& dy) {
///                   return std::tuple(ops::multiply(dy, scale), ops::sum(ops::multiply(dy, x), 0));
///                 },
///                 {Shard(0)}, {{Shard(0)}, {Replicate()}}, {{Shard(0)}, {Partial()}});
/// Collective: as tessera::local_map; the backward pass over the mesh.
/// Errors:     those of tessera::local_map; InvalidArgument for wrong numbers or kinds of in_grad,
///             and, in the backward pass, for a View that is no local piece of the gradient; what
///             vjp throws.
template <class Func, class Vjp>
LocalMapWithVjp<Func, Vjp, OutPlacement> local_map(Func func, Vjp vjp, OutPlacement out,
                                                   InPlacements in = {}, InPlacements in_grad = {},
                                                   LocalMapOptions options = {}) {
  return {std::move(func), std::move(vjp),     std::move(out),
          std::move(in),   std::move(in_grad), std::move(options)};
}
/// Takes a function that returns a tuple or a pair. `out` has an output placement for each element,
/// `none` for one that is passed on as it is.
template <class Func, class Vjp, class... Outs>
LocalMapWithVjp<Func, Vjp, std::tuple<detail::StoredOut<Outs>...>> local_map(
    Func func, Vjp vjp, const std::tuple<Outs...>& out, InPlacements in = {},
    InPlacements in_grad = {}, LocalMapOptions options = {}) {
  using Stored = std::tuple<detail::StoredOut<Outs>...>;
  static_assert(detail::has_placement<Stored>,
                "grad::local_map: expected an output placement: what is passed on as it is has no "
                "gradient");
  return {std::move(func), std::move(vjp),     Stored(out),
          std::move(in),   std::move(in_grad), std::move(options)};
}
/// Stops the compiler: without an output placement there is no gradient.
template <class Func, class Vjp>
detail::Unusable local_map(const Func&, const Vjp&, None, const InPlacements& = {},
                           const InPlacements& = {}, const LocalMapOptions& = {}) {
  static_assert(detail::never<Func>,
                "grad::local_map: expected an output placement: what is passed on as it is has no "
                "gradient");
  return {};
}

}  // namespace tessera::grad
