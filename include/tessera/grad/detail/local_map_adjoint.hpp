// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/grad/detail/local_map_outputs.hpp>
#include <tessera/grad/detail/vjp.hpp>
#include <tessera/grad/tape.hpp>
#include <tessera/tensor/detail/named_region.hpp>
#include <tessera/tensor/from_local.hpp>

namespace tessera::detail {

/// Returns the local View of a tensor; anything else as it is.
template <class T>
auto local_part(const T& value) {
  if constexpr (is_dtensor_v<T>)
    return value.to_local();
  else
    return value;
}
/// Returns the tuple of what vjp gets: the local Views of the inputs, of the outputs, and of the
/// gradients that have arrived at the outputs. The tuples hold what is kept of them.
template <class... Input, class... Output>
auto arguments_of_vjp(const std::tuple<Input...>& inputs, const std::tuple<Output...>& outputs) {
  const auto values = [](const auto&... kept) {
    return std::make_tuple(local_part(kept.value())...);
  };
  const auto views = [](const auto&... dy) { return std::make_tuple(local_part(dy)...); };
  const auto in = std::apply(values, inputs);
  const auto out = std::apply(values, outputs);
  return std::tuple_cat(in, out, std::apply(views, take_gradients(outputs)));
}

/// Is the adjoint of one call of a grad::local_map. Inputs and Outputs are the tuples of what is
/// kept of them; A names the types of the arguments.
template <class Vjp, class Inputs, class Outputs, class... A>
struct LocalMapAdjoint {
  std::shared_ptr<const Vjp> vjp;
  std::string name;                ///< name of the Kokkos region
  DeviceMesh mesh;                 ///< null if no argument is a tensor
  std::vector<DTensorSpec> specs;  ///< spec, by argument, of the tensor whose pieces vjp returns
  Inputs inputs;
  Outputs outputs;

  using Arguments =
      decltype(arguments_of_vjp(std::declval<const Inputs&>(), std::declval<const Outputs&>()));

  /// Passes the gradients of the outputs on to the inputs.
  void operator()() const {
    using Result = typename VjpResult<Vjp, Arguments>::type;
    using Views = as_tuple_t<Result>;
    const auto arguments = arguments_of_vjp(inputs, outputs);
    const NamedRegion region(name.c_str());
    auto* const calls = mesh.is_null() ? nullptr : MeshAccess::calls(mesh);
    const auto gradients = collectively(calls, "local_map", [&](Operation& operation) {
      operation.agree(1, [] { return std::string("the adjoint of a grad::local_map"); });
      const auto views = is_absent() ? Views() : as_tuple(Result(std::apply(*vjp, arguments)));
      return gradients_of(views, std::index_sequence_for<A...>());
    });
    pass_on(gradients, std::index_sequence_for<A...>());
  }

 private:
  bool is_absent() const { return !mesh.is_null() && !mesh.coordinate(); }

  /// Returns the tuple of the gradients of which these are the local Views.
  template <class Views, std::size_t... I>
  auto gradients_of(const Views& views, std::index_sequence<I...>) const {
    return std::tuple_cat(gradient_of<A, I>(views)...);
  }
  /// Returns the gradient of argument i in a tuple; an empty tuple if that is no variable.
  template <class Argument, std::size_t i, class Views>
  auto gradient_of(const Views& views) const {
    if constexpr (!is_variable_v<Argument>) {
      return std::tuple<>();
    } else {
      const auto& view = std::get<variables_before<i, A...>()>(views);
      if constexpr (is_dtensor_v<value_of_t<Argument>>) {
        return std::make_tuple(from_local(view, mesh, Target(specs[i]), specs[i].shape()));
      } else {
        if (!is_absent())
          require_gradient_shape(std::get<i>(inputs).form().shape(), extents_of(view));
        return std::make_tuple(view);
      }
    }
  }

  template <class Gradients, std::size_t... I>
  void pass_on(const Gradients& gradients, std::index_sequence<I...>) const {
    (add<A, I>(gradients), ...);
  }
  template <class Argument, std::size_t i, class Gradients>
  void add(const Gradients& gradients) const {
    if constexpr (is_variable_v<Argument>) {
      const auto& input = std::get<i>(inputs);
      const bool is_here = is_dtensor_v<value_of_t<Argument>> || !is_absent();
      if (input.is_wanted() && is_here) input.add(std::get<variables_before<i, A...>()>(gradients));
    }
  }
};

}  // namespace tessera::detail
