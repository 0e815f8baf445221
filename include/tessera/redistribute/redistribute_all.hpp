// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

namespace detail {

/// Describes several redistributions as text, for Operation::agree().
struct RedistributeAllCall {
  std::vector<RedistributeCall> calls;

  std::string operator()() const;
};

/// Throws MeshMismatch unless a tensor of a list is on the mesh of the first one.
void require_all_on(const DeviceMesh& mesh, const DeviceMesh& other);

/// Throws if two of the sources, which may be written to, share memory without being the same.
void require_separate_sources(std::span<const ArrayRef> sources);

/// Returns whether no other tensor of the list has the memory of this one.
template <class V>
bool has_own_memory(std::span<const DTensor<V>> tensors, const DTensor<V>& tensor) {
  const auto* data = tensor.to_local().data();
  return std::count_if(tensors.begin(), tensors.end(), [&](const DTensor<V>& other) {
           return other.to_local().data() == data;
         }) == 1;
}

template <class Out, class V>
std::vector<DTensor<redistributed_view_t<V, Out>>> redistribute_all(
    const Execution& execution, std::span<const DTensor<V>> tensors, const Target& target,
    const RedistributeOptions& options) {
  using Result = redistributed_view_t<V, Out>;
  std::vector<DTensor<Result>> results;
  if (tensors.empty()) return results;
  const auto& mesh = tensors.front().device_mesh();
  collectively(mesh, "redistribute_all", [&](Operation& operation) {
    constexpr auto type = element_type<typename Result::value_type>();
    const auto settings = settings_for<V, Result>(options.extra_memory);
    std::vector<DTensorSpec> targets;
    RedistributeAllCall text;
    std::uint64_t hash = tensors.size();
    for (const auto& tensor : tensors) {
      require_all_on(mesh, tensor.device_mesh());
      targets.push_back(target_spec(tensor.spec(), target));
      require_representable<Result>(targets.back());
      hash = hash_combine(hash, plan_hash(tensor.spec(), targets.back(), type, settings));
    }
    for (std::size_t i = 0; i < tensors.size(); ++i)
      text.calls.push_back({"redistribute", tensors[i].spec(), targets[i], type, settings});
    if (options.donate_source) {
      std::vector<ArrayRef> sources;
      for (const auto& tensor : tensors) sources.push_back(array_ref(tensor.to_local()));
      require_separate_sources(sources);
      for (const auto& source : sources) require_unsaved(source);
    }
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
        if (hold_alike(targets[i], tensor.spec())) {
          results.push_back(DTensorAccess::make(tensor.to_local(), mesh, targets[i]));
          continue;
        }
      redistributors.push_back(
          cached_redistributor(mesh, tensor.spec(), targets[i], type, settings));
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
            all->push_back(held_with(tensors[i], results[i].to_local()));
          return all;
        });
  });
  return results;
}

/// Names the result of a list of tensors: an array for an array, otherwise a vector.
template <class List, class Out>
struct RedistributedList;
template <class V, class Allocator, class Out>
struct RedistributedList<std::vector<DTensor<V>, Allocator>, Out> {
  using type = std::vector<DTensor<redistributed_view_t<V, Out>>>;
};
template <class V, std::size_t N, class Out>
struct RedistributedList<std::array<DTensor<V>, N>, Out> {
  using type = std::array<DTensor<redistributed_view_t<V, Out>>, N>;
};

template <class Out, class V, class Allocator>
auto redistribute_list(const Execution& execution,
                       const std::vector<DTensor<V>, Allocator>& tensors, const Target& target,
                       const RedistributeOptions& options) {
  return detail::redistribute_all<Out, V>(execution, tensors, target, options);
}
template <class Out, class V, std::size_t N>
auto redistribute_list(const Execution& execution, const std::array<DTensor<V>, N>& tensors,
                       const Target& target, const RedistributeOptions& options) {
  auto results = detail::redistribute_all<Out, V>(execution, tensors, target, options);
  typename RedistributedList<std::array<DTensor<V>, N>, Out>::type array;
  std::move(results.begin(), results.end(), array.begin());
  return array;
}

}  // namespace detail

/// Names the result of redistribute_all<Out>() of a List.
template <class List, class Out = void>
using redistributed_list_t = typename detail::RedistributedList<List, Out>::type;

/// Redistributes several tensors of one View type on one mesh to the same target, in one exchange:
/// the messages of all tensors are started at once, so that the latency is paid once. Tensors whose
/// plans have other kinds of steps or other numbers of phases have an exchange for each kind: those that
/// are Partial and those that are not, and large ones, which are reduced in two phases, and small ones.
///
/// `tensors` is a std::vector or a std::array of them. Example:
///   auto [u_rows, v_rows] = redistribute_all(std::array{u, v}, Shard(0));
///
/// Result:     a vector or an array of the tensors in the order given, each as redistribute()
///             returns it.
/// Collective: over the mesh, with tensors of the same specs in the same order; nothing happens
///             without tensors.
/// Errors:     those of redistribute(); MeshMismatch for tensors on different meshes.
template <class Out = void, class List>
redistributed_list_t<List, Out> redistribute_all(const List& tensors,
                                                 const Target& target = all_replicate,
                                                 const RedistributeOptions& options = {}) {
  return detail::redistribute_list<Out>(Execution(), tensors, target, options);
}
/// Orders the work on `exec`.
template <class Out = void, class List>
redistributed_list_t<List, Out> redistribute_all(const Execution& exec, const List& tensors,
                                                 const Target& target = all_replicate,
                                                 const RedistributeOptions& options = {}) {
  return detail::redistribute_list<Out>(exec, tensors, target, options);
}

}  // namespace tessera
