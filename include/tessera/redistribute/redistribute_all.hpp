// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <tessera/redistribute/redistribute.hpp>

namespace tessera {

namespace detail {

/// Describes several redistributions as text, for Operation::agree().
struct RedistributeAllCall {
  std::vector<RedistributeCall> calls;

  std::string operator()() const;
};

/// Returns whether no other tensor of the list has the memory of this one.
template <class V>
bool has_own_memory(const std::vector<DTensor<V>>& tensors, const DTensor<V>& tensor) {
  const auto* data = tensor.to_local().data();
  return std::count_if(tensors.begin(), tensors.end(), [&](const DTensor<V>& other) {
           return other.to_local().data() == data;
         }) == 1;
}

template <class Out, class V>
auto redistribute_all(const Execution& execution, const std::vector<DTensor<V>>& tensors,
                      const Placements& placements, const RedistributeOptions& options) {
  using Result = RedistributedView<Out, V>;
  std::vector<DTensor<Result>> results;
  if (tensors.empty()) return results;
  const auto& mesh = tensors.front().device_mesh();
  collectively(mesh.calls(), "redistribute_all", [&](Operation& operation) {
    constexpr auto type = element_type<typename Result::value_type>();
    const auto adapted = options_for<V, Result>(options);
    std::vector<DTensorSpec> targets;
    RedistributeAllCall text;
    std::uint64_t hash = tensors.size();
    for (const auto& tensor : tensors) {
      require<MeshMismatch>(tensor.device_mesh() == mesh, [&] {
        return "redistribute_all: expected all tensors on mesh " + to_string(mesh) +
               ", got one on mesh " + to_string(tensor.device_mesh());
      });
      targets.push_back(with_placements(tensor.spec(), placements, "redistribute_all"));
      require_representable<Result>(targets.back(), "redistribute_all");
      hash = hash_combine(hash, plan_hash(tensor.spec(), targets.back(), type, adapted));
    }
    for (std::size_t i = 0; i < tensors.size(); ++i)
      text.calls.push_back({"redistribute", tensors[i].spec(), targets[i], type, adapted.wire_order,
                            adapted.on_device});
    operation.agree(hash, text);

    std::vector<Redistributor> redistributors;
    std::vector<Pieces> pieces;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto& tensor = tensors[i];
      if (!mesh.coordinate()) {
        results.push_back(allocate_dtensor<Result>(mesh, targets[i], "tessera::redistribute"));
        continue;
      }
      if constexpr (std::is_same_v<Result, V>)
        if (targets[i] == tensor.spec()) {
          results.push_back(tensor);
          continue;
        }
      redistributors.push_back(
          cached_redistributor(mesh, tensor.spec(), targets[i], type, adapted, "redistribute_all"));
      auto mine = options;
      mine.donate_source = options.donate_source && has_own_memory(tensors, tensor);
      results.push_back(
          result_tensor<Result>(execution, tensor, targets[i], redistributors.back(), mine));
      pieces.push_back({array_ref(tensor.to_local()), array_ref(results.back().to_local())});
    }
    if (redistributors.empty()) return finish(execution, "redistribute_all");
    keeping(
        mesh.communicator(),
        [&] { run_together(execution, redistributors, pieces, "tessera::redistribute_all"); },
        [&] {
          const auto all = std::make_shared<std::vector<std::shared_ptr<void>>>();
          for (std::size_t i = 0; i < results.size(); ++i)
            all->push_back(held(tensors[i].to_local(), results[i].to_local()));
          return all;
        });
  });
  return results;
}

/// Names the type of the last argument; the arguments before it are tensors.
template <class... Arguments>
using LastOf = std::tuple_element_t<sizeof...(Arguments) - 1, std::tuple<Arguments...>>;

}  // namespace detail

/// Redistributes several tensors of one View type on one mesh to the same placements, in one
/// exchange: the messages of all tensors are started at once, so that the latency is paid once. If
/// some tensors are Partial and others are not, there is one exchange for each kind.
///
/// Result:     the tensors in the order given, each as redistribute() returns it.
/// Collective: over the mesh, with tensors of the same specs in the same order; nothing happens
///             without tensors.
/// Errors:     those of redistribute(); MeshMismatch for tensors on different meshes.
template <class Out = void, class V>
auto redistribute_all(const std::vector<DTensor<V>>& tensors, const Placements& placements,
                      const RedistributeOptions& options = {}) {
  return detail::redistribute_all<Out>(Execution(), tensors, placements, options);
}
/// Orders the work on `exec`.
template <class Out = void, class Exec, class V>
requires Kokkos::is_execution_space_v<Exec>
auto redistribute_all(const Exec& exec, const std::vector<DTensor<V>>& tensors,
                      const Placements& placements, const RedistributeOptions& options = {}) {
  return detail::redistribute_all<Out>(Execution(exec), tensors, placements, options);
}

/// Takes tensors named one by one: redistribute_all(a, b, placements) returns an array of two.
template <class V, class... Rest>
requires(sizeof...(Rest) > 0 &&
         std::is_convertible_v<detail::LastOf<Rest...>,
                               Placements>) auto redistribute_all(const DTensor<V>& first,
                                                                  const Rest&... rest) {
  constexpr std::size_t size = sizeof...(Rest);
  const auto arguments = std::tie(first, rest...);
  const auto all = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return detail::redistribute_all<void>(Execution(),
                                          std::vector<DTensor<V>>{std::get<i>(arguments)...},
                                          Placements(std::get<size>(arguments)), {});
  }
  (std::make_index_sequence<size>());
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{all[i]...};
  }
  (std::make_index_sequence<size>());
}

}  // namespace tessera
