// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera {

/// Names one mesh dim: by index (negative counts from the last) or by name.
class MeshDim {
 public:
  MeshDim(int index) : value_(index) {}
  MeshDim(const char* name) : value_(std::string(name)) {}
  MeshDim(std::string name) : value_(std::move(name)) {}

  /// Returns the index, negative if it was given so, or the name.
  const std::variant<int, std::string>& value() const { return value_; }

 private:
  std::variant<int, std::string> value_;
};

/// Names one mesh dim or several: 0, "tp", {"dp", "tp"}, {0, 1}.
class MeshDims {
 public:
  MeshDims(int index) : dims_{index} {}
  MeshDims(const char* name) : dims_{name} {}
  MeshDims(std::string name) : dims_{std::move(name)} {}
  MeshDims(std::initializer_list<MeshDim> dims) : dims_(dims) {}
  MeshDims(std::vector<MeshDim> dims) : dims_(std::move(dims)) {}
  MeshDims(const std::vector<int>& dims) : dims_(dims.begin(), dims.end()) {}
  MeshDims(const std::vector<std::string>& dims) : dims_(dims.begin(), dims.end()) {}

  /// Returns the mesh dims in the order given.
  const std::vector<MeshDim>& values() const { return dims_; }

 private:
  std::vector<MeshDim> dims_;
};

}  // namespace tessera
