// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <tessera/grad/detail/slot.hpp>

namespace tessera::detail {

/// Stands for all results of one recorded operation: it has a gradient if one of them has.
class SlotGroup : public AnySlot {
 public:
  /// Takes at least one slot.
  explicit SlotGroup(std::vector<std::shared_ptr<AnySlot>> slots);

  bool has_gradient() const override;
  void clear() override;

 private:
  std::vector<std::shared_ptr<AnySlot>> slots_;
};

}  // namespace tessera::detail
