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

/// A collective call as one process recorded it.
struct Entry {
  std::string mesh;
  std::string function;
  std::string call;  ///< with its arguments, where they were known
  std::string fingerprint;
  std::string state;  ///< "completed", "failed", "running"
  std::string caller;
  double time = 0;  ///< of its begin, seconds since 1970
};

/// The calls of one process on one set of processes, by number. Of two calls with one number, on
/// whichever mesh, at most one is made.
struct CallsOnSet {
  std::map<std::uint64_t, Entry> calls;
  std::uint64_t forgotten = 0;  ///< numbers up to this one may be missing
};

struct Record {
  int process = 0;                                     ///< rank in MPI_COMM_WORLD
  std::map<std::vector<int>, CallsOnSet> by_set = {};  ///< ascending ranks in MPI_COMM_WORLD
};

/// Processes that made the same call, or all that made none.
struct Side {
  std::vector<int> processes;
  std::optional<Entry> entry;
};

/// Where the records of a set of processes differ first.
struct Divergence {
  std::vector<int> set;
  std::uint64_t sequence = 0;
  std::vector<Side> sides;  ///< those of the most processes first
};

/// What a folder of flight records shows.
struct Postmortem {
  std::vector<int> recorded;  ///< processes
  std::vector<int> missing;   ///< processes that others name and that left no record
  std::optional<Divergence> divergence;
  std::optional<Side> failure;  ///< the first call that failed, where none differs
};

/// Those that can be read. Errors: IoError where there is none.
std::vector<Record> read_records(const std::filesystem::path& folder);

/// Without the calls that began before `time`, in seconds since 1970, on whichever rank.
std::vector<Record> since(std::vector<Record> records, double time);

Postmortem postmortem(const std::vector<Record>& records);

/// Several lines; the first names the ranks and the call.
std::string to_string(const Postmortem& result);

}  // namespace tessera::tools
