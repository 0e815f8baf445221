// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "variant.hpp"

namespace tessera::perf {

namespace {

template <class View>
Prepared into(const Tensors<View>& tensors) {
  return {[tensors] { redistribute_into(tensors.target, tensors.source); },
          [tensors] { return tensors.target.to_local().data(); }};
}

template <class View>
Prepared allocating(const Tensors<View>& tensors, const Placement& target) {
  const auto last = std::make_shared<DTensor<View>>();
  const auto run = [last, source = tensors.source, placements = Placements{target}] {
    *last = {};
    *last = redistribute(source, placements);
  };
  return {run, [last] { return last->to_local().data(); }};
}

}  // namespace

std::vector<Variant> ours(const Case& test_case) {
  const auto prepare_into = [](const Workspace& workspace) {
    return std::visit([](const auto& tensors) { return into(tensors); }, workspace.tensors);
  };
  const auto prepare_allocating = [target = test_case.target](const Workspace& workspace) {
    return std::visit([&](const auto& tensors) { return allocating(tensors, target); },
                      workspace.tensors);
  };
  return {{"ours_into", Kind::ours_into, prepare_into},
          {"ours_allocating", Kind::ours_allocating, prepare_allocating}};
}

}  // namespace tessera::perf
