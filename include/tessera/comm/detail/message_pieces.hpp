// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tessera/comm/communicator.hpp>

namespace tessera::detail {

/// MPI sends short messages at once, longer ones after a word with the receiver, and between the two
/// there may be lengths where several short ones take less time: on one machine MPICH over UCX takes
/// 3 µs for 16 KiB and 2 for two times 8 KiB. So long are the short ones.
inline constexpr std::int64_t message_piece_bytes = 8 << 10;

/// Fills in up to what length the messages of a communicator go in pieces: what
/// TESSERA_MESSAGE_PIECES says, else what takes less time now, the same on all ranks. Measures
/// nothing where all travels through the window, ranks share cores, or messages may lie in device
/// memory. Collective over the duplicate.
///
/// Errors: InvalidArgument for what is no number of bytes up to 65536, on every rank.
void learn_pieces(const Communicator& communicator);

}  // namespace tessera::detail
