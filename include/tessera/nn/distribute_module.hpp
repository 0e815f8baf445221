// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/error/detail/never.hpp>
#include <tessera/nn/detail/hooks.hpp>
#include <tessera/nn/module.hpp>
#include <tessera/redistribute/distribute_tensor.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>

namespace tessera {

namespace detail {

/// Distributes what is not yet distributed of a module, in one exchange. `failed` is what the partition
/// function has thrown on this rank. Collective over the mesh.
void distribute_parameters(const nn::Module& module, const DeviceMesh& mesh,
                           const Distribute& options, const std::exception_ptr& failed);

template <class M>
consteval bool expect_module() {
  constexpr bool fits = nn::HasRegistry<M>;  // by itself, the compiler would explain the concept
  static_assert(fits,
                "distribute_module takes an object whose function registry() const returns its "
                "nn::Module");
  return fits;
}

template <class F>
consteval bool expect_partition_fn() {
  constexpr bool fits = std::is_same_v<F, NoFunction> ||
                        std::is_invocable_v<F&, const std::string&, nn::Module&, const DeviceMesh&>;
  static_assert(fits,
                "distribute_module: partition_fn takes (name, module, mesh), as "
                "(const std::string&, nn::Module&, const DeviceMesh&)");
  return fits;
}

/// Forgets the placements that a call which failed has left. Returns false if the module is distributed already.
bool begin_partition(const nn::Module& module);

/// Calls the partition function for all modules. Returns what it throws.
template <class F>
std::exception_ptr partition(const nn::Module& module, const DeviceMesh& mesh,
                             F& partition_fn) noexcept {
  const bool is_first = begin_partition(module);
  if constexpr (!std::is_same_v<F, NoFunction>) {
    try {
      if (is_first)
        for (auto& [name, submodule] : module.named_modules()) partition_fn(name, submodule, mesh);
    } catch (...) {
      return std::current_exception();
    }
  }
  return nullptr;
}

}  // namespace detail

namespace nn {

/// Is a module with hooks that distribute_module() was given. It is called as the module is. Copies share
/// the parameters, and have the hooks.
template <class M, class InputFn, class OutputFn>
class HookedModule {
 public:
  HookedModule(M module, DeviceMesh mesh, InputFn input_fn, OutputFn output_fn)
      : module_(std::move(module)),
        mesh_(std::move(mesh)),
        input_fn_(std::move(input_fn)),
        output_fn_(std::move(output_fn)),
        warned_(std::make_shared<detail::HookWarnings>()) {}

  /// Returns the module without its hooks.
  const M& module() const { return module_; }
  const Module& registry() const { return module_.registry(); }

  /// Computes the outputs of the module, with the hooks before and after it, all of this in the module's region.
  /// Collective: as the module and the hooks are.
  template <class... A>
  auto operator()(const A&... inputs) const {
    const detail::ForwardScope scope(registry().name(), detail::identity(registry()));
    const auto replaced = detail::as_inputs(
        detail::hooked(input_fn_, module_, std::tuple<A...>(inputs...), mesh_, warned_->input_fn));
    auto outputs = std::apply(module_, replaced);
    return detail::hooked(output_fn_, module_, std::move(outputs), mesh_, warned_->output_fn);
  }

 private:
  M module_;
  DeviceMesh mesh_;
  InputFn input_fn_;
  OutputFn output_fn_;
  std::shared_ptr<detail::HookWarnings> warned_;
};

/// Distributes the parameters and buffers of a module over a mesh, and returns the module.
///
/// partition_fn: is called as partition_fn(name, submodule, mesh) for the module itself, with the name "",
///               and each submodule, and says submodule.place("weight", Shard(0)). What it makes a tensor
///               itself, by submodule.set(), is left alone; what it says nothing of becomes Replicate.
///               Without it, all parameters and buffers become Replicate.
/// input_fn:     is called as input_fn(module, inputs, mesh) before each forward pass of the returned module.
///               `inputs` is a std::tuple. What it returns replaces the inputs: a tuple, or a single input.
/// output_fn:    is called as output_fn(module, outputs, mesh) after it. What it returns replaces the outputs.
///               Both leave the values alone if they return nothing. Hooks that take (inputs, mesh) or
///               (outputs, mesh) are deprecated, and the first call logs a warning.
/// options:      says where the data comes from: rank 0 of the mesh, or {.each_rank = true}.
///
/// Parameters get the name of their module: "fc1.weight". All data moves in one exchange (one for each
/// memory space; on several nodes it may take as many as redistribute_all()), after all calls of partition_fn,
/// which is called on all ranks alike.
///
/// Result:     the module, which shares its parameters with `module`; with a hook a HookedModule of it.
/// Collective: over the mesh; with {.each_rank = true} local, if partition_fn is.
/// Errors:     InvalidArgument if it was called on this module before, for a Partial, and for placements that
///             do not fit; what partition_fn throws. All ranks throw, see collectively(); with
///             {.each_rank = true} those on which it fails.
/// Source:     torch.distributed.tensor.distribute_module.
///
/// Example: auto model = nn::distribute_module(Mlp(), mesh,
///              [](const std::string& name, nn::Module& module, const DeviceMesh& mesh) {
///                if (name == "fc1") nn::column_parallel(module, mesh, "tp");
///                if (name == "fc2") nn::row_parallel(module, mesh, "tp");
///              });
template <class M, class PartitionFn = detail::NoFunction, class InputFn = detail::NoFunction,
          class OutputFn = detail::NoFunction>
auto distribute_module(M module, const DeviceMesh& mesh, PartitionFn partition_fn = {},
                       InputFn input_fn = {}, OutputFn output_fn = {},
                       const Distribute& options = {}) {
  constexpr bool has_hooks =
      !std::is_same_v<InputFn, detail::NoFunction> || !std::is_same_v<OutputFn, detail::NoFunction>;
  if constexpr (detail::expect_module<M>() && detail::expect_partition_fn<PartitionFn>()) {
    const auto failed = detail::partition(module.registry(), mesh, partition_fn);
    detail::distribute_parameters(module.registry(), mesh, options, failed);
  }
  if constexpr (!has_hooks)
    return module;
  else if constexpr (detail::expect_hook<InputFn>() && detail::expect_hook<OutputFn>())
    return HookedModule<M, InputFn, OutputFn>(std::move(module), mesh, std::move(input_fn),
                                              std::move(output_fn));
  else
    return detail::Unusable();
}
/// Takes the mesh of the current DeviceMeshScope.
template <class M, class PartitionFn = detail::NoFunction, class InputFn = detail::NoFunction,
          class OutputFn = detail::NoFunction>
requires(!std::is_same_v<PartitionFn, DeviceMesh>) auto distribute_module(
    M module, PartitionFn partition_fn = {}, InputFn input_fn = {}, OutputFn output_fn = {},
    const Distribute& options = {}) {
  const auto& mesh = detail::named("distribute_module", detail::mesh_of_scope);
  return distribute_module(std::move(module), mesh, std::move(partition_fn), std::move(input_fn),
                           std::move(output_fn), options);
}

}  // namespace nn
}  // namespace tessera
