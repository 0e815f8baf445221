// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/extents/factor.hpp>

namespace tessera {

/// Describes how a redistribution may be done.
struct RedistributeOptions {
  /// Limits the memory of a rank for messages, bytes, besides source and destination. The
  /// intermediate results of a path of several exchanges may take as much again. Data that does not
  /// fit is sent when earlier messages are complete. 0 means 64 MiB and an eighth of the largest
  /// shard. All ranks pass the same value. From Partial to another mesh the reduced shares lie
  /// between the two exchanges, whatever the limit is. Memory for messages comes in huge pages if
  /// it is 64 KiB or more: up to 4 MiB for each use (sending, receiving, contributions,
  /// intermediate results) come on top, for each mesh, bound Redistributor and pending call.
  std::int64_t extra_memory = 0;
  /// Gives up the values of the source: where shapes allow, the result of redistribute() takes the
  /// source's memory (all-reduces, and local pieces that stay as they are). May differ between
  /// ranks.
  bool donate_source = false;
};

/// Describes how redistribute_into() writes: the destination becomes alpha times the tensor plus beta
/// times what it was before.
struct IntoOptions {
  std::int64_t extra_memory = 0;  ///< limit of RedistributeOptions::extra_memory
  /// Multiplies the values of the tensor. For integers it is an integer, for real numbers a real one.
  Factor alpha = 1;
  /// Multiplies what the destination holds, likewise. With 0, the destination is not read.
  Factor beta = 0;
};

}  // namespace tessera
