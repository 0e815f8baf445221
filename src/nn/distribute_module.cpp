// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/comm/collectives.hpp>
#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/error/log.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/nn/distribute_module.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>

#include "nn/module_state.hpp"

namespace tessera::detail {
namespace {

constexpr auto label = "tessera::distribute_module";

/// A parameter that is to be distributed.
struct Placing {
  std::shared_ptr<AnyParameter> parameter;
  std::string name;
  Target target;
  Extents shape;  ///< extents of this rank's View; later those of the source
  DTensorSpec spec = {};
};

std::vector<Placing> placings_of(const nn::Module& module) {
  std::vector<Placing> result;
  for (const auto& [prefix, submodule] : module.named_modules())
    for (const auto& [key, parameter] : ModuleAccess::state(submodule).parameters)
      if (!parameter->is_distributed())
        result.push_back({parameter, full_name(prefix, key),
                          parameter->target().value_or(all_replicate), parameter->data().extents});
  return result;
}

/// Describes the call by what all ranks pass alike, for Operation::agree().
struct DistributeModuleCall {
  const std::vector<Placing>& placings;
  const Distribute& options;
  int mesh_dims;

  std::string operator()() const {
    std::vector<std::string> texts;
    for (const auto& [parameter, name, target, shape, spec] : placings)
      texts.push_back(
          fmt::format("{} {} {} as {}", name,
                      options.each_rank ? to_string(shape) : fmt::format("{}-d", shape.size()),
                      to_string(parameter->type()), to_string(target, mesh_dims)));
    const auto source = options.each_rank ? std::string("on each rank")
                                          : fmt::format("from mesh rank {}", options.src_rank);
    return fmt::format("distribute_module of {} {}",
                       texts.empty() ? "nothing" : fmt::format("{}", fmt::join(texts, ", ")),
                       source);
  }

  std::uint64_t hash() const {
    std::uint64_t hash = hash_combine(
        placings.size(), options.each_rank ? ~0U : static_cast<unsigned>(options.src_rank));
    for (const auto& placing : placings) {
      hash = hash_range(hash, placing.name);
      hash = hash_combine(hash_combine(hash, hash_of(placing.target, mesh_dims)),
                          placing.parameter->type());
      hash = hash_combine(hash, placing.shape.size());
      if (options.each_rank) hash = hash_range(hash, placing.shape);
    }
    return hash;
  }
};

/// Returns call(); its errors name the parameter.
template <class Call>
auto named_after(const Placing& placing, const Call& call) {
  return named(("distribute_module: " + placing.name).c_str(), call);
}

/// Takes the shapes that mesh rank `root` has on all ranks; they travel as metadata.
void take_shapes(const DeviceMesh& mesh, int root, std::vector<Placing>& placings) {
  std::vector<std::int64_t> extents;
  for (const auto& placing : placings)
    extents.insert(extents.end(), placing.shape.begin(), placing.shape.end());
  broadcast(mesh.group(), std::as_writable_bytes(std::span(extents)), root, TraceKind::metadata,
            label);
  auto next = extents.begin();
  for (auto& placing : placings)
    for (auto& extent : placing.shape) extent = *next++;
}

Move move_of(const DeviceMesh& mesh, const Placing& placing, const ArrayRef& destination,
             const Distribute& options) {
  const auto source = placing.parameter->data();
  const auto settings = placing.parameter->settings();
  if (!options.each_rank)
    return move_from_root(mesh, options.src_rank, placing.spec, source, destination, settings);
  const auto full = replicated(mesh.layout(), placing.shape);
  return {cached_redistributor(mesh, full, placing.spec, source.type, settings), source,
          destination};
}

/// Moves the data of the parameters in one memory space.
void move_together(const DeviceMesh& mesh, const std::vector<Move>& moves, bool on_device,
                   const std::vector<Placing>& placings) {
  std::vector<Redistributor> redistributors;
  std::vector<Pieces> pieces;
  std::vector<std::shared_ptr<void>> memory;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (placings[i].parameter->settings().on_device != on_device) continue;
    redistributors.push_back(moves[i].redistributor);
    pieces.push_back({moves[i].source, moves[i].destination});
    memory.push_back(placings[i].parameter->memory());
  }
  if (redistributors.empty()) return;
  keeping(
      mesh.communicator(), [&] { run_together(Execution(), redistributors, pieces, label); },
      [&] { return std::make_shared<std::vector<std::shared_ptr<void>>>(memory); });
}

/// Gives parameters the names of their modules, where these were not distributed before.
void close(const nn::Module& module) {
  for (const auto& [prefix, submodule] : module.named_modules()) {
    auto& state = ModuleAccess::state(submodule);
    if (!std::exchange(state.is_closed, true))
      for (const auto& [key, parameter] : state.parameters)
        parameter->set_name(full_name(prefix, key));
  }
  ModuleAccess::state(module).is_distributed = true;
}

}  // namespace

void distribute_parameters(const nn::Module& module, const DeviceMesh& mesh,
                           const Distribute& options, const std::exception_ptr& failed) {
  auto* const calls = named("distribute_module", [&] { return MeshAccess::calls(mesh); });
  collectively(options.each_rank ? nullptr : calls, "distribute_module", [&](Operation& operation) {
    require(!ModuleAccess::state(module).is_distributed, [&] {
      return fmt::format(
          "distribute_module should only be called once on a module, it has been "
          "called on this {} before",
          module.name());
    });
    if (failed) std::rethrow_exception(failed);
    auto placings = placings_of(module);
    for (const auto& placing : placings)
      named_after(placing, [&] {
        require_distributable(mesh, placing.target.placements(mesh.ndim()), options.src_rank);
      });
    const DistributeModuleCall call{placings, options, mesh.ndim()};
    operation.agree_always(call.hash(), call);
    if (!options.each_rank && mesh.coordinate()) take_shapes(mesh, options.src_rank, placings);
    // Off the mesh the shape of the data is not known, but that of a spec is.
    if (!mesh.coordinate())
      for (auto& placing : placings)
        if (placing.target.spec() != nullptr) placing.shape = placing.target.spec()->shape();
    for (auto& placing : placings)
      placing.spec = common([&] {
        return named_after(
            placing, [&] { return target_spec(mesh.layout(), placing.shape, placing.target); });
      });
    std::vector<Move> moves;
    for (const auto& placing : placings) {
      const auto destination = placing.parameter->allocate(mesh, placing.spec);
      if (mesh.coordinate()) moves.push_back(move_of(mesh, placing, destination, options));
    }
    for (const bool on_device : {false, true}) move_together(mesh, moves, on_device, placings);
    finish(Execution(), label);
    for (const auto& placing : placings) placing.parameter->accept();
    close(module);
  });
}

bool begin_partition(const nn::Module& module) {
  for (const auto& parameter : all_parameters(module)) parameter->set_target({});
  return !ModuleAccess::state(module).is_distributed;
}

void HookWarning::warn_of_two_arguments() {
  if (!std::exchange(is_due, false)) return;
  log({LogLevel::warning, "nn",
       fmt::format("distribute_module: an {} that takes ({}, mesh) is deprecated: take (module, "
                   "{}, mesh)",
                   hook, values, values)});
}

}  // namespace tessera::detail
