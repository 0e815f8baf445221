// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <tessera/nn/module.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

namespace tessera::detail {

/// Is a parameter that an optimizer updates, with what the optimizer remembers of it.
struct UpdatedParameter {
  std::shared_ptr<AnyParameter> parameter;
  DeviceMesh mesh;  ///< mesh and spec of the parameter when `arrays` were made
  DTensorSpec spec;
  std::int64_t steps = 0;
  std::vector<OwnedArray> arrays =
      {};  ///< zeros at first; one for each element of this rank's piece, in its order in memory
};

/// Is one update of this rank's piece of a parameter.
struct Update {
  ArrayRef parameter;
  ArrayRef gradient;
  const std::vector<OwnedArray>& arrays;
  std::int64_t step;  ///< counted from 1
};

/// Holds the parameters of a module for an optimizer, which remembers some arrays for each.
class Optimizer {
 public:
  /// `name` is that of the optimizer. Errors: those of the constructors of optimizers.
  Optimizer(std::string_view name, const nn::Module& module, std::size_t arrays);

  /// Lists the updates of all parameters that have a gradient, and counts their steps. Those of which this rank
  /// has no element are left out. Errors: those of step().
  std::vector<Update> next_updates();
  void zero_grad();

 private:
  void require_usable(const AnyParameter& parameter) const;
  void require_writable_for_step(const AnyParameter& parameter) const;
  void begin_anew(UpdatedParameter& entry) const;

  std::string_view name_;
  std::size_t arrays_;
  std::vector<UpdatedParameter> parameters_;
};

/// Throws InvalidArgument unless an option is a number of at least 0.
void require_not_negative(std::string_view option, double value);

}  // namespace tessera::detail
