// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Modules that tests share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tessera/nn/distribute_module.hpp>
#include <tessera/nn/module.hpp>
#include <tessera/tessera.hpp>

#include "../support/errors.hpp"
#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "../support/traffic.hpp"

namespace tessera::test {

/// Has a weight (rows, columns) and a bias (rows), in which each element is its index.
class Scale {
 public:
  Scale(std::int64_t rows, std::int64_t columns, const std::string& kind = "Scale")
      : module_(kind),
        weight_(module_.register_parameter("weight", iota_view<Matrix>({rows, columns}))),
        bias_(module_.register_parameter("bias", iota_view<Vector>({rows}))) {}

  const nn::Module& registry() const { return module_; }
  nn::Module& module() { return module_; }
  const nn::Parameter<Matrix>& weight() const { return weight_; }
  const nn::Parameter<Vector>& bias() const { return bias_; }

  /// Returns x times the sum of the weight and of the bias.
  template <class X>
  auto operator()(const X& x) const {
    return module_.forward([&] {
      return ops::multiply(x, ops::add(ops::sum(weight_.variable()), ops::sum(bias_.variable())));
    });
  }

 private:
  nn::Module module_;
  nn::Parameter<Matrix> weight_;
  nn::Parameter<Vector> bias_;
};

/// Is an object that has a module and nothing else.
struct Holding {
  nn::Module module;

  const nn::Module& registry() const { return module; }
};

/// Has two layers and a buffer of two elements: 12 + 4 + 8 + 2 + 2 = 28 elements.
class TwoScales {
 public:
  TwoScales() : module_("TwoScales"), s_(module_.register_buffer("s", iota_view<Vector>({2}))) {
    module_.register_module("fc1", fc1_);
    module_.register_module("fc2", fc2_);
  }

  const nn::Module& registry() const { return module_; }
  nn::Module& module() { return module_; }
  const Scale& fc1() const { return fc1_; }
  const Scale& fc2() const { return fc2_; }

  template <class X>
  auto operator()(const X& x) const {
    return module_.forward([&] { return fc2_(fc1_(x)); });
  }

 private:
  Scale fc1_{4, 3}, fc2_{2, 4};
  nn::Module module_;
  nn::Parameter<Vector> s_;
};

/// Places fc1 by its rows and fc2 by its columns, and notes the names that it is called with.
struct ByRowsAndColumns {
  std::vector<std::string>* names = nullptr;

  void operator()(const std::string& name, nn::Module& module, const DeviceMesh& /*mesh*/) const {
    if (names != nullptr) names->push_back(name);
    if (name == "fc1") {
      module.place("weight", Shard(0));
      module.place("bias", Shard(0));
    }
    if (name == "fc2") module.place("weight", Shard(1));
  }
};

/// Returns the mesh of all ranks, of one dim.
inline DeviceMesh all_ranks() {
  return mesh_of({world_size()});
}

}  // namespace tessera::test
