// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::detail {

/// Tags on the private duplicate. MPI keeps messages of the same source, tag and communicator in
/// order, and every rank posts in program order: one tag for each use is enough.
inline constexpr int exchange_tag = 1;    ///< tensor data: Exchange
inline constexpr int collective_tag = 2;  ///< collectives over a Group
inline constexpr int group_tag = 3;       ///< MPI_Comm_create_group

}  // namespace tessera::detail
