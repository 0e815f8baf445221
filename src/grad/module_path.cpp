// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <tessera/grad/detail/module_path.hpp>

namespace tessera::detail {
namespace {

thread_local std::shared_ptr<const ModulePath> current;
thread_local bool is_in_pass = false;
thread_local bool is_backward = false;

int open_regions(const ModulePath* path) {
  if (path == nullptr) return 0;
  const int outer = open_regions(path->outer.get());
  Kokkos::Profiling::pushRegion(path->name);
  return outer + 1;
}

}  // namespace

const std::shared_ptr<const ModulePath>& module_path() {
  return current;
}

bool is_in_backward_pass() {
  return is_backward;
}

PathRegions::PathRegions(const ModulePath* path) {
  if (Kokkos::Tools::profileLibraryLoaded()) count_ = open_regions(path);
}

PathRegions::~PathRegions() {
  for (int i = 0; i < count_; ++i) Kokkos::Profiling::popRegion();
}

ForwardScope::ForwardScope(const std::string& name, const void* module)
    : is_outermost_(!is_in_pass) {
  if (current && current->module == module) return;
  auto path = std::make_shared<const ModulePath>(ModulePath{current, name, module});
  if (is_outermost_) forward_.emplace("forward");
  module_.emplace(path->name.c_str());
  current = std::move(path);
  is_in_pass = true;
}

ForwardScope::~ForwardScope() {
  if (!module_) return;
  current = std::shared_ptr<const ModulePath>(current->outer);
  module_.reset();
  if (is_outermost_) is_in_pass = false;
}

BackwardScope::BackwardScope()
    : was_in_pass_(std::exchange(is_in_pass, true)),
      was_backward_(std::exchange(is_backward, true)),
      outer_(std::exchange(current, nullptr)) {
  if (!was_backward_) region_.emplace("backward");
}

BackwardScope::~BackwardScope() {
  current = std::move(outer_);
  is_backward = was_backward_;
  is_in_pass = was_in_pass_;
}

}  // namespace tessera::detail
