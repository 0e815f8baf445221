// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::tools {

/// An Entry is a collective call as one process recorded it.
struct Entry {
  std::string mesh;
  std::string function;
  std::string call;  ///< description of the call, with its arguments if they were known
  std::string fingerprint;
  std::string state;  ///< "completed", "failed", "running"
  std::string caller;
  double time = 0;  ///< begin of the call, seconds since 1970
};

/// Holds the calls of one process on one set of processes, by number. A number is that of at most
/// one call, on whichever mesh.
struct CallsOnSet {
  std::map<std::uint64_t, Entry> calls;
  std::uint64_t forgotten = 0;  ///< calls with numbers up to this one may be missing
};

struct Record {
  int process = 0;                                     ///< rank in MPI_COMM_WORLD
  std::map<std::vector<int>, CallsOnSet> by_set = {};  ///< keys: ascending ranks in MPI_COMM_WORLD
};

/// A Side is the processes that made the same call, or all processes that made none.
struct Side {
  std::vector<int> processes;
  std::optional<Entry> entry;
};

/// Describes where the records of a set of processes differ first.
struct Divergence {
  std::vector<int> set;
  std::uint64_t sequence = 0;
  std::vector<Side> sides;  ///< sides with the most processes first
};

/// Describes what a folder of flight records shows.
struct Postmortem {
  std::vector<int> recorded;  ///< processes that left a record
  std::vector<int> missing;   ///< processes that others name and that left no record
  std::optional<Divergence> divergence;
  std::optional<Side> failure;  ///< first call that failed, if no calls differ
};

/// Reads all flight records of a folder that can be read. Errors: IoError if there is none.
std::vector<Record> read_records(const std::filesystem::path& folder);

/// Removes, for each set of processes, the calls up to the last one that began before `time` on any
/// rank. `time` is in seconds since 1970.
std::vector<Record> since(std::vector<Record> records, double time);

Postmortem postmortem(const std::vector<Record>& records);

/// Describes the result in several lines; the first one names the ranks and the call if records
/// differ.
std::string to_string(const Postmortem& result);

}  // namespace tessera::tools
