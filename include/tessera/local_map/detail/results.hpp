// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/local_map/detail/inputs.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera::detail {

/// Wrapped is the type that one returned value becomes: a DTensor for a View with a placement, the
/// type of the value itself with none.
template <class Value, class Placement>
struct Wrapped {
  using type = DTensor<Value>;
};
template <class Value>
struct Wrapped<Value, None> {
  using type = Value;
};

template <class Value>
Output output_of(const OutPlacement& placement, const Extents& local_shape) {
  return {&placement, local_shape, static_extents<Value>(),
          element_type<typename Value::value_type>()};
}

template <class Value, class Placement>
void add_output(std::vector<Output>& outputs, const Value& value, const Placement& placement) {
  if constexpr (!std::is_same_v<Placement, None>)
    outputs.push_back(output_of<Value>(placement, extents_of(value)));
}

template <class Value, class Placement>
typename Wrapped<Value, Placement>::type wrap(Value&& value, const Placement&,
                                              const DeviceMesh& mesh,
                                              std::vector<DTensorSpec>::const_iterator& spec) {
  if constexpr (std::is_same_v<Placement, None>) {
    return std::forward<Value>(value);
  } else {
    const auto& own = *spec++;
    return DTensorAccess::make(with_piece_extents(value, mesh, own), mesh, own);
  }
}

/// Returns the value of an output on a rank off the mesh: an empty DTensor, or a value-initialised
/// one.
template <class Value, class Placement>
typename Wrapped<Value, Placement>::type absent(const Placement& placement, const DeviceMesh& mesh,
                                                const std::vector<Leaf>& leaves) {
  if constexpr (std::is_same_v<Placement, None>) {
    return Value{};
  } else {
    const Output output = output_of<Value>(placement, {});
    return DTensorAccess::make(Value(), mesh, absent_spec(mesh, output, leaves));
  }
}

inline const OutPlacement* placement_of(const OutPlacement& out) {
  return &out;
}
inline const OutPlacement* placement_of(None) {
  return nullptr;
}

/// Returns the placement of each output; null stands for none.
template <class Out>
std::array<const OutPlacement*, 1> outputs_of(const Out& out) {
  return std::array{placement_of(out)};
}
template <class... Outs>
std::array<const OutPlacement*, sizeof...(Outs)> outputs_of(const std::tuple<Outs...>& outs) {
  return std::apply(
      [](const auto&... out) {
        return std::array<const OutPlacement*, sizeof...(Outs)>{placement_of(out)...};
      },
      outs);
}

/// Results makes the outputs of one call. Result is what func returns, Out its placement or the
/// tuple of its placements.
template <class Result, class Out>
struct Results {
  using type = typename Wrapped<Result, Out>::type;

  static type absent(const Out& out, const DeviceMesh& mesh, const std::vector<Leaf>& leaves) {
    return detail::absent<Result>(out, mesh, leaves);
  }

  static type wrapped(Result&& result, const Out& out, const DeviceMesh& mesh,
                      const std::vector<Leaf>& leaves) {
    std::vector<Output> outputs;
    add_output(outputs, result, out);
    const auto specs = output_specs(mesh, outputs, leaves);
    auto spec = specs.begin();
    return wrap(std::move(result), out, mesh, spec);
  }
};

template <>
struct Results<void, None> {
  using type = void;
};

template <class Tuple, class... Outs>
struct TupleResults {
  template <std::size_t... I>
  static auto type_of(std::index_sequence<I...>)
      -> std::tuple<typename Wrapped<std::tuple_element_t<I, Tuple>, Outs>::type...>;
  using Indices = std::index_sequence_for<Outs...>;
  using type = decltype(type_of(Indices()));
  using Out = std::tuple<Outs...>;

  static type absent(const Out& out, const DeviceMesh& mesh, const std::vector<Leaf>& leaves) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return type{
          detail::absent<std::tuple_element_t<I, Tuple>>(std::get<I>(out), mesh, leaves)...};
    }
    (Indices());
  }

  static type wrapped(Tuple&& result, const Out& out, const DeviceMesh& mesh,
                      const std::vector<Leaf>& leaves) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::vector<Output> outputs;
      (add_output(outputs, std::get<I>(result), std::get<I>(out)), ...);
      const auto specs = output_specs(mesh, outputs, leaves);
      auto spec = specs.begin();
      return type{wrap(std::get<I>(std::move(result)), std::get<I>(out), mesh, spec)...};
    }
    (Indices());
  }
};

template <class... Values, class... Outs>
struct Results<std::tuple<Values...>, std::tuple<Outs...>>
    : TupleResults<std::tuple<Values...>, Outs...> {};
template <class A, class B, class... Outs>
struct Results<std::pair<A, B>, std::tuple<Outs...>> : TupleResults<std::pair<A, B>, Outs...> {};

}  // namespace tessera::detail
