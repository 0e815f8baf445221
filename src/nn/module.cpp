// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/mpi/trace.hpp>
#include <tessera/nn/module.hpp>

#include "nn/module_state.hpp"

namespace tessera {
namespace detail {
namespace {

std::vector<std::string> keys_of(const ModuleState& state) {
  std::vector<std::string> keys;
  for (const auto& [key, parameter] : state.parameters) keys.push_back(key);
  for (const auto& [key, module] : state.submodules) keys.push_back(key);
  return keys;
}

void require_new_name(const ModuleState& state, const std::string& name) {
  require(!name.empty() && name.find('.') == std::string::npos, [&] {
    return fmt::format("expected a name that is not empty and has no dots, got '{}'", name);
  });
  const auto keys = keys_of(state);
  require(std::ranges::find(keys, name) == keys.end(), [&] {
    return fmt::format("expected a new name, {} has '{}' already", state.name, name);
  });
  require(!state.is_closed, [&] {
    return fmt::format("expected a module that is not distributed yet, got {}", state.name);
  });
}

void append_modules(std::vector<nn::NamedModule>& all, const nn::NamedModule& module) {
  const auto& state = ModuleAccess::state(module.module);
  const auto is_it = [&](const nn::NamedModule& other) {
    return &ModuleAccess::state(other.module) == &state;
  };
  if (std::ranges::any_of(all, is_it)) return;
  all.push_back(module);
  for (const auto& [key, submodule] : state.submodules)
    append_modules(all, {full_name(module.name, key), submodule});
}

/// Returns the parameter, or null if there is none of that name.
AnyParameter* find_parameter(const ModuleState& state, std::string_view name) {
  for (const auto& [key, parameter] : state.parameters)
    if (key == name) return parameter.get();
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return nullptr;
  for (const auto& [key, submodule] : state.submodules)
    if (key == name.substr(0, dot))
      return find_parameter(ModuleAccess::state(submodule), name.substr(dot + 1));
  return nullptr;
}

}  // namespace

std::string path_of_modules() {
  std::string result;
  for (const auto* path = module_path().get(); path != nullptr; path = path->outer.get())
    result = result.empty() ? path->name : full_name(path->name, result);
  return result;
}

std::string full_name(const std::string& prefix, const std::string& key) {
  return prefix.empty() ? key : prefix + "." + key;
}

AnyParameter& parameter_of(const nn::Module& module, std::string_view name) {
  auto* const result = find_parameter(ModuleAccess::state(module), name);
  require(result != nullptr, [&] {
    std::vector<std::string> names;
    for (const auto& parameter : module.parameters()) names.push_back(parameter.name);
    return fmt::format("expected a parameter or buffer of {} ({}), got '{}'", module.name(),
                       names.empty() ? "it has none" : fmt::format("{}", fmt::join(names, ", ")),
                       name);
  });
  return *result;
}

void throw_other_view(const AnyParameter& parameter, ElementType asked, std::size_t rank) {
  const auto data = parameter.data();
  if (data.type == asked && data.extents.size() == rank)
    throw InvalidArgument(fmt::format(
        "expected the View type that '{}' was registered with, got one of another layout, memory "
        "space or traits",
        parameter.name()));
  throw InvalidArgument(fmt::format(
      "expected the View type of '{}', which has {} dims of {}, got one with {} of {}",
      parameter.name(), data.extents.size(), to_string(data.type), rank, to_string(asked)));
}

void throw_not_distributed(const std::string& name) {
  throw InvalidArgument(
      fmt::format("expected a module that is distributed: '{}' is not yet a tensor; call "
                  "distribute_module(module, mesh) first",
                  name));
}

std::vector<std::shared_ptr<AnyParameter>> all_parameters(const nn::Module& module) {
  std::vector<std::shared_ptr<AnyParameter>> result;
  for (const auto& named_module : module.named_modules())
    for (const auto& [key, parameter] : ModuleAccess::state(named_module.module).parameters)
      result.push_back(parameter);
  return result;
}

const void* identity(const nn::Module& module) {
  return &ModuleAccess::state(module);
}

std::vector<std::shared_ptr<AnyParameter>> trainable_parameters(const nn::Module& module) {
  auto result = all_parameters(module);
  std::erase_if(result, [](const auto& parameter) { return !parameter->is_trainable(); });
  return result;
}

}  // namespace detail

namespace nn {

Module::Module(std::string kind) : state_(std::make_shared<detail::ModuleState>()) {
  state_->name = std::move(kind);
}

const std::string& Module::name() const {
  return state_->name;
}

void Module::add(const std::string& name, const std::shared_ptr<detail::AnyParameter>& parameter) {
  detail::named(parameter->is_buffer() ? "register_buffer" : "register_parameter",
                [&] { detail::require_new_name(*state_, name); });
  state_->parameters.push_back({name, parameter});
}

void Module::register_module(const std::string& name, const Module& module) {
  detail::named("register_module", [&] {
    detail::require_new_name(*state_, name);
    for (const auto& inner : module.named_modules())
      require(inner.module.state_ != state_, [&] {
        return fmt::format("expected a module that does not have {} itself", state_->name);
      });
  });
  if (!std::exchange(module.state_->is_registered, true)) module.state_->name = name;
  state_->submodules.push_back({name, module});
}

std::vector<NamedModule> Module::named_modules() const {
  std::vector<NamedModule> result;
  detail::append_modules(result, {"", *this});
  return result;
}

std::vector<ParameterInfo> Module::parameters() const {
  std::vector<ParameterInfo> result;
  for (const auto& [prefix, module] : named_modules())
    for (const auto& [key, parameter] : module.state_->parameters) {
      const auto spec = parameter->is_distributed() ? parameter->spec() : DTensorSpec();
      const auto shape = parameter->is_distributed() ? spec.shape() : parameter->data().extents;
      result.push_back({detail::full_name(prefix, key), spec, shape, parameter->type(),
                        parameter->is_trainable(), parameter->is_buffer()});
    }
  return result;
}

void Module::place(std::string_view name, const Target& target) {
  detail::named("Module::place", [&] {
    auto& parameter = detail::parameter_of(*this, name);
    require(!parameter.is_distributed(), [&] {
      return fmt::format(
          "expected a parameter that is not distributed yet, got '{}'; use "
          "set(name, redistribute(get<View>(name), target))",
          parameter.name());
    });
    parameter.set_target(target);
  });
}

void Module::register_forward_pre_hook(std::function<void(const Module&)> hook) {
  state_->pre_hooks.push_back(std::move(hook));
}

void Module::register_forward_hook(std::function<void(const Module&)> hook) {
  state_->hooks.push_back(std::move(hook));
}

void Module::before_forward() const {
  // A module that runs again in a backward pass has been seen in the forward pass.
  if (is_traced() && !detail::is_in_backward_pass())
    for (const auto& [key, parameter] : state_->parameters)
      if (parameter->is_distributed()) {
        const auto name = detail::full_name(detail::path_of_modules(), key);
        TraceEvent event{};
        event.kind = TraceKind::parameter;
        event.operation = "tessera::nn::Module::forward";
        event.group_size = parameter->device_mesh().size();
        event.description = name.c_str();
        event.spec = &parameter->spec();
        emit(event);
      }
  for (std::size_t i = 0; i < state_->pre_hooks.size(); ++i) {
    const auto hook = state_->pre_hooks[i];  // which may register others
    hook(*this);
  }
}

void Module::after_forward() const {
  for (std::size_t i = 0; i < state_->hooks.size(); ++i) {
    const auto hook = state_->hooks[i];
    hook(*this);
  }
}

}  // namespace nn
}  // namespace tessera
