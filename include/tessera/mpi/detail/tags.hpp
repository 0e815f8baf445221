// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::detail {

/// These tags are used on the private duplicate of the user's communicator. MPI keeps messages of
/// the same source, tag and communicator in order, and every rank posts in program order.
inline constexpr int plain_tag = 1;       ///< messages outside calls that ranks compare
inline constexpr int group_tag = 2;       ///< messages of MPI_Comm_create_group
inline constexpr int control_tag = 3;     ///< messages of Control
inline constexpr int first_data_tag = 8;  ///< lowest tag of calls, see Operation::tag

/// Returns the largest tag that MPI has.
int largest_tag();

}  // namespace tessera::detail
