// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include <tessera/nn/attention.hpp>

#include "nn/attention_kernel.hpp"

namespace tessera::detail {

inline constexpr FunctionName attention_function = "scaled_dot_product_attention";

struct AttentionCall {
  std::array<DTensorSpec, 3> operands;
  ElementType type;
  MemorySpace space;
  nn::Attention options;
  DTensorSpec result;
  std::array<DTensorSpec, 3> gradients;
  /// Specs of the keys and values that a rank computes with: those of the operands, or gathered ones.
  std::array<DTensorSpec, 2> seen;
  /// Specs of the gradients of keys and values before the contributions of the ranks are summed up.
  std::array<DTensorSpec, 2> contributions;
  bool has_blocks;  ///< whether keys are on several ranks, so that they have to travel

  bool is_ring() const { return has_blocks && options.method == nn::AttentionMethod::ring; }
  bool is_gathered() const { return has_blocks && !is_ring(); }
  std::uint64_t hash() const;
  /// Describes it for errors and records.
  std::string text() const;
  /// Returns how it is computed; `between` is called while blocks are under way.
  AttentionSettings settings(const std::function<void()>& between = {}) const;
  /// Returns which keys of a block the queries of a rank see.
  VisibleKeys visible(const DeviceMesh& mesh, const Sections& keys) const;
  /// Returns which of all keys that a rank has before or after a gathering its queries see.
  VisibleKeys visible_of_all(const DeviceMesh& mesh) const;
};

}  // namespace tessera::detail
