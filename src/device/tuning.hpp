// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// This file holds the tuned constants of device memory: how much of it the ranks of a node share.
//
// Each docstring says what a constant trades, how it was measured and which benchmark row shows it.
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Most memory of a device that one rank gives to the slots of a communicator, bytes.
///
/// More memory makes longer slots, and so fewer chunks, kernels and flags; it is not available to
/// the user. Among n ranks of a node a slot has 1 / (2 (n - 1)) of it and at most 16 MiB: 16 MiB
/// for 2 ranks, 4.6 MiB for 8 ranks. Not measured on its own; judgement. Shown by:
/// perf_device, row S0->S1 with 4 and more ranks.
inline constexpr std::int64_t device_memory_for_slots = 64 << 20;

/// Host memory that takes the place of a device's in builds without a device, per rank, bytes.
///
/// It serves tests only (TESSERA_DEVICE_PATH=ipc_all). A small value lets small tensors travel in
/// several chunks; it must hold 14 slots, those of 8 ranks. Not measured on its own; judgement.
/// Shown by: no row.
inline constexpr std::int64_t host_memory_for_slots = 4 << 20;

}  // namespace tessera::detail
