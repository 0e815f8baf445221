// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/grad/detail/local_map_inputs.hpp>
#include <tessera/grad/detail/slot_group.hpp>

namespace tessera::detail {
namespace {

void require_in_grad(std::size_t argument, bool is_variable, const InPlacement& asked) {
  require(!is_variable || !asked.is_no_tensor(), [&] {
    return fmt::format(
        "expected placements or keep for the gradient of argument {}, a Variable, got nullopt",
        argument);
  });
  require(is_variable || asked.is_no_tensor(), [&] {
    return fmt::format(
        "expected nullopt for the gradient of argument {}, which is no Variable, got placements",
        argument);
  });
}

}  // namespace

SlotGroup::SlotGroup(std::vector<std::shared_ptr<AnySlot>> slots)
    : AnySlot(slots.front()->generation()), slots_(std::move(slots)) {}

bool SlotGroup::has_gradient() const {
  return std::ranges::any_of(slots_, [](const auto& slot) { return slot->has_gradient(); });
}

void SlotGroup::clear() {
  for (const auto& slot : slots_) slot->clear();
}

std::vector<DTensorSpec> gradient_specs(const std::vector<Leaf>& leaves,
                                        const std::vector<bool>& is_variable,
                                        const InPlacements& asked) {
  const auto& list = asked.list();
  require(!list || list->size() == leaves.size(), [&] {
    return fmt::format("expected {} in_grad_placements, one per flattened argument, got {}",
                       leaves.size(), list->size());
  });
  std::vector<DTensorSpec> specs;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (list) require_in_grad(i, is_variable[i], (*list)[i]);
    const auto* const placements = list ? (*list)[i].placements() : nullptr;
    specs.push_back(placements != nullptr ? spec_with(leaves[i].spec, *placements)
                                          : like_spec(leaves[i].spec));
  }
  return specs;
}

}  // namespace tessera::detail
