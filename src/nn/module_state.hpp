// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tessera/nn/module.hpp>

namespace tessera::detail {

struct ModuleState {
  struct Parameter {
    std::string key;  ///< name within the module
    std::shared_ptr<AnyParameter> parameter;
  };
  using Hook = std::function<void(const nn::Module&)>;

  std::string name;
  bool is_registered = false;  ///< whether a module has it, and has named it
  std::vector<Parameter> parameters;
  std::vector<nn::NamedModule> submodules;
  std::vector<Hook> pre_hooks;
  std::vector<Hook> hooks;
  bool is_closed = false;       ///< whether it, or a module that has it, is distributed
  bool is_distributed = false;  ///< whether distribute_module() was called on it
};

/// Returns the names of the modules whose forward pass this thread is in, outermost first, joined by dots.
std::string path_of_modules();

/// Returns the name of a parameter or submodule `key` of the module `prefix`.
std::string full_name(const std::string& prefix, const std::string& key);

struct ModuleAccess {
  static ModuleState& state(const nn::Module& module) { return *module.state_; }
};

}  // namespace tessera::detail
