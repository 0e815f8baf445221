// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include <tessera/debug/detail/regions.hpp>
#include <tessera/mpi/trace.hpp>

namespace tessera {

class DeviceMesh;

/// A CommRecord is one communication that CommDebugMode has seen, as this rank took part in it.
struct CommRecord {
  TraceKind kind;
  std::string operation;            ///< "redistribute", "all_reduce", …
  std::string call;                 ///< the call that it belongs to, with its arguments; "" if none
  std::string mesh;                 ///< mesh of that call: "(dp=2, tp=4)"
  std::vector<std::string> region;  ///< Kokkos regions and named local_maps, outermost first
  int group_size = 0;               ///< ranks that take part
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::int64_t bytes_packed = 0;  ///< sent bytes that were copied to a buffer or window first
  std::int64_t messages_sent = 0;
  std::int64_t messages_received = 0;
  double start = 0;       ///< seconds since the mode began
  double seconds = 0;     ///< duration from start to completion
  std::string transport;  ///< "window", "messages", "window and messages", "none"
};

/// Counts what this thread communicates while the mode lives, by region. It is PyTorch's
/// CommDebugMode, with bytes and times. Modes nest: each sees all communication while it lives.
///
/// Example:
///   CommDebugMode mode;
///   auto columns = redistribute(x, {Shard(1)});
///   mode.get_total_counts();                 // 1
///   std::cout << mode.table(1);              // what moved, in which region
/// All members are local, except write_chrome_trace.
class CommDebugMode {
 public:
  /// Begins to record the communication of this thread.
  CommDebugMode();
  CommDebugMode(const CommDebugMode&) = delete;
  CommDebugMode& operator=(const CommDebugMode&) = delete;

  /// Returns the number of communications that moved tensor data: steps of plans and functional
  /// collectives.
  std::int64_t get_total_counts() const;
  /// Returns the number of communications of each kind: "redistribute", "collective" (functional),
  /// "agreement", "metadata", "io".
  std::map<std::string, std::int64_t> get_comm_counts() const;
  /// Returns the calls that moved data, with their specs, in order, by region ("solver/gemm"; ""
  /// outside of regions).
  std::map<std::string, std::vector<std::string>> get_sharding_info() const;
  /// Returns all communications that the mode has seen, in the order of completion.
  const std::vector<CommRecord>& records() const { return records_; }

  /// Returns a tree of regions. Noise level 0 shows how many data movements each has, by transport;
  /// 1 adds bytes and time; 2 adds agreement, metadata and io; 3 shows every communication with its
  /// call. Errors: InvalidArgument for another level.
  std::string table(int noise_level = 0) const;
  /// Writes table(noise_level) to a stream and flushes it. Errors: InvalidArgument.
  void write_table(std::ostream& out, int noise_level = 0) const;
  /// Writes table(noise_level) to a file, whose previous content is lost.
  /// Errors: InvalidArgument; IoError if the file cannot be written.
  void write_table(const std::filesystem::path& file, int noise_level = 0) const;

  /// Returns all records and the counts as JSON.
  std::string json() const;
  /// Writes json() to a file, whose previous content is lost. Errors: IoError if it cannot be
  /// written.
  void write_json(const std::filesystem::path& file) const;

  /// Writes what all ranks of `mesh` have recorded to one file for chrome://tracing and Perfetto:
  /// one row per rank, with the regions around communications. Times are those of each node's
  /// clock.
  ///
  /// Collective over the mesh; mesh rank 0 writes the file. Errors: IoError on every rank.
  void write_chrome_trace(const DeviceMesh& mesh, const std::filesystem::path& file) const;

 private:
  void add(const TraceEvent& event);

  double begin_;        // detail::seconds()
  double begin_epoch_;  // seconds since 1970 at the same time
  detail::RegionWatch regions_;
  std::vector<CommRecord> records_;
  TraceScope scope_;
};

}  // namespace tessera
