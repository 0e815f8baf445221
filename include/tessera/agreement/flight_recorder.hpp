// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace tessera {

/// The last collective calls of this process, 256 on each group of ranks, and those that it is in:
/// as JSON. Each with its number, which equal calls have in common on all ranks, name, arguments
/// where the ranks have compared them, fingerprint, state, time, bytes, and the code that called.
///
/// Local: on the thread that makes the calls, between MPI_Init and MPI_Finalize. Always recorded.
/// `tessera postmortem` compares the records of all ranks and names the first call in which they
/// differ.
std::string flight_record();

/// Writes the record to the file `tessera-flight-R.json` in `folder`, R being the rank in
/// MPI_COMM_WORLD; makes the folder if need be. Local. Where the environment variable
/// TESSERA_FLIGHT_RECORDER names a folder, this also happens by itself on every rank on which a
/// collective call throws that is in no other one.
///
/// Errors: IoError on this rank.
void dump_flight_record(const std::filesystem::path& folder);

}  // namespace tessera
