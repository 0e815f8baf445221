// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>

#include <tessera/mesh/device_mesh.hpp>
#include <tessera/ops/rule.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

#include "ops/choose.hpp"

namespace tessera::detail {

/// Returns the placements of a product of two matrices that are split along two mesh dims p and q: along p
/// the rows of both, along q the columns of both. The result is split alike. None for other operands.
std::optional<Choice> summa_choice(const OperatorCall& call);

/// Multiplies matrices by SUMMA: each rank gets, panel by panel, what it needs of the rows of the first
/// matrix and of the columns of the second one, and adds the products. While one panel is multiplied, the
/// next one is under way.
///
/// A panel is some of the indices that are summed up. Ranks get what they need of it from whoever owns
/// it, so that the sharding rules of both matrices need not agree.
class Summa {
 public:
  Summa(DTensorSpec a, DTensorSpec b, ElementType type);
  ~Summa();
  Summa(const Summa&) = delete;
  Summa& operator=(const Summa&) = delete;

  /// Computes result = a b, in a call that the ranks have agreed on. Plans the panels at the first call.
  /// Collective over the mesh.
  void run(const Execution& execution, const DeviceMesh& mesh, const ArrayRef& a, const ArrayRef& b,
           const ArrayRef& result);

 private:
  class Panels;
  Panels& panels(const DeviceMesh& mesh, MemorySpace space);

  DTensorSpec a_, b_;
  ElementType type_;
  std::array<std::unique_ptr<Panels>, 2> panels_;  ///< those in host memory, those in device memory
};

}  // namespace tessera::detail
