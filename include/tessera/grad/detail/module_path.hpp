// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/tensor/detail/named_region.hpp>

namespace tessera::detail {

/// Names the modules whose forward pass a thread is in, outermost first. Paths share their beginnings.
struct ModulePath {
  std::shared_ptr<const ModulePath> outer;
  std::string name;
  const void* module;  ///< tells modules of one name apart
};

/// Returns the path of this thread; null outside of modules.
const std::shared_ptr<const ModulePath>& module_path();

/// Returns whether this thread is in a backward pass.
bool is_in_backward_pass();

/// Opens the regions of a path for the tools of Kokkos while it lives.
class PathRegions {
 public:
  explicit PathRegions(const ModulePath* path);
  ~PathRegions();
  PathRegions(const PathRegions&) = delete;
  PathRegions& operator=(const PathRegions&) = delete;

 private:
  int count_ = 0;
};

/// While a ForwardScope lives, this thread is in the forward pass of a module: it opens the region `name`, and
/// "forward" around the outermost module. What is recorded meanwhile opens the same regions in the backward pass.
/// Directly within a scope of the same module it does nothing.
class ForwardScope {
 public:
  ForwardScope(const std::string& name, const void* module);
  ~ForwardScope();
  ForwardScope(const ForwardScope&) = delete;
  ForwardScope& operator=(const ForwardScope&) = delete;

 private:
  bool is_outermost_;
  std::optional<NamedRegion> forward_;
  std::optional<NamedRegion> module_;
};

/// While a BackwardScope lives, this thread is in a backward pass, in the region "backward". Modules that run
/// again meanwhile open no region "forward".
class BackwardScope {
 public:
  BackwardScope();
  ~BackwardScope();
  BackwardScope(const BackwardScope&) = delete;
  BackwardScope& operator=(const BackwardScope&) = delete;

 private:
  bool was_in_pass_;
  bool was_backward_;
  std::shared_ptr<const ModulePath> outer_;
  std::optional<NamedRegion> region_;
};

}  // namespace tessera::detail
