// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::detail {

/// Tags on the private duplicate. MPI keeps messages of the same source, tag and communicator in
/// order, and every rank posts in program order.
inline constexpr int plain_tag = 1;       ///< outside of any call that ranks compare
inline constexpr int group_tag = 2;       ///< MPI_Comm_create_group
inline constexpr int control_tag = 3;     ///< Control
inline constexpr int first_data_tag = 8;  ///< from here on: one for each call, see Operation::tag

}  // namespace tessera::detail
