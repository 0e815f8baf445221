// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/plan/options.hpp>

namespace tessera {

/// WireOrder says in which order the elements of a block follow one another while they travel.
enum class WireOrder : std::uint8_t { last_dim_fastest, first_dim_fastest };

namespace detail {

/// Holds all that a plan depends on besides specs and element type: the options of its maker, and
/// what the types of the Views say.
struct PlanSettings : PlanOptions {
  /// Gives the order in which both Views are laid out, which is the fastest order to travel in.
  WireOrder wire_order = WireOrder::last_dim_fastest;
  /// Says that all local pieces of source and target lie in device memory: between the ranks of a
  /// node, blocks then take the device path, see TESSERA_DEVICE_PATH. A bound plan also runs with
  /// Views elsewhere, only slower.
  bool on_device = false;

  friend constexpr bool operator==(const PlanSettings&, const PlanSettings&) = default;
};

}  // namespace detail
}  // namespace tessera
